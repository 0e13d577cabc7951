/// The instructions that a process executed, for the core model.
#pragma once
#include "tally/engine/channel/hash.hpp"
#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::instrument {

/// An executed instruction. There are many: 40 bytes.
struct Step {
  u64 pc;
  u64 executions;
  u64 entered;  // by traces that begin here, except after one that ended only because of its length; may wrap meanwhile
  s32 distance;  // from its end to its target if it is a conditional branch
  u32 block;     // its block, once that exists
  u8 length;
  Kind kind;
  bool follows;           // an executed instruction ends before it and continues here
  bool begins;            // it begins a block
  bool leads_by_pointer;  // it jumps or calls by a pointer at a fixed address, whose edge is known

  bool falls_through() const { return kind == Kind::plain; }  // only to the next instruction
  bool calls() const { return kind == Kind::call || kind == Kind::call_indirect; }
  u64 next() const { return pc + length; }
  u64 target() const { return next() + static_cast<u64>(static_cast<s64>(distance)); }
};

/// Instructions by address. Open addressing, in a table with room for each place of all traces; most instructions are
/// in several.
class Steps {
 public:
  bool init(u32 limit) {
    u32 size = 64;
    while (size <= limit) size *= 2;
    mask_ = size - 1;
    return slots_.init(size) && steps_.init(limit + 1);
  }
  u32 size() const { return size_; }
  Step& operator[](u32 i) const { return steps_[i]; }
  u32 number_of(const Step& step) const { return static_cast<u32>(&step - &steps_[0]); }

  /// Returns the instruction after this one in memory; null if it did not run. Mostly it was added next.
  Step* after(const Step& step) const {
    Step* const added_next = const_cast<Step*>(&step) + 1;
    return added_next->pc == step.next() && number_of(step) + 1 < size_ ? added_next : find(step.next());
  }

  void prefetch(u64 pc) const { __builtin_prefetch(&slots_[slot_before(pc)]); }

  /// Returns null if nothing ran there.
  Step* find(u64 pc) const {
    const u32 found = static_cast<u32>(slots_[slot_of(pc)]);
    return found == 0 ? nullptr : &steps_[found - 1];
  }
  Step& add(u64 pc) {
    u64& slot = slots_[slot_of(pc)];
    if (slot == 0) {
      slot = pc << 32 | ++size_;
      read(steps_[size_ - 1], pc);
    }
    return steps_[static_cast<u32>(slot) - 1];
  }

 private:
  u32 slot_before(u64 pc) const { return (channel::hash32(pc >> 6) << 5 | static_cast<u32>(pc >> 1 & 31)) & mask_; }
  /// Neighbouring instructions have neighbouring slots, because they are used one after the other.
  u32 slot_of(u64 pc) const {
    u32 i = slot_before(pc);
    while (slots_[i] != 0 && !is_slot_of(slots_[i], pc)) i = (i + 1) & mask_;
    return i;
  }

  bool is_slot_of(u64 slot, u64 pc) const {
    return slot >> 32 == (pc & ~u32{0}) && steps_[static_cast<u32>(slot) - 1].pc == pc;
  }

  void read(Step& step, u64 pc) {
    step.pc = pc;
    Instruction in;
    bool readable = false;
    if (!read_instruction(bytes_, pc, in, readable)) return;
    step.length = in.length;
    step.distance = is_branch(in.kind) ? static_cast<s32>(in.immediate) : 0;
    step.kind = in.kind;
  }

  Code bytes_;
  Scratch<u64> slots_;  // index of the slot's step + 1, and the low half of its address; 0: free
  Scratch<Step> steps_;
  u32 mask_ = 0, size_ = 0;
};

}  // namespace tally::engine::instrument
