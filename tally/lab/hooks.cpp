// What the emulator reports beside instructions: exceptions, memory that is not there, accesses. And where a run that
// does not end is.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tally/base/text.hpp"
#include "tally/lab/layout.hpp"
#include "tally/lab/machine.hpp"

namespace tally::lab {
namespace {

using pmu::emulated::Signal;

Machine& of(void* machine) { return *static_cast<Machine*>(machine); }

}  // namespace

void Machine::on_interrupt(uc_engine*, std::uint32_t vector, void* machine) {
  Machine& self = of(machine);
  const bool is_software = self.running_ && self.running_->kind == Kind::software_interrupt;
  Arrival arrival;
  arrival.vector = static_cast<int>(vector);
  if (is_software) {
    arrival.back = self.running_->address + self.running_->length;
    arrival.why = fmt::format("INT {:X}H", vector);
    arrival.is_software = true;
    arrival.from = self.running_->address;
    // One that its gate refuses does not retire.
    if (self.cpl_ <= self.gate_of(arrival.vector).level) self.finish(arrival.back + 1);  // it leaves for another place
    self.running_.reset();
  } else {
    self.running_.reset();  // it does not retire
    arrival.back = self.at_;
    // Those that push an error code; the emulator does not tell which, so it is 0.
    static const std::set<std::uint32_t> with_error = {8, 10, 11, 12, 13, 14, 17};
    if (with_error.contains(vector)) arrival.error = 0;
  }
  self.arrive(arrival);
}

bool Machine::on_invalid(uc_engine* uc, void* machine) {
  Machine& self = of(machine);
  self.running_.reset();
  self.fault_ = Arrival{6, std::nullopt, self.at_, "these bytes are no instruction that the emulated processor has"};
  // Returning true ends the run in Unicorn 2.0.1: it goes on from run().
  uc_emu_stop(uc);
  return true;
}

bool Machine::on_hole(uc_engine*, uc_mem_type type, std::uint64_t address, int, std::int64_t, void* machine) {
  Machine& self = of(machine);
  if (self.reveal(address)) return true;
  const std::string_view what = type == UC_MEM_FETCH_UNMAPPED   ? "fetches an instruction from"
                                : type == UC_MEM_WRITE_UNMAPPED ? "writes to"
                                                                : "reads from";
  const std::uint64_t stack = self.get(UC_X86_REG_RSP);
  const bool is_stack = address >= stack - 64 && address < stack + 64;
  std::string hint =
      fmt::format("memory is 0 to {:X}H, and the local APIC at FEE00000H to FEE00FFFH", self.memory_size() - 1);
  if (is_stack) {
    hint = fmt::format("the stack pointer is {:X}H, and there is no memory: set it to {:X}H, or leave it alone", stack,
                       layout::stack);
  } else if (type == UC_MEM_FETCH_UNMAPPED) {
    hint = "a jump, call or return went astray: a RET with a stack that is not balanced does that";
  }
  self.running_.reset();
  self.end(End::Reason::hole, self.at_,
           fmt::format("{} {} {:X}H, where nothing is{}", self.image_.place(self.at_), what, address,
                       is_stack ? ": the stack lies in the hole" : ""),
           hint);
  return false;
}

// A line-tag cache, direct-mapped: a line that is not there is a miss, every access is a reference. It sees them while
// a counter does, so that whole blocks need not be looked into else.
void Machine::on_access(uc_engine*, uc_mem_type type, std::uint64_t address, int size, std::int64_t, void* machine) {
  Machine& self = of(machine);
  if (type == UC_MEM_WRITE) self.written(address, size);
  if (!self.pmu_.counts(Signal::llc_references, self.cpl_) && !self.pmu_.counts(Signal::llc_misses, self.cpl_)) return;
  const std::uint64_t line = address >> 6;
  std::uint64_t& tag = self.tags_[line % self.tags_.size()];
  ++self.references_;
  if (tag == line) return;
  tag = line;
  ++self.misses_;
}

End Machine::limit_reached(std::uint64_t address) const {
  std::set<std::uint64_t> loop(recent_.begin(), recent_.end());
  std::vector<std::string> places;
  for (const std::uint64_t at : loop) {
    std::string where = image_.place(at);
    if (std::find(places.begin(), places.end(), where) == places.end()) places.push_back(where);
  }
  if (places.size() > 6) places.resize(6);
  End end;
  end.reason = End::Reason::limit;
  end.address = address;
  end.message = fmt::format("{} instructions were executed and no end is in sight; the last ones at {}",
                            thousands(static_cast<std::int64_t>(instructions_)), join(places, ", "));
  end.hint = "is it an endless loop? --max-instructions N allows more; HLT ends a program";
  return end;
}

}  // namespace tally::lab
