/// What is woven into a trace where a machine is simulated: looks at the tables of first levels and predictors, and the
/// ways into the model from there. Not used, and nothing of it in generated code, where nothing is simulated.
///
/// The order of what the model sees is that of the program: an instruction's lines, then its accesses, then where it
/// goes. Looks need two registers: over a stretch of instructions that leave two alone these are borrowed once, which
/// a fault or signal within it has to know.
#pragma once
#include "tally/engine/models.hpp"
#include "tally/engine/reading.hpp"

namespace tally::engine {

/// A stretch of a trace in which registers are borrowed.
struct ModelWindow {
  u16 begin, end;  // offsets from the body: behind what saves them, behind what brings them back
  u8 a, b;
};

/// One access of an instruction that is known when it is translated.
struct DataAccess {
  Ask what;
  u32 bytes;
  u8 base, index, scale;  // registers or no_register; log2
  bool fixed, fs, low;    // `displacement` is the address; from FS; by the low halves of the registers
  s64 displacement;
};

/// What must be known of an instruction to weave.
struct ModelFacts {
  DataAccess access[4];
  u8 accesses;
  bool known;     // else nothing is looked at, and no register borrowed
  u16 registers;  // that it names, openly or not
  u16 live;       // flags that are needed from before it on
  Repeat repeat;  // bytes 0: none
};

ModelFacts facts_of(const Instruction& in);

class ModelCode {
 public:
  /// Behind the trace's head.
  void begin_trace();
  /// The instructions of the next segment; `live`: flags that are needed behind it.
  void begin_segment(Builder& b, const Instruction* in, u32 n, u16 live);
  /// Before and behind the copy of instruction `i`.
  void before(Builder& b, u32 i, bool ends);
  void after(Builder& b, u32 i);
  /// Behind the last instruction, before what leaves.
  void end_segment(Builder& b);
  /// A conditional branch, in place of its copy. `live`: flags that are needed where it leads to.
  void conditional(Builder& b, const Instruction& in, u32 segment, u16 live_there);
  /// What stands behind the trace: the ways out of it that are taken.
  void end_trace(Builder& b, u32 trace);

 private:
  struct Way {
    u64 from;  // of a displacement
    u64 pc, target;
    u8 length;
    u16 live;
  };
  void look_at_data(Builder& b, const Instruction& in, const DataAccess& access, u16 live);
  void look_at_line(Builder& b, u64 line, u16 live);
  void predict(Builder& b, u64 pc, u64 target, bool taken, u8 a, u8 r, u16 live);
  void push_return(Builder& b, const Instruction& in);
  void resolved_target(Builder& b, const Instruction& in, u16 live);
  void open(Builder& b, u32 i);
  void close(Builder& b);
  bool wants_window(u32 i) const;

  const Instruction* in_ = nullptr;
  u32 n_ = 0;
  ModelFacts facts_[66];
  u64 last_line_ = 0;
  bool open_ = false;
  u8 a_ = 0, b_ = 0;
  ModelWindow windows_[256];
  u32 window_count_ = 0;
  Way ways_[64];
  u32 way_count_ = 0;
  // The conditional branch before this segment, which was not taken.
  bool passed_ = false;
  u64 passed_pc_ = 0, passed_target_ = 0;
};
extern ModelCode model_code;

/// In an indirect branch or return: rcx = the target; rcx and r11 are saved. Leaves rcx as it was.
void emit_model_indirect(Builder& b, const Instruction& in);

/// The registers that are borrowed at this spot come back, in `c`.
struct Context;
void give_model_registers_back(Thread* t, Context* c, const Spot& s);

}  // namespace tally::engine
