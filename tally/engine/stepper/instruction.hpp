#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::stepper {

/// How an instruction leaves: every branch is of exactly one kind.
enum class Flow : uint8_t {
  next,
  conditional,
  direct_jump,
  indirect_jump,
  direct_call,
  indirect_call,
  ret,
  far,
};

/// What makes single-stepping an instruction different from stepping any other.
enum class Special : uint8_t {
  none,
  repeated_string,  ///< traps once per iteration
  gather,           ///< reads one element per set mask bit
  scatter,          ///< writes one element per set mask bit
  push_flags,       ///< would store the stepper's trap flag
  pop_flags,        ///< after it the kernel takes the stepper's trap flag for the program's own
  syscall,          ///< would leave the stepper's trap flag in r11
  trap,             ///< int3, int n, icebp: retires, then raises a signal
  stack_segment,    ///< the processor holds the trap back until after the next instruction
  emulated,         ///< the same where the hypervisor executes it and forgets the trap (seen for cpuid on AMD's)
};

/// The mask of a gather or scatter.
struct ElementMask {
  uint8_t elements = 0;
  uint8_t element_bytes = 0;   ///< of a vector mask, whose sign bits count
  uint8_t register_index = 0;  ///< of k0..k7, or of the vector
  bool opmask = false;
};

/// As a condition: the address after the branch says whether it was taken.
inline constexpr uint8_t condition_by_address = 0xff;

/// One decoded instruction, reduced to what counting needs.
struct Instruction {
  uint8_t operand_bytes = 0;  ///< of a pop_flags
  uint8_t length = 0;         ///< 0 where the bytes are no instruction
  Flow flow = Flow::next;
  Special special = Special::none;
  bool prefetches = false;      ///< a software prefetch
  uint8_t loads = 0;            ///< of one execution; of a REP, of one iteration
  uint8_t stores = 0;           ///< likewise
  bool narrow_counter = false;  ///< a REP or loop that counts in ECX
  uint8_t condition =
      condition_by_address;  ///< of a branch to what follows it: of jcc 0 to 15, then e0 to e3 (loop, jrcxz)
  ElementMask mask;
};

/// Decodes 64-bit code; length 0 where it cannot.
Instruction decode(std::span<const uint8_t> code);

}  // namespace tally::stepper
