// Decodes A64 instructions as far as the PMU and the lab need it.
#pragma once

#include <cstdint>

namespace tally::lab::arm {

enum class Kind {
  plain,             ///< the emulator executes it
  system_register,   ///< MRS, MSR of a register
  supervisor_call,   ///< SVC
  exception_return,  ///< ERET
  wait,              ///< WFI
  hint_wait,         ///< WFE: continues immediately
  barrier,           ///< ISB
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint32_t word = 0;
  Kind kind = Kind::plain;
  bool is_branch = false;
  bool is_conditional = false;
  bool is_call = false;
  bool is_return = false;
  bool is_indirect = false;
  bool is_load = false;
  bool is_store = false;
  bool is_vector = false;   ///< SIMD and floating point, including their loads and stores
  bool is_integer = false;  ///< neither memory, nor branch, nor vector, nor system
  bool is_barrier = false;  ///< DMB, DSB, ISB
  bool is_atomic = false;   ///< LSE
  bool is_store_exclusive = false;
  std::uint32_t cycles = 1;

  // For store exclusives: the general register that is 0 after success.
  unsigned status() const { return word >> 16 & 31; }

  // For Kind::system_register.
  bool reads() const { return (word >> 21 & 1) != 0; }
  unsigned general() const { return word & 31; }
  std::uint64_t system_number() const { return word >> 5 & 0xFFFF; }

  // For conditional branches. CBZ, CBNZ, TBZ and TBNZ test the general register; B.cond tests PSTATE.
  bool tests_register() const { return word >> 24 != 0x54; }
  /// Whether the branch is taken; `tested`: the general register, or PSTATE.
  bool is_taken(std::uint64_t tested) const;
};

Instruction decode(std::uint32_t word, std::uint64_t address);

}  // namespace tally::lab::arm
