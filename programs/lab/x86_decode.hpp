// Decodes x86 instructions for the counters, and disassembles them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "programs/lab/pmu/work.hpp"

namespace tally::lab {

/// The treatment of an instruction by the lab.
enum class Kind : std::uint8_t {
  plain,  ///< the emulator executes it
  rdmsr,
  wrmsr,
  rdpmc,
  rdtsc,
  rdtscp,
  cpuid,
  halt,
  software_interrupt,  ///< INT n, INT3, INTO
  interrupt_return,
  far,        ///< changes the code segment, and so possibly the privilege level
  enable,     ///< STI, MOV SS, POP SS: no interrupt before the next instruction
  segment,    ///< loads another segment register
  system,     ///< tables, system segments, intentional #UD: the emulator executes it, in a block of its own
  paging,     ///< MOV to a control register, INVLPG: addresses may map to other pages afterwards
  port,       ///< IN, OUT: the emulator executes it with the lab's devices
  undecoded,  ///< invalid instruction
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  Kind kind = Kind::plain;
  bool repeats = false;  ///< a REP prefix: counts as one instruction, however many iterations the emulator reports
  bool is_branch = false;
  bool is_conditional = false;
  std::uint8_t condition = 0;   ///< of a conditional branch: the low four bits of Jcc, or the opcode of LOOP or JCXZ
  std::uint8_t count_bits = 0;  ///< of LOOP, JCXZ and REP: 16, 32 or 64 bits of RCX
  bool is_call = false;
  bool is_return = false;
  bool is_far = false;
  std::int8_t control = -1;           ///< the control register that MOV writes
  std::uint8_t general = 0;           ///< its source: the number of a general register
  std::uint8_t far_return_bytes = 0;  ///< of a far return: the size of the offset on the stack
  std::uint16_t drops = 0;            ///< bytes of arguments that it removes
  std::uint8_t loads = 0;
  std::uint8_t stores = 0;
  bool modifies = false;    ///< loads and stores one operand
  std::uint8_t cycles = 1;  ///< by the declared rule: 3 for a multiplication, otherwise 1

  /// Returns what it counts in one execution, without branch directions and cache results.
  pmu::emulated::Work work() const;
  /// Whether a conditional branch that just ran was taken, from RFLAGS and RCX after it.
  bool was_taken(std::uint64_t flags, std::uint64_t count) const;
  /// Returns the number of elements that an instruction with REP accessed, from RCX before and after it.
  std::uint64_t elements(std::uint64_t count_before, std::uint64_t count_after) const;
};

/// Decodes for 16, 32 or 64 bits.
Instruction decode(std::span<const std::uint8_t> bytes, std::uint64_t address, int bits);

/// Disassembles in Intel syntax: "mov ecx, 0x186".
std::string text_of(std::span<const std::uint8_t> bytes, std::uint64_t address, int bits);

}  // namespace tally::lab
