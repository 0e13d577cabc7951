/// What others add to translated code, and what translation tells them. Translation knows none of them: it calls these
/// hooks, whose empty forms add nothing. The models of a simulated machine are Instrumentation, marks are Probes.
///
/// All hooks are called with cache_lock held, unless they say otherwise.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::translate {

struct Arena;
struct Builder;
struct Instruction;

/// Code of its own before and after each instruction of a trace. The hooks of a trace come in the order in which its
/// code is made.
class Instrumentation {
 public:
  /// Begins a trace; then a segment of it, of the `n` instructions at `in`. `live`: flags that are needed after them;
  /// `live_at_exits[i]`, unless null: those that are where instruction `i` leads to when it leaves the trace;
  /// `executions[i]`, unless null: how often it ran until now.
  virtual void begin_trace() {}
  virtual void begin_segment(Builder&, const Instruction* /*in*/, u32 /*n*/, u16 /*live*/,
                             const u16* /*live_at_exits*/ = nullptr, const u64* /*executions*/ = nullptr) {}
  /// Before anything else of a trace that may lead to its own beginning.
  virtual void open_first(Builder&) {}
  /// Before and after the copy of instruction `i`. `leaves`: it leads away and is no conditional branch.
  virtual void before(Builder&, u32 /*i*/, bool /*leaves*/) {}
  virtual void after(Builder&, u32 /*i*/) {}
  /// In an indirect branch or return: rcx = the target; rcx and r11 are saved. Leaves rcx as it was.
  virtual void indirect(Builder&, const Instruction&) {}
  /// In place of the copy of instruction `i`, a conditional branch: the trace goes on where it is not taken.
  /// `live_there`: flags that are needed where it leads to.
  virtual void conditional(Builder&, u32 /*i*/, u32 /*segment*/, u16 /*live_there*/) {}
  /// Before the copy of instruction `i`, a conditional branch that leaves the trace where it is `taken`, or not; and
  /// after it, where the trace goes on.
  virtual void begin_exit(Builder&, u32 /*i*/, bool /*taken*/, u16 /*live*/) {}
  virtual void stay(Builder&, const Instruction&, bool /*taken*/, u16 /*live*/) {}
  /// At the beginning of the n-th exit that was begun so; of those that are still to come.
  virtual void emit_exit(Builder&, u32 /*n*/) {}
  virtual void emit_exits(Builder&) {}
  /// Before what leaves the trace. `live`: flags that are needed there.
  virtual void leave(Builder&, u16 /*live*/) {}
  /// Before what leads to the trace's own beginning: the offset where it may come in; 0 where it has to leave.
  virtual u32 loops(Builder&) { return 0; }
  virtual void end_trace(Builder&, u32 /*trace*/) {}

  /// This register, or in its place one that holds nothing now.
  virtual u8 spared(u8 reg) const { return reg; }
  /// Flags that are needed before instruction `i`.
  virtual u16 live_before(u32 /*i*/) const { return 0xffff; }

  /// Whether its code depends on what instructions found when they ran: then reoptimized traces become out of date.
  virtual bool depends_on_accesses() const { return false; }
  /// Takes down what all threads have found. Wants threads_lock, too.
  virtual void count_accesses() {}
  /// Whether the instruction at `pc`, which ran so often, no longer finds what it did.
  virtual bool is_out_of_date(u64 /*pc*/, u64 /*executions*/) const { return false; }

  /// Whether what must be known of one more trace has a place. All code is thrown away.
  virtual bool has_room() const { return true; }
  virtual void discarded() {}
  /// Doors of its own in an arena.
  virtual void make_doors(Arena&) {}
  /// An instruction was executed at its own address. Takes no lock.
  virtual void stepped(Thread*, const Instruction&) {}

 protected:
  ~Instrumentation() = default;
};

/// Code in front of marked addresses.
class Probes {
 public:
  /// Whether a trace has to begin at `pc`; at this instruction, whose work is done by the engine.
  virtual bool begins_at(u64 /*pc*/) const { return false; }
  virtual bool begins_at(const Instruction&) const { return false; }
  /// A trace begins with this instruction: a gate in front of all else of it.
  virtual void begin_trace(Builder&, const Instruction&) {}
  /// Segment `number` is about to be counted. `flags_dead`: no arithmetic flag is needed.
  virtual void counted(Builder&, u32 /*number*/, bool /*flags_dead*/) {}
  /// Whether a trace may go on where a call leads.
  virtual bool passes_calls() const { return true; }
  /// A call or return, which ends its segment, and that is counted. `site`: the instruction; of a direct call, one
  /// whose target is known, before its return address is pushed; else afterwards, with rcx = the target and r11 free.
  virtual void called(Builder&, const Instruction& /*site*/, bool /*direct*/) {}
  /// Whether the thread comes by at each indirect jump; and it does. Take no lock.
  virtual bool is_followed(const Thread*) const { return false; }
  virtual void jumped(Thread*) {}
  virtual void make_doors(Arena&) {}
  /// Whether what must be known of one more trace has a place. All code is thrown away.
  virtual bool has_room() const { return true; }
  virtual void discarded() {}

 protected:
  ~Probes() = default;
};

/// Never null. `is_instrumented`, `is_probed`: other than empty.
extern Instrumentation* instrumentation;
extern Probes* probes;
extern bool is_instrumented, is_probed;
void instrument_with(Instrumentation& by);
void probe_with(Probes& by);

}  // namespace tally::engine::translate
