// The run loop: the work before and after each instruction.
#include "programs/lab/arm/arm_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/noted_signal.hpp"

namespace tally::lab::arm {
namespace {

using pmu::system_register;

LabArm& of(void* machine) { return *static_cast<LabArm*>(machine); }

}  // namespace

// X29 and X30 are not next to the others in the emulator's list.
int general_id(unsigned number) {
  if (number == 30) return UC_ARM64_REG_X30;
  return number == 29 ? static_cast<int>(UC_ARM64_REG_X29) : static_cast<int>(UC_ARM64_REG_X0 + number);
}

LabArm::LabArm(const Image& image, const Settings& settings, Listener listener)
    : image_(image),
      settings_(settings),
      listener_(std::move(listener)),
      core_(make_core(*settings.profile, settings.strict)),
      tags_(settings.cache_bytes) {}

LabArm::~LabArm() {
  if (kernel_) uc_context_free(kernel_);
  if (uc_) uc_close(uc_);
}

Result<std::unique_ptr<LabArm>> LabArm::make(const Image& image, const Settings& settings, Listener listener) {
  std::unique_ptr<LabArm> machine(new LabArm(image, settings, std::move(listener)));
  const auto started = machine->start();
  if (!started) return fail(started.error());
  return machine;
}

Result<bool> LabArm::start() {
  if (const uc_err error = uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &uc_); error != UC_ERR_OK) {
    return fail(Code::cannot_measure, fmt::format("cannot start the emulator: {}", uc_strerror(error)), "");
  }
  // The default is a Cortex-A57, which has no atomic instructions (LSE).
  uc_ctl_set_cpu_model(uc_, UC_CPU_ARM64_MAX);
  // The emulator requires whole pages.
  constexpr std::uint64_t page = 4096;
  memory_.resize(layout::memory_size + page);
  void* begin = memory_.data();
  std::size_t room = memory_.size();
  words_ = static_cast<std::uint32_t*>(std::align(page, layout::memory_size, begin, room));
  uc_mem_map_ptr(uc_, 0, layout::memory_size, UC_PROT_ALL, words_);
  uc_mmio_map(uc_, layout::serial, layout::device_size, on_serial_read, this, on_serial_write, this);
  uc_mmio_map(uc_, layout::exit, layout::device_size, on_exit_read, this, on_exit_write, this);
  for (const MemoryBlock& part : image_.memory_blocks) {
    if (part.address > layout::memory_size || part.bytes.size() > layout::memory_size - part.address) {
      return fail(Code::bad_usage,
                  fmt::format("'{}' does not fit: {} bytes at {:X}H, and the machine has 16 MiB", image_.name,
                              part.bytes.size(), part.address),
                  "link it at 100000H, as by ld -Ttext=0x100000; programs of an operating system do not run here");
    }
    uc_mem_write(uc_, part.address, part.bytes.data(), part.bytes.size());
  }
  uc_context_alloc(uc_, &kernel_);
  // HCR_EL2.RW and SCR_EL3.RW declare EL1 as 64-bit; otherwise ERET to EL1 would be illegal.
  set_system(system_register(3, 4, 1, 1, 0), 1ULL << 31);
  set_system(system_register(3, 6, 1, 1, 0), 1ULL << 10 | 1);
  // Permits vector registers at both levels (CPACR_EL1.FPEN).
  set(UC_ARM64_REG_CPACR_EL1, 3ULL << 20);
  uc_hook hook;
  const auto add = [&](int type, auto* function) {
    uc_hook_add(uc_, &hook, type, reinterpret_cast<void*>(function), this, 1, 0);
  };
  add(UC_HOOK_CODE, on_code);
  add(UC_HOOK_INTR, on_interrupt);
  add(UC_HOOK_INSN_INVALID, on_invalid);
  add(UC_HOOK_MEM_UNMAPPED, on_hole);
  add(UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, on_access);
  set(UC_ARM64_REG_SP, layout::stack);
  set(UC_ARM64_REG_SP_EL0, layout::user_stack);
  set(UC_ARM64_REG_X30, layout::leave);
  set(UC_ARM64_REG_PC, image_.entry);
  // Programs that were not written for the lab may search for a device tree.
  if (image_.lines.empty()) set(UC_ARM64_REG_X0, layout::device_tree);
  last_registers_ = registers();
  return true;
}

