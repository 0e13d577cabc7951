// Entry of interrupts and exceptions into their handlers. The emulator does not support an IDT, so the lab builds the
// frame. Source: Intel SDM vol. 3A, "Interrupt and Exception Handling".
#include <fmt/format.h>

#include "tally/tools/lab/layout.hpp"
#include "tally/tools/lab/machine.hpp"

namespace tally::lab {
namespace {

constexpr std::uint64_t trap_flag = 1U << 8;

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

}  // namespace

LabX86::Gate LabX86::gate_of(int vector) const {
  Gate gate;
  if (image_.bits == 16) {
    const std::uint64_t at = 4 * static_cast<std::uint64_t>(vector);
    gate.handler = peek(at, 2);
    gate.selector = static_cast<std::uint16_t>(peek(at + 2, 2));
    gate.present = gate.handler != 0 || gate.selector != 0;
    return gate;
  }
  uc_x86_mmr idtr{};
  uc_reg_read(uc_, UC_X86_REG_IDTR, &idtr);
  const unsigned size = image_.bits == 64 ? 16 : 8;
  const std::uint64_t offset = static_cast<std::uint64_t>(vector) * size;
  if (offset + size - 1 > idtr.limit) return gate;
  const std::uint64_t low = peek(idtr.base + offset, 8);
  const std::uint64_t type = low >> 40 & 0x1F;
  gate.present = (low >> 47 & 1) != 0 && (type == 0xE || type == 0xF);
  gate.selector = static_cast<std::uint16_t>(low >> 16);
  gate.handler = (low & 0xFFFF) | (low >> 32 & 0xFFFF'0000);
  gate.clears_interrupts = type == 0xE;
  gate.level = static_cast<int>(low >> 45 & 3);
  if (image_.bits == 64) {
    gate.handler |= peek(idtr.base + offset + 8, 4) << 32;
    gate.stack = static_cast<int>(low >> 32 & 7);
  }
  return gate;
}

void LabX86::push(std::uint64_t value) {
  const int word = word_bytes();
  const std::uint64_t top = get(UC_X86_REG_RSP) - static_cast<std::uint64_t>(word);
  set(UC_X86_REG_RSP, top);
  poke(top, value, word);
}

void LabX86::unhandled(const Arrival& arrival) {
  const std::string why = arrival.why.empty() ? "" : ": " + arrival.why;
  const bool is_interrupt = arrival.vector >= 32;
  if (!is_interrupt && image_.is_of_statements()) {
    end(End::Reason::fault, at_, fmt::format("{}: {}{}", image_.place(at_), name_of(arrival.vector), why));
    return;
  }
  end(End::Reason::fault, at_, fmt::format("{}: {}{}", image_.place(at_), name_of(arrival.vector), why),
      fmt::format("vector {:X}H has no handler in the IDT, nor has a double fault: a processor would shut down (triple "
                  "fault). {}",
                  arrival.vector,
                  is_interrupt ? "Set one: `mov esi, VECTOR`, `mov edi, HANDLER`, `call set_interrupt_handler`"
                               : "Fix the cause, or set a handler to observe it"));
}

void LabX86::arrive(const Arrival& arrival) {
  calm_ = 0;
  const Gate gate = gate_of(arrival.vector);
  if (gate.present && arrival.is_software && cpl_ > gate.level) {
    arrive({13, static_cast<std::uint32_t>(arrival.vector * 8 + 2), arrival.from,
            fmt::format("{} at CPL {}, and the gate of that vector is for CPL {} (its DPL)", arrival.why, cpl_,
                        gate.level)});
    return;
  }
  if (!gate.present) {
    unhandled(arrival);
    return;
  }
  if (cpl_ > 0 && image_.bits != 16) {
    // The processor first goes to CPL 0 through the lab's call gate; then enter() builds the frame.
    arrival_ = arrival;
    set(UC_X86_REG_RIP, layout::from_user);
    return;
  }
  enter(arrival, gate, false);
}

void LabX86::enter(const Arrival& arrival, const Gate& gate, bool from_user) {
  const std::uint64_t flags = get(UC_X86_REG_RFLAGS);
  Entry what = entry(Entry::Kind::enter);
  what.number = static_cast<std::uint32_t>(arrival.vector);
  what.address = arrival.back;
  what.text = arrival.why;
  if (image_.bits == 16) {
    push(flags);
    push(get(UC_X86_REG_CS));
    push(arrival.back);
    set(UC_X86_REG_CS, gate.selector);
    set(UC_X86_REG_RFLAGS, flags & ~(interrupt_flag | trap_flag));
    set(UC_X86_REG_RIP, gate.handler);
    note(what);
    return;
  }
  const std::uint64_t frame = get(UC_X86_REG_RSP);
  const std::uint64_t word = static_cast<std::uint64_t>(word_bytes());
  // The call gate pushed SS, SP, CS and IP of CPL 3, which the frame needs.
  std::uint64_t old_stack = frame;
  std::uint64_t old_segment = get(UC_X86_REG_SS);
  std::uint64_t old_code = get(UC_X86_REG_CS);
  if (from_user) {
    old_code = peek(frame + word, word_bytes());
    old_stack = peek(frame + 2 * word, word_bytes());
    old_segment = peek(frame + 3 * word, word_bytes());
    set(UC_X86_REG_RSP, frame + 4 * word);
    what.cpl = 3;
  }
  if (gate.stack != 0) {
    uc_x86_mmr tr{};
    uc_reg_read(uc_, UC_X86_REG_TR, &tr);
    set(UC_X86_REG_RSP, peek(tr.base + 0x24 + 8 * static_cast<std::uint64_t>(gate.stack - 1), 8));
  }
  if (image_.bits == 64) set(UC_X86_REG_RSP, get(UC_X86_REG_RSP) & ~15ULL);
  if (image_.bits == 64 || from_user) {
    push(old_segment & 0xFFFF);
    push(old_stack);
  }
  push(flags);
  push(old_code & 0xFFFF);
  push(arrival.back);
  if (arrival.error) push(*arrival.error);
  set(UC_X86_REG_RFLAGS, flags & ~trap_flag & (gate.clears_interrupts ? ~interrupt_flag : ~0ULL));
  set(UC_X86_REG_RIP, gate.handler);
  note(what);
}

}  // namespace tally::lab
