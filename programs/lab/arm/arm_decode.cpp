// Source: Arm Architecture Reference Manual (DDI 0487), "A64 Instruction Set Encoding".
#include "programs/lab/arm/arm_decode.hpp"

namespace tally::lab::arm {
namespace {

constexpr std::uint32_t bits(std::uint32_t word, int high, int low) {
  return word >> low & ((1U << (high - low + 1)) - 1);
}

void decode_branch(Instruction& out) {
  const std::uint32_t word = out.word;
  const std::uint32_t top = word >> 24;
  const bool compares = (word & 0x7C00'0000) == 0x3400'0000;  // CBZ, CBNZ, TBZ, TBNZ
  if (top == 0x54 || compares) {
    out.is_branch = out.is_conditional = true;
  } else if (bits(word, 30, 26) == 0b00101) {
    out.is_branch = true;
    out.is_call = word >> 31 != 0;
  } else if (bits(word, 31, 25) == 0b1101011) {
    const std::uint32_t opcode = bits(word, 24, 21) & 7;  // bit 3: with pointer authentication
    out.is_branch = out.is_indirect = true;
    out.is_call = opcode == 1;
    out.is_return = opcode == 2;
    if (opcode == 4) out.kind = Kind::exception_return;
  } else if ((word & 0xFFE0'001F) == 0xD400'0001) {
    out.kind = Kind::supervisor_call;
  } else if ((word & 0xFFD0'0000) == 0xD510'0000) {
    out.kind = Kind::system_register;
  } else if ((word & 0xFFFF'F01F) == 0xD503'301F) {
    out.is_barrier = bits(word, 7, 5) >= 4;  // 2: CLREX
    if (bits(word, 7, 5) == 6) out.kind = Kind::barrier;
  } else if (word == 0xD503'207F) {
    out.kind = Kind::wait;
  } else if (word == 0xD503'205F) {
    out.kind = Kind::hint_wait;
  }
}

void decode_memory(Instruction& out) {
  const std::uint32_t word = out.word;
  const std::uint32_t form = bits(word, 29, 27);
  const bool bit_22 = (word >> 22 & 1) != 0;
  out.is_vector = (word >> 26 & 1) != 0;
  if (form == 0b111) {
    const std::uint32_t opcode = bits(word, 23, 22);
    const bool is_special = bits(word, 25, 24) == 0 && (word >> 21 & 1) != 0 && bits(word, 11, 10) == 0;
    const bool is_ordered_load = is_special && bits(word, 15, 12) == 0b1100;  // LDAPR
    const bool is_prefetch = !out.is_vector && bits(word, 31, 30) == 3 && opcode == 2 && !is_special;
    out.is_atomic = is_special && !is_ordered_load;
    out.is_store = !is_ordered_load && (out.is_atomic || (out.is_vector ? (opcode & 1) == 0 : opcode == 0));
    out.is_load = !is_prefetch && (out.is_atomic || !out.is_store);
  } else if (form == 0b011 && bits(word, 25, 24) == 0) {
    out.is_load = bits(word, 31, 30) != 3 || out.is_vector;  // otherwise a prefetch
  } else {
    // CAS and CASP, between the exclusive and ordered accesses, do both.
    const bool is_exclusive = bits(word, 29, 24) == 0b001000;
    const bool is_ordered = (word >> 23 & 1) != 0;
    const bool is_swap = is_exclusive && (word >> 21 & 1) != 0 && (is_ordered || word >> 31 == 0);
    out.is_atomic = is_swap;
    out.is_store_exclusive = is_exclusive && !is_swap && !is_ordered && !bit_22;
    out.is_load = is_swap || bit_22;
    out.is_store = is_swap || !bit_22;
  }
}

}  // namespace

bool Instruction::is_taken(std::uint64_t tested) const {
  if (tests_register()) {
    const bool inverts = (word >> 24 & 1) != 0;  // CBNZ, TBNZ
    const bool tests_bit = (word >> 25 & 1) != 0;
    const bool is_wide = word >> 31 != 0;
    const std::uint64_t bit = std::uint64_t{word >> 31} << 5 | bits(word, 23, 19);
    const std::uint64_t value = tests_bit ? tested >> bit & 1 : is_wide ? tested : tested & 0xFFFF'FFFF;
    return (value == 0) != inverts;
  }
  const auto flag = [&](int at) { return (tested >> at & 1) != 0; };
  const bool negative = flag(31), zero = flag(30), carry = flag(29), overflow = flag(28);
  const bool conditions[] = {
      zero, carry, negative, overflow, carry && !zero, negative == overflow, negative == overflow && !zero, true};
  const std::uint32_t condition = word & 0xF;
  constexpr std::uint32_t always = 0b1111;  // the inverse of AL, which is always, too
  return condition == always || conditions[condition / 2] != ((condition & 1) != 0);
}

Instruction decode(std::uint32_t word, std::uint64_t address) {
  Instruction out;
  out.address = address;
  out.word = word;
  const std::uint32_t group = bits(word, 28, 25);
  if ((group & 0b1110) == 0b1010) {
    decode_branch(out);
  } else if ((group & 0b0101) == 0b0100) {
    decode_memory(out);
  } else if ((group & 0b0111) == 0b0111) {
    out.is_vector = true;
  } else {
    out.is_integer = true;
    constexpr std::uint32_t multiplication = 3;  // cycles, as in the lab's x86 model
    if (bits(word, 28, 24) == 0b11011) out.cycles = multiplication;
  }
  return out;
}

}  // namespace tally::lab::arm
