/// Marks that programs carry in their code for other tools: instructions that change nothing, and which compilers do
/// not generate. Such a mark starts a trace, whose first instructions are a gate that enters the engine. Then the
/// program's own instructions run, as natively. Code without marks is translated as if there were none.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

enum class ProgramMark : u8 {
  none,
  valgrind,  ///< a client request of valgrind.h: rax = the address of six words, the request and its arguments
  ssc,       ///< ebx = a number
  sniper,    ///< rax = the command, rbx and rcx = its arguments
};

/// Returns the mark that starts with this instruction.
ProgramMark mark_of(const Instruction& in);
/// The same for the code at an address of the program, as it is now.
ProgramMark mark_at(u64 pc);
inline bool begins_mark(const Instruction& in) {
  // Most instructions have another opcode.
  const bool possible = in.opcode == 0xc1 || in.opcode == 0x90 || in.opcode == 0x87;
  return possible && in.map == Map::one_byte && mark_of(in) != ProgramMark::none;
}

/// Number of instructions of a mark.
inline constexpr u32 instructions_of_request = 5;
inline u32 instructions_of(ProgramMark mark) { return mark == ProgramMark::valgrind ? instructions_of_request : 1; }
/// Offset of a mark's i-th instruction.
inline u32 offset_in_mark(u32 i) { return 4 * i; }

/// Prepares a trace that starts with a mark: it is not stored, so stored code does not depend on whether marks have an
/// effect. If they have, emits its gate, unless it has one. The gate preserves all registers and flags.
void emit_mark_gate(Builder& b);

extern "C" {
/// Entered from a gate: rcx = the program's address; rcx and r11 are saved.
void enter_program_mark();
/// Called by enter_program_mark(). Defined in the instrument layer.
void program_mark_reached(Thread* t);
}

}  // namespace tally::engine::translate
