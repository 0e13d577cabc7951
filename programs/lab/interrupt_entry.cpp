// Entry of interrupts and exceptions into their handlers. The emulator calls a hook instead of reading the IDT, so the
// lab reads it and builds the frame. Source: Intel SDM vol. 3A, "Interrupt and Exception Handling" and, for the real
// mode, vol. 3B, "8086 Emulation".
#include <fmt/format.h>

#include <algorithm>

#include "programs/lab/layout.hpp"
#include "programs/lab/x86_machine.hpp"

namespace tally::lab {
namespace {

constexpr std::uint64_t trap_flag = 1U << 8, nested_task = 1U << 14, resume_flag = 1U << 16;
constexpr std::uint64_t protection = 1;           // CR0.PE
constexpr std::uint64_t long_mode_on = 1U << 10;  // EFER.LMA
constexpr int double_fault = 8, not_present = 11, protection_fault = 13, page_fault = 14;

std::string name_of(int vector) {
  static constexpr const char* names[] = {"#DE, a division that has no result",
                                          "#DB",
                                          "NMI",
                                          "#BP",
                                          "#OF",
                                          "#BR",
                                          "#UD, an invalid instruction",
                                          "#NM",
                                          "#DF, a double fault",
                                          "",
                                          "#TS",
                                          "#NP, a segment that is not present",
                                          "#SS, a fault of the stack",
                                          "#GP, general protection",
                                          "#PF, a page fault"};
  if (vector >= 0 && vector < static_cast<int>(std::size(names))) return names[vector];
  return fmt::format("interrupt {:X}H", vector);
}

// Returns the vector of a fault during the delivery of another one; -1: the processor shuts down. Source: Intel SDM
// vol. 3A, "Interrupt 8: Double Fault Exception".
int second_fault(int first, int second) {
  const auto is_contributory = [](int vector) { return vector == 0 || (vector >= 10 && vector <= 13); };
  if (first == double_fault) return -1;
  const bool is_page_fault = first == page_fault && second == page_fault;
  const bool is_double = is_contributory(second) && (is_contributory(first) || first == page_fault);
  return is_page_fault || is_double ? double_fault : second;
}

}  // namespace

LabX86::Mode LabX86::mode() const {
  // The lab starts such a program in 64-bit mode, without page tables.
  if (image_.bits == 64 && !image_.is_multiboot) return Mode::wide;
  if ((get(UC_X86_REG_CR0) & protection) == 0) return Mode::real;
  if (image_.bits != 64) return Mode::narrow;
  uc_x86_msr efer{0xC000'0080, 0};
  uc_reg_read(uc_, UC_X86_REG_MSR, &efer);
  return (efer.value & long_mode_on) != 0 ? Mode::wide : Mode::narrow;
}

// Returns the descriptor of a selector in the GDT or the LDT.
std::uint64_t LabX86::descriptor(std::uint64_t selector) const {
  uc_x86_mmr table{};
  const bool is_local = (selector & 4) != 0;
  uc_reg_read(uc_, is_local ? UC_X86_REG_LDTR : UC_X86_REG_GDTR, &table);
  return peek(table.base + (selector & 0xFFF8), 8);
}

std::uint64_t LabX86::segment_base(std::uint64_t selector) const {
  const Mode now = mode();
  if (now == Mode::real) return (selector & 0xFFFF) << 4;
  if (now == Mode::wide) return 0;
  const std::uint64_t low = descriptor(selector);
  return (low >> 16 & 0xFF'FFFF) | (low >> 32 & 0xFF00'0000);
}

// The code segment changed: its privilege level, its base, and whether its code is 16, 32 or 64-bit. Source: Intel SDM
// vol. 3A, "Segment Descriptors".
void LabX86::note_segment() {
  const std::uint64_t selector = get(UC_X86_REG_CS);
  const Mode now = mode();
  cpl_ = now == Mode::real ? 0 : static_cast<int>(selector & 3);
  code_base_ = segment_base(selector);
  const int bits = code_bits_of(selector);
  if (bits == code_bits_) return;
  code_bits_ = bits;
  // Decoded bytes may be other instructions now.
  instructions_seen_.clear();
  forget_blocks();
}

int LabX86::code_bits_of(std::uint64_t selector) const {
  const Mode now = mode();
  if (now == Mode::real) return 16;
  const std::uint64_t low = descriptor(selector);
  if (now == Mode::wide && (low >> 53 & 1) != 0) return 64;
  return (low >> 54 & 1) != 0 ? 32 : 16;
}

LabX86::Gate LabX86::gate_of(int vector) const {
  Gate gate;
  uc_x86_mmr idtr{};
  uc_reg_read(uc_, UC_X86_REG_IDTR, &idtr);
  const Mode now = mode();
  if (now == Mode::real) {
    const std::uint64_t at = idtr.base + 4 * static_cast<std::uint64_t>(vector);
    gate.handler = peek(at, 2);
    gate.selector = static_cast<std::uint16_t>(peek(at + 2, 2));
    gate.is_valid = gate.is_present = gate.handler != 0 || gate.selector != 0;
    gate.level = 3;
    return gate;
  }
  const unsigned size = now == Mode::wide ? 16 : 8;
  const std::uint64_t offset = static_cast<std::uint64_t>(vector) * size;
  if (offset + size - 1 > idtr.limit) return gate;
  const std::uint64_t low = peek(idtr.base + offset, 8);
  const std::uint64_t type = low >> 40 & 0x1F;
  gate.is_valid = type == 0xE || type == 0xF;
  gate.is_present = (low >> 47 & 1) != 0;
  gate.selector = static_cast<std::uint16_t>(low >> 16);
  gate.handler = (low & 0xFFFF) | (low >> 32 & 0xFFFF'0000);
  gate.clears_interrupts = type == 0xE;
  gate.level = static_cast<int>(low >> 45 & 3);
  if (now == Mode::wide) {
    gate.handler |= peek(idtr.base + offset + 8, 4) << 32;
    gate.stack = static_cast<int>(low >> 32 & 7);
  }
  return gate;
}

// Returns the stack of a handler: that of the TSS after a change of the privilege level and for an IST.
LabX86::Stack LabX86::stack_of(const Gate& gate) const {
  const Mode now = mode();
  Stack stack{get(UC_X86_REG_SS) & 0xFFFF, get(UC_X86_REG_RSP)};
  uc_x86_mmr tr{};
  uc_reg_read(uc_, UC_X86_REG_TR, &tr);
  if (now == Mode::wide) {
    if (gate.stack != 0) {
      stack.pointer = peek(tr.base + 0x24 + 8 * static_cast<std::uint64_t>(gate.stack - 1), 8);
    } else if (cpl_ > 0) {
      stack.pointer = peek(tr.base + 4, 8);
    }
    stack.pointer &= ~15ULL;
    if (cpl_ > 0) stack.segment = 0;
  } else if (now == Mode::narrow && cpl_ > 0) {
    stack = {peek(tr.base + 8, 2), peek(tr.base + 4, 4)};
  }
  return stack;
}

// Returns an address of the frame, below the stack pointer, that is not mapped.
std::optional<std::uint64_t> LabX86::hole_in(const Stack& stack) const {
  if (mode() == Mode::real) return std::nullopt;
  constexpr std::uint64_t word = 8, largest_frame = 48;
  for (const std::uint64_t below : {word, largest_frame}) {
    const std::uint64_t address = segment_base(stack.segment) + stack.pointer - below;
    const auto place = physical(address);
    if (!place || *place >= memory_size()) return address;
  }
  return std::nullopt;
}

void LabX86::push(std::uint64_t value, int bytes) {
  const std::uint64_t before = get(UC_X86_REG_RSP);
  std::uint64_t top = before - static_cast<std::uint64_t>(bytes);
  if (mode() == Mode::real) top = (before & ~0xFFFFULL) | (top & 0xFFFF);
  set(UC_X86_REG_RSP, top);
  poke(segment_base(get(UC_X86_REG_SS)) + (mode() == Mode::real ? top & 0xFFFF : top), value, bytes);
}

void LabX86::shut_down(const Arrival& arrival, const std::string& reason) {
  const std::string why = arrival.why.empty() ? "" : ": " + arrival.why;
  const bool is_interrupt = arrival.vector >= 32;
  const std::string message = fmt::format("{}: {}{}", image_.place(at_), name_of(arrival.vector), why);
  if (!is_interrupt && image_.is_of_statements()) {
    end(End::Reason::fault, at_, message);
    return;
  }
  end(End::Reason::fault, at_, message,
      fmt::format("{}: a processor would shut down (triple fault). {}", reason,
                  is_interrupt ? "Set one: `mov esi, VECTOR`, `mov edi, HANDLER`, `call set_interrupt_handler`"
                               : "Fix the cause, or set a handler to observe it"));
}

// Returns the fault that the processor raises because it cannot enter the handler; nothing if it can.
std::optional<LabX86::Arrival> LabX86::refusal_of(const Arrival& arrival, const Gate& gate) const {
  const std::uint32_t is_external = arrival.is_software ? 0 : 1;
  const auto selector = static_cast<std::uint32_t>(arrival.vector) * 8 + 2 + is_external;
  const std::uint64_t back = arrival.is_software ? arrival.from : arrival.back;
  if (gate.is_valid && arrival.is_software && cpl_ > gate.level) {
    return Arrival{protection_fault, selector, back,
                   fmt::format("{} at CPL {}, and the gate of that vector is for CPL {} (its DPL)", arrival.why, cpl_,
                               gate.level)};
  }
  const std::string missing = fmt::format("vector {:X}H has no handler in the IDT", arrival.vector);
  if (!gate.is_valid) return Arrival{protection_fault, selector, back, missing};
  if (!gate.is_present) return Arrival{not_present, selector, back, missing};
  const Stack stack = stack_of(gate);
  const auto hole = hole_in(stack);
  if (!hole) return std::nullopt;
  constexpr std::uint32_t write = 2;
  Arrival fault{page_fault, write, back,
                fmt::format("the stack for the handler of vector {:X}H, below {:X}H, is not mapped", arrival.vector,
                            stack.pointer)};
  fault.accessed = hole;
  return fault;
}

// Delivers an interrupt or exception, or the fault that its delivery raises.
void LabX86::arrive(const Arrival& first) {
  calm_ = 0;
  Arrival arrival = first, reported = first;
  std::string reason;
  Gate gate = gate_of(arrival.vector);
  while (const auto fault = refusal_of(arrival, gate)) {
    if (gate.is_valid && gate.is_present && arrival.is_software && cpl_ > gate.level) {
      reported = *fault;
    } else if (reason.empty()) {
      reason = fault->why + ", nor has a double fault";
    }
    const bool raises = mode() != Mode::real && (fault->vector != page_fault || is_paging());
    const int vector = raises ? second_fault(arrival.vector, fault->vector) : -1;
    if (vector < 0) {
      shut_down(reported, reason);
      return;
    }
    arrival = *fault;
    arrival.vector = vector;
    arrival.is_emulated = first.is_emulated;
    if (vector == double_fault) arrival.error = 0;
    gate = gate_of(vector);
  }
  if (entered_.test(static_cast<std::size_t>(arrival.vector))) {
    shut_down(arrival, fmt::format("the processor cannot execute the handler of vector {:X}H at {:X}H: it raises this "
                                   "again and again, until its stack is used up",
                                   arrival.vector, gate.handler));
    return;
  }
  entered_.set(static_cast<std::size_t>(arrival.vector));
  if (arrival.accessed) set(UC_X86_REG_CR2, *arrival.accessed);
  if (arrival.is_software) finish();
  running_.reset();
  // The state of the processor can change only while the emulator does not run.
  arrival_ = arrival;
  uc_emu_stop(uc_);
}

void LabX86::enter(const Arrival& arrival) {
  Entry what = entry(Entry::Kind::enter);
  what.number = static_cast<std::uint32_t>(arrival.vector);
  what.address = arrival.back;
  what.text = arrival.why;
  what.value = arrival.is_perfmon ? 1 : 0;
  const Mode now = mode();
  const Gate gate = gate_of(arrival.vector);
  const Stack stack = stack_of(gate);
  const std::uint64_t flags = get(UC_X86_REG_RFLAGS);
  const std::uint64_t old_code = get(UC_X86_REG_CS) & 0xFFFF, old_base = code_base_;
  const Stack old_stack{get(UC_X86_REG_SS) & 0xFFFF, get(UC_X86_REG_RSP)};
  const bool from_user = cpl_ > 0;
  if (from_user || arrival.is_emulated) restore(from_user ? kernel_ : system_);
  if (from_user) set(UC_X86_REG_SS, stack.segment);
  set(UC_X86_REG_RSP, stack.pointer);
  const int word = now == Mode::real ? 2 : now == Mode::narrow ? 4 : 8;
  if (now == Mode::wide || from_user) {
    push(old_stack.segment, word);
    push(old_stack.pointer, word);
  }
  push(flags, word);
  push(old_code, word);
  push(arrival.back - old_base, word);
  if (arrival.error && now != Mode::real) push(*arrival.error, word);
  std::uint64_t cleared = trap_flag | nested_task | resume_flag;
  if (gate.clears_interrupts) cleared |= interrupt_flag;
  set(UC_X86_REG_RFLAGS, flags & ~cleared);
  enter_code(static_cast<std::uint16_t>(gate.selector & ~3U), gate.handler);
  uc_context_save(uc_, system_);
  note(what);
}

// Continues at an address of a code segment at CPL 0. In its 64-bit mode the emulator writes only the selector of CS,
// so an IRET of the lab loads a segment that has another base or other code.
void LabX86::enter_code(std::uint16_t selector, std::uint64_t offset) {
  const bool is_other = segment_base(selector) != code_base_ || code_bits_of(selector) != code_bits_;
  if (image_.bits == 64 && is_other) {
    const int word = code_bits_ / 8;
    push(get(UC_X86_REG_RFLAGS), word);
    push(selector, word);
    push(offset, word);
    jump_to(layout::interrupt_return);
    is_entering_ = true;
    return;
  }
  set(UC_X86_REG_CS, selector);
  set(UC_X86_REG_RIP, offset);
  note_segment();
}

// Restores a state of the processor, with the general registers of now: the emulator does not write the privilege
// level, and after an exception it takes the next one for a double fault.
void LabX86::restore(uc_context* state) {
  struct Vector {
    std::uint64_t half[2];
  };
  struct Register {
    int id;
    std::uint64_t value;
  };
  std::vector<Register> kept;
  const auto keep = [&](int id) {
    Register one{id, 0};
    uc_reg_read(uc_, id, &one.value);
    kept.push_back(one);
  };
  static constexpr int general[] = {UC_X86_REG_RAX, UC_X86_REG_RBX, UC_X86_REG_RCX, UC_X86_REG_RDX,
                                    UC_X86_REG_RSI, UC_X86_REG_RDI, UC_X86_REG_RBP, UC_X86_REG_RSP};
  for (const int id : general) keep(named(id));
  for (const int id :
       {UC_X86_REG_CR4, UC_X86_REG_CR3, UC_X86_REG_CR0, UC_X86_REG_CR2, UC_X86_REG_DR6, UC_X86_REG_DS, UC_X86_REG_ES,
        UC_X86_REG_FS, UC_X86_REG_GS, UC_X86_REG_MXCSR, UC_X86_REG_FPCW, UC_X86_REG_FPSW, UC_X86_REG_FPTAG}) {
    keep(id);
  }
  const bool is_wide = image_.bits == 64;
  if (is_wide) {
    for (int i = 0; i < 8; ++i) keep(UC_X86_REG_R8 + i);
    keep(UC_X86_REG_FS_BASE);
    keep(UC_X86_REG_GS_BASE);
  }
  std::array<Vector, 16> vectors{};
  const int vector_count = is_wide ? 16 : 8;
  for (int i = 0; i < vector_count; ++i) uc_reg_read(uc_, UC_X86_REG_XMM0 + i, &vectors[static_cast<std::size_t>(i)]);
  std::array<Vector, 8> floats{};
  for (int i = 0; i < 8; ++i) uc_reg_read(uc_, UC_X86_REG_FP0 + i, &floats[static_cast<std::size_t>(i)]);
  uc_context_restore(uc_, state);
  for (const Register& one : kept) {
    if (get(one.id) != one.value) uc_reg_write(uc_, one.id, &one.value);
  }
  for (int i = 0; i < vector_count; ++i) uc_reg_write(uc_, UC_X86_REG_XMM0 + i, &vectors[static_cast<std::size_t>(i)]);
  for (int i = 0; i < 8; ++i) uc_reg_write(uc_, UC_X86_REG_FP0 + i, &floats[static_cast<std::size_t>(i)]);
  note_segment();
}

}  // namespace tally::lab
