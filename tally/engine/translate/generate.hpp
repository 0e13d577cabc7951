/// The code of a trace: copies of the program's instructions, the increment of a segment, what stands at its end.
#pragma once
#include "tally/engine/translate/linking.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::translate {

/// How a segment is counted: where, and what the increment may use.
struct Increment {
  enum How : u8 {
    inc,      // one instruction, where the flags are not needed
    scratch,  // through a register that the next instruction overwrites
    late,     // through one that the end of the segment borrows anyway
    spill,    // through one that is saved for it
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

  /// What depends on where the trace and the program are goes through these: a template must know of it.
  /// Such a thing lies `ahead` bytes from here.
  void fix(Fix what, u64 address, int ahead, u32 extra = 0) {
    recorder.fix(what, static_cast<u64>(offset() + ahead), static_cast<s64>(address - trace.pc), extra);
  }
  /// mov reg, an address of the program, or its low half
  void move_address(u8 reg, u64 address, u32 bits = 64) {
    const u64 value = bits == 64 ? address : static_cast<u32>(address);
    if (value <= 0xffffffffu)
      fix(Fix::low_address, address, 1 + (reg >> 3));
    else
      fix(Fix::address, address, 2);
    e.move_constant(reg, value);
  }
  /// The displacement of a RIP-relative operand; `after` bytes of the instruction follow it.
  void displacement(u64 operand, u32 behind) {
    fix(Fix::relative, operand, 0, behind);
    e.dword(static_cast<u32>(operand - e.here() - 4 - behind));
  }
  /// (j)cc to the translation of `target`; returns the cache address of the jump.
  u64 exit(int condition, u64 target) {
    const u64 jump = emit_exit(arena, e, condition, key_of(target, trace.steps));
    fix(Fix::exit, target, -4);
    return jump;
  }
  /// The same to where the pointer at `operand` leads.
  void exit_by(u64 operand, u64 target) {
    emit_exit(arena, e, -1, key_of(target, trace.steps));
    fix(Fix::exit_by, operand, -4);
  }
  Place& place(const Instruction& in, u32 segment, Borrowed borrowed = Borrowed::none, u8 reg = 0) {
    // Written where it stays: a copy of what was just written in bytes would wait for them.
    Place& p = tables.places[tables.places.add()];
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

/// Where the code of the next trace would begin, and a trace for the code that `key` says that begins there or `later`
/// bytes after, a multiple of trace_alignment; `older` as for make_trace().
u64 next_body(const Arena& arena, u64 pc, u64 older);
Builder begin_trace(Arena& arena, u64 key, u64 older, u64 later = 0);
/// Gives up what was begun: nothing leads to it, and its room is the next one's, which may begin before it did.
void abandon_trace(const Builder& b);

/// The two bytes that are replaced when the trace is dropped must be of one instruction, and not of an exit: those
/// are patched by themselves.
void emit_head(Builder& b, const Instruction& in);

void emit_increment(Builder& b, u32 segment, u32 number, Increment::How how, u8 reg);

/// The copy of an instruction that is no branch, with what counts its accesses where they are not known in advance.
void emit_copy(Builder& b, const Instruction& in, u32 segment);

/// A direct jump or call within a trace: what follows is at its target.
void emit_passed(Builder& b, const Instruction& in, u32 segment);

/// A branch or system call, the last instruction of its segment. A late increment is placed here: `counted` is then the
/// offset after it.
void emit_end(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number, u16& counted);

/// A direct exit; its jump is a place where the program stands at `target`.
void emit_leave(Builder& b, u64 target, u32 segment);
/// The same to the trace's own first instruction, by way of this cache address in its middle. Returns the address of
/// the displacement: zeroed, it leads to what follows.
u64 emit_loop_jump(Builder& b, u64 to, u32 segment);

}  // namespace tally::engine::translate
