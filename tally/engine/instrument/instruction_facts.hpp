/// The properties of an instruction that its instrumentation depends on.
#pragma once
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// An access of an instruction that is known at translation time.
struct DataAccess {
  Ask what;
  u32 bytes;
  u8 base, index, scale;  // registers or no_register; log2
  bool fixed, fs, low;    // `displacement` is the address; relative to FS; uses the low halves of the registers
  s64 displacement;
};

/// Kinds of instructions whose accesses are known only when they run.
enum class Pattern : u8 {
  none,
  elements,  // gather, scatter
  masked,    // a masked move
  table,     // xlat
  bits,      // bt and similar, with the number of the bit in a register
  frames,    // enter with a level
  state,     // xsave and similar, xrstor
  line,      // clzero
};

/// Which registers the accesses of such an instruction depend on, and how.
struct ElementAccesses {
  Pattern pattern;
  bool stores, modifies;
  bool by_k, narrow;  // by a mask register, which has at most 16 bits; otherwise by the signs of a vector
  bool old_vector;    // an SSE register
  u8 vector, mask;
  u8 level;  // of enter
  u8 header,
      choice;  // of state: accessed header bytes; whether it skips what is not in use
  bool compact;
  models::Elements elements;
  u16 word;  // index in the log record; 0: none
};

/// The properties of an instruction for instrumentation.
struct ModelFacts {
  DataAccess access[4];
  u8 accesses;
  bool known;  // false: the instruction has no probes, and no register is borrowed
  bool touches_flags;
  u16 registers;              // that it uses, explicitly or not
  u16 live;                   // flags that are live before it
  models::Repeat repeat;      // bytes 0: none
  ElementAccesses scattered;  // access[0] is its address, and is not counted in `accesses`
  u8 unstable;                // a bit for each unstable site: sites.hpp
};

ModelFacts facts_of(const Instruction& in);

/// The two implementations of facts_of(). `facts_common` handles the forms that make up nearly all compiled code, with
/// the same results as `facts_any`, which uses Zydis.
bool facts_common(const Instruction& in, ModelFacts& out);
ModelFacts facts_any(const Instruction& in);

}  // namespace tally::engine::instrument
