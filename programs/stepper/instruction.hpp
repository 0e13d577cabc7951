#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::stepper {

/// How an instruction continues. Every branch is of exactly one kind.
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

/// Instructions that need special treatment when they are single-stepped.
enum class Special : uint8_t {
  none,
  repeated_string,  ///< traps once per iteration
  gather,           ///< reads one element per set mask bit
  scatter,          ///< writes one element per set mask bit
  push_flags,       ///< would store the stepper's trap flag
  pop_flags,        ///< the kernel would afterwards attribute the stepper's trap flag to the program
  syscall,          ///< may not return; would leave the stepper's trap flag in r11
  int_syscall,      ///< `int 0x80` in 64-bit code: no flags in r11
  trap,             ///< int3, int n, icebp: retires, then raises a signal
  stack_segment,    ///< the processor delays the trap until after the next instruction
  emulated,         ///< the same if the hypervisor executes it and omits the trap (seen for cpuid on AMD processors),
                    ///< or if the kernel executes it, because user mode must not (UMIP)
};

/// The mask of a gather or scatter.
struct ElementMask {
  uint8_t elements = 0;
  uint8_t element_bytes = 0;   ///< of a vector mask, in which sign bits count
  uint8_t register_index = 0;  ///< of k0..k7, or of the vector
  bool opmask = false;
};

/// A value of `condition`: compare the address after the branch to see whether it was taken.
inline constexpr uint8_t condition_by_address = 0xff;

/// The properties of a decoded instruction that counting needs.
struct Instruction {
  uint8_t operand_bytes = 0;  ///< of a pop_flags
  uint8_t length = 0;         ///< 0 if the bytes are not an instruction
  Flow flow = Flow::next;
  Special special = Special::none;
  bool prefetches = false;      ///< a software prefetch
  uint8_t loads = 0;            ///< of one execution; of a REP, of one iteration
  uint8_t stores = 0;           ///< the same
  bool narrow_counter = false;  ///< a REP or loop that counts in ECX
  uint8_t condition =
      condition_by_address;  ///< of a branch whose address does not show it: 0 to 15 (jcc), e0 to e3 (loop, jrcxz)
  ElementMask mask;
};

/// How the processor reads code.
enum class CodeMode : uint8_t { bits64, bits32 };

/// Decodes an instruction. Returns length 0 if that fails.
Instruction decode(std::span<const uint8_t> code, CodeMode mode = CodeMode::bits64);

}  // namespace tally::stepper
