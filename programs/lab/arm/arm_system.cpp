// The instructions that the lab executes itself (MRS and MSR of the PMU's registers), exceptions, the serial port and
// the end.
#include <fmt/format.h>

#include "programs/lab/arm/arm_machine.hpp"
#include "programs/register/pmu/codec.hpp"

namespace tally::lab::arm {
namespace {

using pmu::system_register;
using pmu::emulated::Answer;

constexpr std::uint64_t link_register = system_register(3, 0, 4, 0, 1);  // ELR_EL1
constexpr std::uint64_t saved_state = system_register(3, 0, 4, 0, 0);    // SPSR_EL1
constexpr std::uint64_t syndrome_register = system_register(3, 0, 5, 2, 0);
constexpr std::uint64_t debug_features = system_register(3, 0, 0, 5, 0);
constexpr std::uint64_t physical_count = system_register(3, 3, 14, 0, 1);
constexpr std::uint64_t virtual_count = system_register(3, 3, 14, 0, 2);

// The interrupt controller's registers that a handler uses. The lab has no controller: the counters' interrupt line is
// connected to the core, with the number of QEMU's machine virt.
constexpr std::uint64_t acknowledge = system_register(3, 0, 12, 12, 0);  // ICC_IAR1_EL1
constexpr std::uint64_t priority_mask = system_register(3, 0, 4, 6, 0);  // ICC_PMR_EL1
constexpr std::uint64_t monitors_interrupt = 23;
constexpr std::uint64_t spurious_interrupt = 1023;

constexpr std::uint64_t irq_mask = 1 << 7;
constexpr std::uint64_t fiq_mask = 1 << 6;
constexpr std::uint64_t handler_state = 0x3C5;  // EL1 with its own stack, all masked

unsigned part(std::uint64_t number, int shift, unsigned mask) { return static_cast<unsigned>(number >> shift) & mask; }

// Whether the register belongs to the PMU of some core: PMUv3's registers, and the implementation-defined ones.
bool is_of_pmu(std::uint64_t number) {
  const unsigned op0 = part(number, 14, 3), op1 = part(number, 11, 7), n = part(number, 7, 15), m = part(number, 3, 15);
  if (op0 != 3) return false;
  if (n == 15 || n == 11) return true;
  if (n == 9 && m >= 12 && m <= 14) return op1 == 3 || op1 == 0;
  return n == 14 && m >= 8 && op1 == 3;
}

bool is_of_controller(std::uint64_t number) {
  const unsigned n = part(number, 7, 15), m = part(number, 3, 15);
  return number == priority_mask || (part(number, 11, 31) == 0b11000 && n == 12 && m >= 8);
}

}  // namespace

bool LabArm::masks(Line line) const {
  const std::uint64_t state = get(UC_ARM64_REG_PSTATE);
  return line == Line::irq ? (state & irq_mask) != 0 : (state & fiq_mask) != 0;
}

// Executes the instruction if the lab handles it. Returns whether it did.
bool LabArm::intercept(const Instruction& instruction) {
  const std::uint64_t next = instruction.address + 4;
  switch (instruction.kind) {
    case Kind::system_register: return access(instruction);
    case Kind::supervisor_call: {
      retire(instruction);
      const std::uint32_t number = instruction.word >> 5 & 0xFFFF;
      constexpr std::uint32_t from_supervisor_call = 0x15U << 26 | 1U << 25;
      enter(Exception::synchronous, next, from_supervisor_call | number, fmt::format("SVC #{}", number));
      return true;
    }
    case Kind::wait: wait(instruction); return true;
    case Kind::hint_wait:
      retire(instruction);
      set(UC_ARM64_REG_PC, next);
      return true;
    case Kind::barrier: core_->synchronize(); return false;
    case Kind::exception_return: uc_context_save(uc_, kernel_); return false;
    default: return false;
  }
}

std::optional<std::uint64_t> LabArm::other_register(std::uint64_t number) const {
  if (number == acknowledge) return core_->line() == Line::irq ? monitors_interrupt : spurious_interrupt;
  if (number == physical_count || number == virtual_count) return cycles_;
  if (number == debug_features) {
    constexpr std::uint64_t not_pmuv3 = 0xF;
    const bool is_arm = core_->profile().model == &pmu::arm_model;
    const std::uint64_t version = is_arm ? static_cast<std::uint64_t>(core_->profile().version) : not_pmuv3;
    return 0x1030'5006 | version << 8;
  }
  if (is_of_controller(number)) return 0;
  return std::nullopt;
}

bool LabArm::access(const Instruction& instruction) {
  const std::uint64_t number = instruction.system_number();
  const std::uint64_t next = instruction.address + 4;
  Answer answer;
  if (!is_of_pmu(number)) {
    const auto value = other_register(number);
    if (!value) return false;  // the emulator executes it
    answer.value = *value;
    retire(instruction);
  } else if (instruction.reads()) {
    answer = core_->read(number, level_);
    const bool is_count = core_->is_counter(number);
    Entry read = entry(is_count ? Entry::Kind::rdpmc : Entry::Kind::read);
    read.number = static_cast<std::uint32_t>(number);
    read.value = answer.value;
    read.text = answer.fault.value_or("");
    if (is_count || settings_.reads) note(read);
    if (answer) retire(instruction);
  } else {
    // It retires under the settings before the write.
    const std::uint64_t value = general(instruction.general());
    const bool exists = core_->place_of(number).has_value();
    const bool is_allowed = exists && (level_ > 0 || core_->read(number, 0));
    if (is_allowed) retire(instruction);
    const std::uint64_t before = core_->overflows();
    answer = core_->write(number, value, level_);
    Entry write = entry(Entry::Kind::write);
    write.number = static_cast<std::uint32_t>(number);
    write.value = value;
    write.text = answer.fault.value_or("");
    if (answer) {
      write.kept = core_->read(number, 1).value;
      if (!is_allowed) retire(instruction);  // write-only at EL0
      write.remarks = pmu::check({*core_->place_of(number), value, core_->profile().version});
    }
    note(write);
    if (answer) report_overflows(before);
  }
  if (!answer) {
    refuse(instruction, *answer.fault, level_ == 0 && core_->place_of(number).has_value());
    return true;
  }
  if (instruction.reads() && instruction.general() != 31) {
    set(general_id(instruction.general()), answer.value);
  }
  set(UC_ARM64_REG_PC, next);
  return true;
}

// At EL0 an access to an existing register traps with its encoding as the syndrome; otherwise the instruction is
// undefined. Source: Arm ARM, "ESR_EL1", exception classes 0 and 18H.
void LabArm::refuse(const Instruction& instruction, const std::string& why, bool traps) {
  const std::uint64_t number = instruction.system_number();
  std::uint32_t syndrome = 1U << 25;
  if (traps) {
    syndrome |= 0x18U << 26 | part(number, 14, 3) << 20 | part(number, 0, 7) << 17 | part(number, 11, 7) << 14 |
                part(number, 7, 15) << 10 | instruction.general() << 5 | part(number, 3, 15) << 1 |
                (instruction.reads() ? 1 : 0);
  }
  enter(Exception::synchronous, instruction.address, syndrome, why);
}

void LabArm::wait(const Instruction& instruction) {
  const std::uint64_t next = instruction.address + 4;
  retire(instruction);
  set(UC_ARM64_REG_PC, next);
  // An interrupt wakes the core even if it is masked.
  if (core_->line() == Line::none) end(End::Reason::halted, instruction.address, "the program waits for an interrupt");
}

// The emulator derives its level from PSTATE only at an ERET, so writing PSTATE does not bring it back from EL0. So
// this restores the core's state at EL1, with what EL0 may have changed.
void LabArm::leave_user() {
  struct Wide {
    std::uint64_t half[2];
  };
  std::array<std::uint64_t, 31> general_now{};
  std::array<Wide, 32> vectors{};
  static constexpr int others[] = {UC_ARM64_REG_FPCR, UC_ARM64_REG_FPSR, UC_ARM64_REG_TPIDR_EL0};
  std::uint64_t kept[std::size(others)] = {};
  for (unsigned i = 0; i < 31; ++i) general_now[i] = general(i);
  for (int i = 0; i < 32; ++i) uc_reg_read(uc_, UC_ARM64_REG_V0 + i, &vectors[static_cast<std::size_t>(i)]);
  for (std::size_t i = 0; i < std::size(others); ++i) kept[i] = get(others[i]);
  const std::uint64_t user_stack = get(UC_ARM64_REG_SP);
  uc_context_restore(uc_, kernel_);
  for (unsigned i = 0; i < 31; ++i) set(general_id(i), general_now[i]);
  for (int i = 0; i < 32; ++i) uc_reg_write(uc_, UC_ARM64_REG_V0 + i, &vectors[static_cast<std::size_t>(i)]);
  for (std::size_t i = 0; i < std::size(others); ++i) set(others[i], kept[i]);
  set(UC_ARM64_REG_SP_EL0, user_stack);
}

void LabArm::enter(Exception what, std::uint64_t back, std::uint32_t syndrome, const std::string& why) {
  running_.reset();
  const std::uint64_t base = get(UC_ARM64_REG_VBAR_EL1);
  constexpr std::uint64_t same_level = 0x200, level_below = 0x400, row = 0x80;
  const std::uint64_t vector = base + (level_ == 0 ? level_below : same_level) + row * static_cast<std::uint64_t>(what);
  std::uint32_t first = 0;
  uc_mem_read(uc_, vector, &first, sizeof first);
  if (base == 0 || first == 0) {
    end(End::Reason::fault, at_, fmt::format("{}: {}", image_.place(at_), why),
        fmt::format("{}: no handler. {}",
                    base == 0 ? "VBAR_EL1 is 0" : fmt::format("the vector at {:X}H is empty", vector),
                    what == Exception::synchronous ? "Fix the cause, or set a handler to observe it"
                                                   : "Set one: `adr x0, HANDLER`, `bl set_interrupt_handler`"));
    return;
  }
  Entry entered = entry(Entry::Kind::enter);
  entered.number = static_cast<std::uint32_t>(what);
  entered.address = back;
  entered.text = why;
  const std::uint64_t state = get(UC_ARM64_REG_PSTATE);
  if (level_ == 0) leave_user();
  set_system(link_register, back);
  set_system(saved_state, state);
  if (what == Exception::synchronous) set_system(syndrome_register, syndrome);
  set(UC_ARM64_REG_PSTATE, handler_state);
  set(UC_ARM64_REG_PC, vector);
  level_ = 1;
  note(entered);
}

void LabArm::on_interrupt(uc_engine*, std::uint32_t, void* machine) {
  LabArm& self = *static_cast<LabArm*>(machine);
  self.enter(
      Exception::synchronous, self.at_, 1U << 25,
      "the core raises an exception: an instruction that is undefined here, or an access that it does not allow");
}

bool LabArm::on_invalid(uc_engine* uc, void* machine) {
  LabArm& self = *static_cast<LabArm*>(machine);
  self.running_.reset();
  self.fault_ = "these bytes are not an instruction of the emulated core";
  // Returning true ends the run in Unicorn 2.0.1; run() continues it.
  uc_emu_stop(uc);
  return true;
}

bool LabArm::on_hole(uc_engine*, uc_mem_type type, std::uint64_t address, int, std::int64_t, void* machine) {
  LabArm& self = *static_cast<LabArm*>(machine);
  const std::string_view what = type == UC_MEM_FETCH_UNMAPPED   ? "fetches an instruction from"
                                : type == UC_MEM_WRITE_UNMAPPED ? "writes to"
                                                                : "reads from";
  const std::uint64_t stack = self.get(UC_ARM64_REG_SP);
  const bool is_stack = address >= stack - 64 && address < stack + 64;
  std::string hint = "memory is 0 to FFFFFFH, a serial port at 9000000H, and the end at 9100000H";
  if (is_stack) {
    hint = fmt::format("the stack pointer is {:X}H, where there is no memory: set it to {:X}H, or do not change it",
                       stack, layout::stack);
  } else if (type == UC_MEM_FETCH_UNMAPPED) {
    hint = "a branch, call or return has a wrong target: BL overwrites X30, which RET needs";
  }
  self.running_.reset();
  if (address >= layout::device_tree && address - layout::device_tree < layout::device_tree_size) {
    self.end(End::Reason::hole, self.at_,
             fmt::format("{} {} {:X}H, where firmware leaves a device tree: the lab has none",
                         self.image_.place(self.at_), what, address),
             "operating systems and the arm64 programs of kvm-unit-tests do not run here: they find their memory, "
             "GIC and PSCI in a device tree; programs that use the serial port at 9000000H and end at 9100000H do");
    return false;
  }
  self.end(End::Reason::hole, self.at_,
           fmt::format("{} {} {:X}H, which is not mapped{}", self.image_.place(self.at_), what, address,
                       is_stack ? ": the stack is outside of memory" : ""),
           hint);
  return false;
}

void LabArm::on_access(uc_engine*, uc_mem_type, std::uint64_t address, int, std::int64_t, void* machine) {
  LabArm& self = *static_cast<LabArm*>(machine);
  self.tags_.access(address);
}

// A PL011: the data register at 0, the flags at 18H.
std::uint64_t LabArm::on_serial_read(uc_engine*, std::uint64_t offset, unsigned, void*) {
  constexpr std::uint64_t flags = 0x18, all_empty = 0x90;
  return offset == flags ? all_empty : 0;
}

void LabArm::on_serial_write(uc_engine*, std::uint64_t offset, unsigned, std::uint64_t value, void* machine) {
  LabArm& self = *static_cast<LabArm*>(machine);
  if (offset != 0) return;
  self.output_ += static_cast<char>(value);
  if (self.output_.back() == '\n') self.flush_output();
}

std::uint64_t LabArm::on_exit_read(uc_engine*, std::uint64_t, unsigned, void*) { return 0; }

void LabArm::on_exit_write(uc_engine*, std::uint64_t, unsigned, std::uint64_t value, void* machine) {
  LabArm& self = *static_cast<LabArm*>(machine);
  // The instruction is done; the run ends before the next one.
  self.end_ = ended_itself(self.at_, value);
  uc_emu_stop(self.uc_);
}

void LabArm::flush_output() {
  if (output_.empty()) return;
  Entry printed = entry(Entry::Kind::output);
  printed.text = output_;
  output_.clear();
  note(printed);
}

}  // namespace tally::lab::arm
