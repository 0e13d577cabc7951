/// What must be known of an instruction before looks can be woven around it.
#pragma once
#include "tally/engine/instrument/models.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// One access of an instruction that is known when it is translated.
struct DataAccess {
  Ask what;
  u32 bytes;
  u8 base, index, scale;  // registers or no_register; log2
  bool fixed, fs, low;    // `displacement` is the address; from FS; by the low halves of the registers
  s64 displacement;
};

/// Whose accesses are found out when it runs.
enum class Pattern : u8 {
  none,
  elements,  // gather, scatter
  masked,    // a move by a mask
  table,     // xlat
  bits,      // bt and its like with a bit's number in a register
  frames,    // enter with a level
  state,     // xsave and its like, xrstor
  line,      // clzero
};

/// Such an instruction: which registers its accesses depend on, and how.
struct ElementAccesses {
  Pattern pattern;
  bool stores, modifies;
  bool by_k, narrow;  // a mask register, which holds 16 bits at most; else the signs of a vector
  bool old_vector;    // an SSE register
  u8 vector, mask;
  u8 level;  // of enter
  u8 header,
      choice;  // of state: bytes of its header that are accessed; an instruction that leaves out what is not in use
  bool compact;
  models::Elements elements;
  u16 word;  // of the record on the tape; 0: none
};

/// What must be known of an instruction to weave.
struct ModelFacts {
  DataAccess access[4];
  u8 accesses;
  bool known;  // else nothing is looked at, and no register borrowed
  bool touches_flags;
  u16 registers;              // that it names, openly or not
  u16 live;                   // flags that are needed from before it on
  models::Repeat repeat;      // bytes 0: none
  ElementAccesses scattered;  // its address is access[0], which is not one of `accesses`
  u8 unstable;                // which of its sites are, a bit for each: sites.hpp
};

ModelFacts facts_of(const Instruction& in);

/// The two halves of it: `facts_common` knows the forms that make up nearly all of compiled code, and what it says is
/// what `facts_any`, by Zydis, says of the same instruction.
bool facts_common(const Instruction& in, ModelFacts& out);
ModelFacts facts_any(const Instruction& in);

}  // namespace tally::engine::instrument