std::uint64_t LabArm::get(int reg) const {
  std::uint64_t value = 0;
  uc_reg_read(uc_, reg, &value);
  return value;
}

void LabArm::set(int reg, std::uint64_t value) { uc_reg_write(uc_, reg, &value); }

std::uint64_t LabArm::general(unsigned number) const {
  if (number == 31) return 0;
  return get(general_id(number));
}

void LabArm::set_system(std::uint64_t number, std::uint64_t value) {
  uc_arm64_cp_reg reg{static_cast<std::uint32_t>(number >> 7 & 15), static_cast<std::uint32_t>(number >> 3 & 15),
                      static_cast<std::uint32_t>(number >> 14),     static_cast<std::uint32_t>(number >> 11 & 7),
                      static_cast<std::uint32_t>(number & 7),       value};
  uc_reg_write(uc_, UC_ARM64_REG_CP_REG, &reg);
}

std::vector<std::pair<std::string, std::uint64_t>> LabArm::registers() const {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (unsigned i = 0; i < 31; ++i) all.emplace_back(fmt::format("X{}", i), general(i));
  all.emplace_back("SP", get(UC_ARM64_REG_SP));
  all.emplace_back("PC", at_);
  all.emplace_back("PSTATE", get(UC_ARM64_REG_PSTATE));
  return all;
}

std::string LabArm::instruction_text(std::uint64_t address) const {
  if (const auto found = image_.texts.find(address); found != image_.texts.end()) return found->second;
  std::uint32_t word = 0;
  uc_mem_read(uc_, address, &word, sizeof word);
  return fmt::format(".inst {:#010x}", word);
}

Entry LabArm::entry(Entry::Kind kind) const {
  Entry entry;
  entry.kind = kind;
  entry.address = at_;
  entry.instruction = instructions_;
  entry.cpl = level_;
  return entry;
}

// A decoded instruction is stored with its word, because a program may change its code.
const Instruction& LabArm::decoded(std::uint64_t address) {
  const std::uint32_t word = address < layout::memory_size ? words_[address / 4] : 0;
  Instruction& instruction = seen_[address / 4 % seen_.size()];
  if (instruction.word != word || instruction.address != address) instruction = decode(word, address);
  return instruction;
}

void LabArm::end(End::Reason reason, std::uint64_t address, std::string message, std::string hint) {
  if (!end_) end_ = End{reason, address, 0, std::move(message), std::move(hint)};
  uc_emu_stop(uc_);
}

End LabArm::run() {
  end_.reset();
  while (!end_) {
    const uc_err error = uc_emu_start(uc_, get(UC_ARM64_REG_PC), ~0ULL, 0, 0);
    if (end_) break;
    if (fault_) {
      const std::string why = *fault_;
      fault_.reset();
      enter(Exception::synchronous, at_, 1U << 25, why);
    } else if (error != UC_ERR_OK) {
      end(End::Reason::fault, at_,
          fmt::format("the emulator stopped at {}: {}", image_.place(at_), uc_strerror(error)));
    }
  }
  flush_output();
  return *end_;
}

void LabArm::on_code(uc_engine*, std::uint64_t address, std::uint32_t, void* machine) { of(machine).before(address); }

// Called before each instruction: retires the previous one, delivers interrupts, and executes some instructions itself.
void LabArm::before(std::uint64_t address) {
  if (end_) {
    uc_emu_stop(uc_);
    return;
  }
  finish(address);
  if (address == layout::leave) {
    end(End::Reason::returned, at_, "the program returned");
    return;
  }
  if (interrupted(address)) return;
  at_ = address;
  recent_[instructions_ % recent_.size()] = address;
  if (linux::noted_signal() != 0) {
    end_ = stopped_by_signal(address);
    uc_emu_stop(uc_);
    return;
  }
  if (instructions_ >= settings_.max_instructions) {
    end_ = limit_reached(address);
    uc_emu_stop(uc_);
    return;
  }
  const Instruction& instruction = decoded(address);
  check_surroundings(instruction);
  tags_.clear_counts();
  if (!intercept(instruction)) running_ = instruction;
}

