/// Reads program code for translation, and finds the cheapest position to count a segment.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Buffers program code that was read.
class Code {
 public:
  /// Returns the bytes at pc: at least 15 if the program has them. Returns null if pc cannot be executed.
  const u8* at(u64 pc, u32& available);

  /// Starts watching the memory of the instruction at `pc`. Called before it is read. Returns true if it cannot be
  /// watched, so that it must be compared.
  bool watch(u64 pc) {
    const u64 last = (pc + 14) / page_bytes;
    if (pc / page_bytes == watched_ && last == watched_) return compared_;
    compared_ = watch_page(pc);
    if (last != pc / page_bytes) compared_ |= watch_page(pc + 14);
    watched_ = pc / page_bytes;
    return compared_;
  }

  /// The trace that relies on the code read here, and is dropped if that changes.
  void relied_on_by(u32 trace) { trace_ = trace; }
  void rely_on(const Instruction& in) {
    tables.traces[trace_].looked_ahead = true;
    register_instruction(in);
  }
  void rely_on_pointer(u64 address) {
    tables.traces[trace_].looked_ahead = true;
    register_code(trace_, address, 8);
  }
  void register_instruction(const Instruction& in);

 private:
  u32 trace_ = 0;
  u64 watched_ = ~u64{0};
  bool compared_ = false;
  u64 start_ = ~u64{0}, valid_ = 0;
  u8 bytes_[128 + 16];  // 16 bytes are readable at every instruction
};

/// Reads the instruction at `pc`. Returns false if it cannot be copied; `out` then says what to do instead.
bool read_instruction(Code& code, u64 pc, Instruction& out, bool& readable);

/// Whether the instruction is serializing: the processor then executes code as others have written it. A trace ends
/// there, because the following code may have changed.
bool serializes(const Instruction& in);

inline bool far_away(u64 pc, u64 target) { return !fits32(static_cast<s64>(target - pc)); }

/// All arithmetic flags: counter_flags and the carry.
inline constexpr u16 every_flag = counter_flags | carry;
/// The flags that an instruction needs, and those that it always overwrites. Errs on the safe side.
u16 flags_read(const Instruction& in);
u16 flags_written(const Instruction& in);
/// Whether the program, from `pc` on, overwrites all flags of `mask` before it reads one. Reads a few instructions, and
/// both paths of up to `branches` branches.
bool flags_dead(Code& ahead, u64 pc, u16 mask, int branches = 1);

/// Whether an indirect branch reads its target from read-only memory, like a jump from a procedure linkage table to a
/// library, so that it can become a direct branch. Returns the target.
bool is_resolved(const Instruction& in, const Arena& arena, u64& target);
/// Makes such a branch direct. The trace then relies on the pointer.
void resolve(Code& code, Instruction& in, const Arena& arena);

/// Chooses where and how to count the `n` instructions at `in`, which continue at `next`. Reads the code after them.
Increment choose_increment(Code& ahead, const Instruction* in, u32 n, u64 next);

}  // namespace tally::engine::translate
