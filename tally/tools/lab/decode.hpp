// Instructions as the counters see them, and as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tally/hardware/pmu/emulated/work.hpp"

namespace tally::lab {

/// What the lab does with an instruction.
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
  far,        ///< changes the code segment, and so perhaps the privilege level
  enable,     ///< STI, MOV SS, POP SS: the next instruction is not interrupted
  system,     ///< tables, segments of the system, #UD on purpose: the emulator executes it, alone
  paging,     ///< MOV to a control register, INVLPG: pages may lie elsewhere behind it
  port,       ///< IN, OUT: the emulator executes it, the lab's devices answer
  undecoded,  ///< no instruction
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  Kind kind = Kind::plain;
  bool repeats = false;  ///< a REP prefix: one instruction, however often the emulator reports it
  bool is_branch = false;
  bool is_conditional = false;
  bool is_call = false;
  bool is_return = false;
  bool is_far = false;
  std::uint8_t loads = 0;
  std::uint8_t stores = 0;
  std::uint8_t cycles = 1;  ///< by the declared rule: 3 for a multiplication, else 1

  /// What it adds where it ran once; which way a branch went, and what caches did, is told apart.
  pmu::emulated::Work work() const;
};

/// Decodes for 16, 32 or 64 bits.
Instruction decode(std::span<const std::uint8_t> bytes, std::uint64_t address, int bits);

/// Intel's syntax: "mov ecx, 0x186".
std::string text_of(std::span<const std::uint8_t> bytes, std::uint64_t address, int bits);

}  // namespace tally::lab
