// Events of the emulator other than instructions (exceptions, accesses to unmapped memory, accesses), and the location
// of a run that does not end.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "programs/lab/layout.hpp"
#include "programs/lab/x86_machine.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab {
namespace {

using pmu::emulated::Signal;

}  // namespace

void LabX86::on_interrupt(uc_engine* uc, std::uint32_t vector, void* machine) {
  LabX86& self = machine_of(machine);
  if (self.end_ || self.arrival_) {
    uc_emu_stop(uc);
    return;
  }
  Arrival arrival;
  arrival.vector = static_cast<int>(vector);
  if (self.running_ && self.running_->kind == Kind::software_interrupt) {
    arrival.back = self.running_->address + self.running_->length;
    arrival.why = fmt::format("INT {:X}H", vector);
    arrival.is_software = true;
    arrival.from = self.running_->address;
  } else {
    self.restarts_ = arrival.is_emulated = true;
    self.note_completed(arrival.vector);
    arrival.back = self.at_;
    arrival.error = self.error_code(arrival.vector);
    self.running_.reset();  // it does not retire
  }
  self.arrive(arrival);
}

// The instruction before the exception retired if that is a trap, or a fault of the fetch of the next instruction.
void LabX86::note_completed(int vector) {
  constexpr std::uint64_t single_step = 1U << 14;  // DR6.BS
  constexpr std::uint64_t longest = 15;            // bytes of an instruction
  const std::uint64_t next = get(UC_X86_REG_RIP) + code_base_;
  const bool is_fetch = vector == 14 && next != at_ && get(UC_X86_REG_CR2) - next < longest;
  const bool is_trap = vector == 1 && ((get(UC_X86_REG_DR6) & single_step) != 0 || next != at_);
  if (!is_fetch && !is_trap) return;
  const bool is_iteration = running_ && running_->repeats && next == at_;
  if (!is_iteration) {
    finish();
    store_record(next);
  }
  at_ = next;
}

// Returns the error code of an exception that pushes one. The emulator does not report it. Source: Intel SDM vol. 3A,
// "Page-Fault Exceptions". Those of selectors are 0 here.
std::optional<std::uint32_t> LabX86::error_code(int vector) {
  static const std::set<int> with_error = {8, 10, 11, 12, 13, 14, 17};
  if (!with_error.contains(vector)) return std::nullopt;
  if (vector != 14) return 0;
  const std::uint64_t address = get(UC_X86_REG_CR2);
  const bool is_fetch = !running_;
  const auto is_near = [&](int pointer) { return address - (get(pointer) - 16) < 32; };
  // Of an instruction that loads and stores at different addresses, the store is at RSP or RDI.
  const bool is_store =
      !is_fetch && running_->stores != 0 &&
      (running_->loads == 0 || running_->modifies || is_near(UC_X86_REG_RSP) || is_near(UC_X86_REG_RDI));
  std::uint32_t code = physical(address) ? 1 : 0;
  if (is_store) code |= 2;
  if (cpl_ > 0) code |= 4;
  constexpr std::uint64_t smep = 1U << 20;  // CR4.SMEP
  if (is_fetch && (get(UC_X86_REG_CR4) & smep) != 0) code |= 16;
  return code;
}

bool LabX86::on_invalid(uc_engine* uc, void* machine) {
  machine_of(machine).note_invalid();
  // Returning true ends the run in Unicorn 2.0.1; run() continues it.
  uc_emu_stop(uc);
  return true;
}

void LabX86::note_invalid() {
  running_.reset();
  fault_ = Arrival{6, std::nullopt, at_, "these bytes are not an instruction of the emulated processor"};
}

bool LabX86::on_hole(uc_engine*, uc_mem_type type, std::uint64_t address, int, std::int64_t, void* machine) {
  LabX86& self = machine_of(machine);
  if (self.reveal(address)) return true;
  const std::string_view what = type == UC_MEM_FETCH_UNMAPPED   ? "fetches an instruction from"
                                : type == UC_MEM_WRITE_UNMAPPED ? "writes to"
                                                                : "reads from";
  const std::uint64_t stack = self.get(UC_X86_REG_RSP);
  const bool is_stack = address >= stack - 64 && address < stack + 64;
  std::string hint =
      fmt::format("memory is 0 to {:X}H, and the local APIC at FEE00000H to FEE00FFFH", self.memory_size() - 1);
  if (is_stack) {
    hint = fmt::format("the stack pointer is {:X}H, where there is no memory: set it to {:X}H, or do not change it",
                       stack, layout::stack);
  } else if (type == UC_MEM_FETCH_UNMAPPED) {
    hint = "a jump, call or return has a wrong target: perhaps the stack is not balanced at a RET";
  }
  self.running_.reset();
  self.end(End::Reason::hole, self.at_,
           fmt::format("{} {} {:X}H, which is not mapped{}", self.image_.place(self.at_), what, address,
                       is_stack ? ": the stack is outside of memory" : ""),
           hint);
  return false;
}

void LabX86::on_access(uc_engine*, uc_mem_type type, std::uint64_t address, int size, std::int64_t, void* machine) {
  LabX86& self = machine_of(machine);
  (type == UC_MEM_WRITE ? self.stored_ : self.loaded_) = address;
  if (type == UC_MEM_WRITE) {
    if (const auto place = self.memory_place(address)) self.written(*place, static_cast<std::uint64_t>(size));
  }
  if (!self.pmu_.counts(Signal::llc_references, self.cpl_) && !self.pmu_.counts(Signal::llc_misses, self.cpl_)) return;
  self.tags_.access(address);
}

End LabX86::limit_reached(std::uint64_t address) const {
  return no_end_in_sight(instructions_, address, recent_, image_, "HLT");
}

}  // namespace tally::lab
