/// Generates the code of a trace: copies of the program's instructions, increments of segments, and ends of segments.
#pragma once
#include "tally/engine/translate/instruction_mix.hpp"
#include "tally/engine/translate/linking.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::translate {

/// How a segment is counted: the position of the increment, and what it may use.
struct Increment {
  enum Method : u8 {
    inc,      // one instruction, where the flags are not needed
    scratch,  // uses a register that the next instruction overwrites
    late,     // uses a register that the end of the segment borrows anyway
    spill,    // uses a register that is saved for it
  } how;
  u32 at;  // before this instruction of the segment
  u8 reg;
};

/// A trace under construction.
struct Builder {
  Arena& arena;
  Emitter e;
  Trace& trace;
  u64 body;

  u16 offset() const { return static_cast<u16>(e.here() - body); }

  /// Records a value, `ahead` bytes from here, that depends on the address of the trace or of the program. All such
  /// values must be recorded, because the trace's template needs them.
  void fix(Fix what, u64 address, int ahead, u32 extra = 0) {
    recorder.fix(what, u64{offset()} + static_cast<u64>(ahead), static_cast<s64>(address - trace.pc), extra);
  }
  /// Emits a jump into the engine. `to`: the arena's code for it.
  void enter(Gate gate, u64 to) {
    fix(Fix::gate, trace.pc, 1, static_cast<u32>(gate));
    e.jump(to);
  }
  /// Emits mov reg, an address of the program, or its low half.
  void move_address(u8 reg, u64 address, u32 bits = 64) {
    const u64 value = bits == 64 ? address : static_cast<u32>(address);
    if (value <= 0xffffffffu)
      fix(Fix::low_address, address, 1 + (reg >> 3));
    else
      fix(Fix::address, address, 2);
    e.move_constant(reg, value);
  }
  /// Emits the displacement of a RIP-relative operand, which `after` bytes of the instruction follow.
  void displacement(u64 operand, u32 after) {
    fix(Fix::relative, operand, 0, after);
    e.dword(static_cast<u32>(operand - e.here() - 4 - after));
  }
  /// Emits a jump or jcc to the translation of `target`. Returns the cache address of the jump.
  u64 exit(int condition, u64 target) {
    const u64 jump = emit_exit(arena, e, condition, key_of(target, trace.steps));
    fix(Fix::exit, target, -4);
    return jump;
  }
  /// Emits a jump to the translation of `target`, which is the value of the pointer at `operand`.
  void exit_by(u64 operand, u64 target) {
    emit_exit(arena, e, -1, key_of(target, trace.steps));
    fix(Fix::exit_by, operand, -4);
  }
  InstructionMapping& place(const Instruction& in, u32 segment, Borrowed borrowed = Borrowed::none, u8 reg = 0) {
    // Written in place: copying a struct that was just written byte by byte would stall.
    InstructionMapping& p = tables.places[tables.places.add()];
    p.pc = static_cast<s32>(in.pc - trace.pc);
    p.offset = offset();
    p.segment = static_cast<u8>(segment);
    p.kind = in.kind;
    p.loads = in.loads;
    p.stores = in.stores;
    p.own_field = in.plain_field;
    p.dynamic = 0;
    p.borrowed = borrowed;
    p.reg = reg;
    trace.place_count++;
    return p;
  }
};

/// next_body() returns the address at which the next trace's code would start. begin_trace() starts a trace for the
/// code of `key`, there or `later` bytes after, a multiple of trace_alignment. `by_jump` as for make_trace().
u64 next_body(const Arena& arena, u64 pc, bool by_jump);
Builder begin_trace(Arena& arena, u64 key, bool by_jump, u64 later = 0);
/// Discards an unfinished trace. Nothing leads to it, and the next trace reuses its space and may start before it did.
void abandon_trace(const Builder& b);

/// Ensures that the first two bytes, which are replaced when the trace is dropped, belong to one instruction, and not
/// to an exit, which is patched separately.
void emit_head(Builder& b, const Instruction& in);

void emit_increment(Builder& b, u32 segment, u32 number, Increment::Method how, u8 reg);

/// Returns the mask of a gather, a scatter, or of what an instruction does at run time; without elements if it has
/// none.
ElementMask mask_of(const Instruction& in, const Mix* at_run_time);

/// Emits the copy of an instruction that is not a branch, with code that counts accesses which are unknown in advance.
void emit_copy(Builder& b, const Instruction& in, u32 segment);

/// Emits a direct jump or call within a trace, which continues at its target.
void emit_passed(Builder& b, const Instruction& in, u32 segment);

/// Emits a branch or system call, the last instruction of its segment. If the increment is late, emits it here and sets
/// `counted` to the offset after it.
void emit_end(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number, u16& counted);

/// Emits a jump through the thread's jump table (jump_slot()): rcx = the target; rcx and r11 are saved. Flags stay.
void emit_indirect(Emitter& e, bool steps);
/// Emits a direct exit. Its jump is a place at which the program's address is `target`.
void emit_leave(Builder& b, u64 target, u32 segment);
/// Emits a jump to `to`, a cache address in the middle of this trace that corresponds to its first instruction. Returns
/// the address of the displacement; setting it to zero makes the jump fall through.
u64 emit_loop_jump(Builder& b, u64 to, u32 segment);

}  // namespace tally::engine::translate
