/// The interface between translation and instrumentation. Translation calls these hooks and does not depend on their
/// implementation; the defaults add nothing. Machine models implement Instrumentation, marks implement Probes.
///
/// The caller of every hook holds cache_lock, unless noted otherwise.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::translate {

struct Arena;
struct Builder;
struct Instruction;

/// Adds code before and after each instruction of a trace. Hooks are called in the order in which code is generated.
class Instrumentation {
 public:
  /// Starts a trace; starts a segment of the `n` instructions at `in`. `live`: flags that are needed after them;
  /// `live_at_exits[i]`, unless null: flags that are needed where instruction `i` leads if it leaves the trace;
  /// `executions[i]`, unless null: how often the instruction was executed so far.
  virtual void begin_trace() {}
  virtual void begin_segment(Builder&, const Instruction* /*in*/, u32 /*n*/, u16 /*live*/,
                             const u16* /*live_at_exits*/ = nullptr, const u64* /*executions*/ = nullptr) {}
  /// Called first in a trace that may jump to its own start.
  virtual void open_first(Builder&) {}
  /// Before and after the copy of instruction `i`. `leaves`: it leaves the trace and is not a conditional branch.
  virtual void before(Builder&, u32 /*i*/, bool /*leaves*/) {}
  virtual void after(Builder&, u32 /*i*/) {}
  /// In an indirect branch or return: rcx = the target; rcx and r11 are saved. Must preserve rcx.
  virtual void indirect(Builder&, const Instruction&) {}
  /// Replaces the copy of instruction `i`, a conditional branch; the trace continues if it is not taken. `live_there`:
  /// flags that are needed at its target.
  virtual void conditional(Builder&, u32 /*i*/, u32 /*segment*/, u16 /*live_there*/) {}
  /// Before the copy of instruction `i`, a conditional branch that leaves the trace if it is `taken`, or if it is not;
  /// and after the copy, where the trace continues.
  virtual void begin_exit(Builder&, u32 /*i*/, bool /*taken*/, u16 /*live*/) {}
  virtual void stay(Builder&, const Instruction&, bool /*taken*/, u16 /*live*/) {}
  /// At the start of the n-th such exit; of all remaining ones.
  virtual void emit_exit(Builder&, u32 /*n*/) {}
  virtual void emit_exits(Builder&) {}
  /// Before code that leaves the trace. `live`: flags that are needed there.
  virtual void leave(Builder&, u16 /*live*/) {}
  /// Before a jump to the trace's own start: returns the offset of its entry for this jump, or 0 if it must leave.
  virtual u32 loops(Builder&) { return 0; }
  virtual void end_trace(Builder&, u32 /*trace*/) {}

  /// Returns this register, or another one that is free instead of it.
  virtual u8 spared(u8 reg) const { return reg; }
  /// Flags that are needed before instruction `i`.
  virtual u16 live_before(u32 /*i*/) const { return 0xffff; }

  /// Whether its code depends on the outcome of earlier accesses, so that reoptimized traces may become outdated.
  virtual bool depends_on_accesses() const { return false; }
  /// Collects the counts of all threads. The caller holds threads_lock, too.
  virtual void count_accesses() {}
  /// Whether the accesses of the instruction at `pc`, which was executed that often, have other outcomes than before.
  virtual bool is_out_of_date(u64 /*pc*/, u64 /*executions*/) const { return false; }

  /// Whether its tables have room for one more trace. discarded(): all code was discarded.
  virtual bool has_room() const { return true; }
  virtual void discarded() {}
  /// Emits the jumps of an arena into its own functions.
  virtual void make_gates(Arena&) {}
  /// An instruction was executed at its own address. Takes no lock.
  virtual void stepped(Thread*, const Instruction&) {}

 protected:
  ~Instrumentation() = default;
};

/// Adds code before marked addresses.
class Probes {
 public:
  /// Whether a trace must start at `pc`; at this instruction, which the engine executes.
  virtual bool begins_at(u64 /*pc*/) const { return false; }
  virtual bool begins_at(const Instruction&) const { return false; }
  /// A trace starts with this instruction: emits a gate before everything else.
  virtual void begin_trace(Builder&, const Instruction&) {}
  /// Segment `number` is about to be counted.
  virtual void counted(Builder&, u32 /*number*/) {}
  /// Whether a trace may continue at the target of a call.
  virtual bool passes_calls() const { return true; }
  /// A call, which ends its segment and is counted; called before its return address is pushed. If the call is not
  /// direct (known target): with rcx = the target and r11 free.
  virtual void called(Builder&, const Instruction& /*site*/, bool /*direct*/) {}
  /// A return, which is counted and has popped its address: rcx = the target, r11 is free. True if the emitted code
  /// continues at the target.
  virtual bool returns(Builder&, const Instruction&) { return false; }
  /// The same for an indirect jump whose target is not known.
  virtual bool jumps(Builder&, const Instruction&) { return false; }
  /// Called at each indirect jump of a followed thread (Thread::followed). Takes no lock.
  virtual void jumped(Thread*) {}
  virtual void make_gates(Arena&) {}
  /// Whether its tables have room for one more trace. discarded(): all code was discarded.
  virtual bool has_room() const { return true; }
  virtual void discarded() {}

 protected:
  ~Probes() = default;
};

/// Never null. `is_instrumented`, `is_probed`: whether they add anything.
extern Instrumentation* instrumentation;
extern Probes* probes;
extern bool is_instrumented, is_probed;
void instrument_with(Instrumentation& by);
/// A second call adds its probes to those of the first one.
void probe_with(Probes& by);

}  // namespace tally::engine::translate