void LabArm::check_surroundings(const Instruction& instruction) {
  const auto& stops = settings_.breakpoints;
  if (std::find(stops.begin(), stops.end(), instruction.address) != stops.end()) note(entry(Entry::Kind::breakpoint));
  if (!settings_.steps) return;
  Entry step = entry(Entry::Kind::step);
  step.text = instruction_text(instruction.address);
  if (settings_.step_registers) {
    const auto now = registers();
    for (std::size_t i = 0; i < now.size() && i < last_registers_.size(); ++i) {
      if (now[i].second != last_registers_[i].second && now[i].first != "PC") step.changed.push_back(now[i]);
    }
    last_registers_ = now;
  }
  for (const CounterState& one : core_->counters()) {
    if (one.runs || (one.is_known && one.value != 0)) step.counters.emplace_back(one.name, one.value);
  }
  note(step);
}

// Retires the instruction that the emulator executed. `next`: the address of the next one.
void LabArm::finish(std::uint64_t next) {
  if (!running_) return;
  const Instruction done = *running_;
  running_.reset();
  retire(done, next);
  if (done.kind != Kind::exception_return) return;
  level_ = static_cast<int>(get(UC_ARM64_REG_PSTATE) >> 2 & 3);
  note(entry(Entry::Kind::leave));
}

void LabArm::retire(const Instruction& instruction, std::uint64_t next) {
  RetiredInstruction done;
  done.cycles = instruction.cycles;
  done.accesses = tags_.references();
  done.misses = tags_.misses();
  done.is_branch = instruction.is_branch;
  done.is_conditional = instruction.is_conditional;
  done.is_call = instruction.is_call;
  done.is_return = instruction.is_return;
  done.is_indirect = instruction.is_indirect;
  // The target of a branch can be the next instruction, so the next address does not show whether it was taken. The
  // branch does not change what it tests.
  done.is_taken = instruction.is_branch;
  if (instruction.is_conditional) {
    done.is_taken =
        instruction.is_taken(instruction.tests_register() ? general(instruction.general()) : get(UC_ARM64_REG_PSTATE));
  }
  done.is_load = instruction.is_load;
  done.is_store = instruction.is_store;
  done.is_vector = instruction.is_vector;
  done.is_integer = instruction.is_integer;
  done.is_barrier = instruction.is_barrier;
  if (instruction.is_conditional) {
    // Two bits for each branch, as in the declared model: 2 and 3 predict taken.
    std::uint8_t& state = directions_[instruction.address];
    done.is_mispredicted = (state >= 2) != done.is_taken;
    if (done.is_taken && state < 3) ++state;
    if (!done.is_taken && state > 0) --state;
  }
  if (instruction.is_indirect && !instruction.is_return && instruction.kind == Kind::plain) {
    // Predicted to go where it went last. Returns are predicted correctly.
    std::uint64_t& last = targets_[instruction.address];
    done.is_mispredicted = last != next;
    last = next;
  }
  done.is_failed_exclusive = instruction.is_store_exclusive && general(instruction.status()) != 0;
  done.is_atomic = instruction.is_atomic || (instruction.is_store_exclusive && !done.is_failed_exclusive);
  const std::uint64_t before = core_->overflows();
  core_->retire(done, level_);
  ++instructions_;
  cycles_ += done.cycles;
  report_overflows(before);
}

// Reports an overflow and the interrupt that it requests.
void LabArm::report_overflows(std::uint64_t before) {
  const std::uint64_t now = core_->overflows();
  for (int bit = 0; now != before && bit < 32; ++bit) {
    if ((now & ~before) >> bit & 1) {
      Entry overflow = entry(Entry::Kind::overflow);
      overflow.text = core_->counter_name(bit);
      note(overflow);
    }
  }
  const Line line = core_->line();
  if ((line != Line::none) == line_was_up_) return;
  line_was_up_ = line != Line::none;
  if (!line_was_up_) return;
  Entry asked = entry(Entry::Kind::pmi);
  const char* const name = line == Line::irq ? "IRQ" : "FIQ";
  asked.value = 1;
  asked.text = masks(line) ? fmt::format("as an {}: it waits, for PSTATE.{} is 1", name, *name)
                           : fmt::format("as an {}: on its way", name);
  note(asked);
}

bool LabArm::interrupted(std::uint64_t address) {
  const Line line = core_->line();
  if (line == Line::none || masks(line)) return false;
  enter(line == Line::irq ? Exception::irq : Exception::fiq, address, 0, "an interrupt of the performance counters");
  return true;
}

End LabArm::limit_reached(std::uint64_t address) const {
  return no_end_in_sight(instructions_, address, recent_, image_, "WFI");
}

}  // namespace tally::lab::arm
