/// Reads program code for translation, and finds in it where a segment is counted most cheaply.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// A window of program code that has been read.
class Code {
 public:
  /// Bytes at pc: at least 15 where the program has them. Null when pc cannot be executed.
  const u8* at(u64 pc, u32& available);

  /// Writes to where an instruction at `pc` lies will be noticed from now on. Called before it is read. True: they will
  /// not be, the instruction is to be compared.
  bool watch(u64 pc) {
    const u64 last = (pc + 14) / page_bytes;
    if (pc / page_bytes == watched_ && last == watched_) return compared_;
    compared_ = watch_page(pc);
    if (last != pc / page_bytes) compared_ |= watch_page(pc + 14);
    watched_ = pc / page_bytes;
    return compared_;
  }

  /// A trace relies on what is read here: it goes when that changes.
  void relied_on_by(u32 trace) { trace_ = trace; }
  void rely_on(const Instruction& in) {
    tables.traces[trace_].looked_ahead = true;
    register_instruction(in);
  }
  void rely_on_pointer(u64 address) {
    tables.traces[trace_].looked_ahead = true;
    register_page(trace_, address);  // and with the next page, where it crosses to it: see invalidate
  }
  void register_instruction(const Instruction& in);

 private:
  u32 trace_ = 0;
  u64 registered_ = 0;  // the page that is known to hold code of the trace
  u64 watched_ = ~u64{0};
  bool compared_ = false;
  u64 start_ = 1, valid_ = 0;
  u8 bytes_[128 + 16];  // 16 can be read at every instruction
};

/// The instruction at `pc`; false where there is none that can be copied: then `out` says what is to be done instead.
bool read_instruction(Code& code, u64 pc, Instruction& out, bool& readable);

/// After these the processor runs what others wrote before: a trace ends, since what follows may have changed
/// meanwhile.
bool serializes(const Instruction& in);

/// The trap that it may cause comes after the next instruction, which must be found then: it is in the same trace.
inline bool is_popf(const Instruction& in) { return in.legacy && in.map == Map::one_byte && in.opcode == popf_opcode; }

inline bool far_away(u64 pc, u64 target) { return !fits32(static_cast<s64>(target - pc)); }

/// All arithmetic flags: counter_flags and the carry.
inline constexpr u16 every_flag = counter_flags | carry;
/// What an instruction needs of them, what it overwrites whatever happens. Wide of the mark on the safe side.
u16 flags_read(const Instruction& in);
u16 flags_written(const Instruction& in);
/// Whether the program overwrites all flags of `mask` from `pc` on before it reads one. Looks at a few instructions,
/// after so many branches to both sides.
bool flags_dead(Code& ahead, u64 pc, u16 mask, int branches = 1);

/// Whether the target of an indirect branch stands in memory that is only read, as that of a jump from a procedure
/// linkage table to a library, and can be led to directly.
bool is_resolved(const Instruction& in, const Arena& arena, u64& target);
/// Such a branch becomes a direct one; the trace relies on the pointer.
void resolve(Code& code, Instruction& in, const Arena& arena);

/// Where and how the `n` instructions at `in`, which go on at `next`, are counted. Reads ahead of them.
Increment choose_increment(Code& ahead, const Instruction* in, u32 n, u64 next);

}  // namespace tally::engine::translate
