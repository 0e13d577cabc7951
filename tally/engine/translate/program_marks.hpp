/// Marks that programs carry in their code for other tools: instructions that change nothing, and which compilers do
/// not generate. Such a mark starts a trace, whose first instructions are a gate that enters the engine. Then the
/// program's own instructions run, as natively. Code without marks is translated as if there were none.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// The marks of one tool. Each dialect of channel/mark_dialects.inc is a file in instrument/marks.
struct MarkDialect {
  static constexpr u32 most_bytes = 32;

  u8 code[most_bytes];    ///< the instructions of a mark; all but the last have `first_bytes`
  u8 bytes, first_bytes;  ///< of all instructions, and of the first
  u8 instructions;        ///< their number
  /// Carries out the mark at the thread's pc, which it may change.
  void (*reached)(Thread* t);
};

/// Returns the dialect of the mark that starts with this instruction, or null.
const MarkDialect* mark_of(const Instruction& in);
/// The same for the code at an address of the program, as it is now.
const MarkDialect* mark_at(u64 pc);
inline bool begins_mark(const Instruction& in) {
#define TALLY_MARKS(name, first) || in.opcode == (first)
  const bool possible = false  // most instructions have another opcode
#include "tally/engine/channel/mark_dialects.inc"
      ;
  return possible && in.map == Map::one_byte && mark_of(in) != nullptr;
}

/// Offset of the i-th instruction of the mark at an address of the program.
u32 offset_in_mark(u64 pc, u32 i);

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

namespace tally::engine::instrument {

#define TALLY_MARKS(name, opcode) extern const translate::MarkDialect name##_marks;
#include "tally/engine/channel/mark_dialects.inc"

}  // namespace tally::engine::instrument
