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
  u8 length;     // 0: not read yet
  Kind kind;
  bool follows;           // an executed instruction ends before it and continues here
  bool begins;            // it begins a block
  bool leads_by_pointer;  // it jumps or calls by a pointer at a fixed address, whose edge is known

  bool falls_through() const { return kind == Kind::plain; }  // only to the next instruction
  bool calls() const { return kind == Kind::call || kind == Kind::call_indirect; }
  u64 next() const { return pc + length; }
  u64 target() const { return next() + static_cast<u64>(static_cast<s64>(distance)); }
};

/// Addresses of executed instructions: a bit for each byte of their pages, so that the number of an address is the
/// number of bits before it.
class ExecutedAddresses {
 public:
  /// Room for instructions in this number of pages. False without memory.
  bool init(u32 pages) {
    limit_ = pages;
    size_ = last_ = 0;
    mask_ = 63;
    while (mask_ < 2 * pages) mask_ = 2 * mask_ + 1;
    return slots_.init(mask_ + 1) && pages_.init(pages) && order_.init(pages);
  }
  /// False without room.
  bool add(u64 pc) {
    if (pages_[last_].number != pc / page_bytes || size_ == 0) {
      u32& slot = slots_[slot_of(pc / page_bytes)];
      if (slot == 0 && size_ == limit_) return false;
      if (slot == 0) {
        pages_[size_].number = pc / page_bytes;
        slot = ++size_;
      }
      last_ = slot - 1;
    }
    pages_[last_].begins[word_of(pc)] |= u64{1} << pc % 64;
    return true;
  }
  /// Called after the last add(): numbers the addresses in their order, and returns how many there are.
  u32 number() {
    sort_numbers(order_, size_, [this](u32 a, u32 b) { return pages_[a].number < pages_[b].number; });
    u32 count = 0;
    for (u32 i = 0; i < size_; i++) {
      Page& page = pages_[order_[i]];
      for (u32 word = 0; word < words; word++) {
        page.before[word] = count;
        count += bits_in(page.begins[word]);
      }
    }
    return count;
  }
  /// Calls `each(pc)` with all addresses, in order.
  template <class Each>
  void each(Each&& each) const {
    for (u32 i = 0; i < size_; i++) {
      const Page& page = pages_[order_[i]];
      for (u32 word = 0; word < words; word++)
        for (u64 left = page.begins[word]; left != 0; left &= left - 1)
          each(page.number * page_bytes + word * 64 + static_cast<u32>(__builtin_ctzll(left)));
    }
  }
  /// Returns 1 + the number of an address; 0 if no instruction ran there.
  u32 find(u64 pc) const {
    const u32 slot = slots_[slot_of(pc / page_bytes)];
    if (slot == 0) return 0;
    const Page& page = pages_[slot - 1];
    const u64 begins = page.begins[word_of(pc)], bit = u64{1} << pc % 64;
    return (begins & bit) == 0 ? 0 : page.before[word_of(pc)] + bits_in(begins & (bit - 1)) + 1;
  }

 private:
  static constexpr u32 words = page_bytes / 64;
  struct Page {
    u64 number;
    u64 begins[words];
    u32 before[words];  // addresses before those of each word
  };

  static u32 word_of(u64 pc) { return static_cast<u32>(pc % page_bytes / 64); }
  static u32 bits_in(u64 word) {
    word -= word >> 1 & 0x5555'5555'5555'5555;
    word = (word & 0x3333'3333'3333'3333) + (word >> 2 & 0x3333'3333'3333'3333);
    return static_cast<u32>(((word + (word >> 4)) & 0x0f0f'0f0f'0f0f'0f0f) * 0x0101'0101'0101'0101 >> 56);
  }
  u32 slot_of(u64 number) const {
    u32 i = channel::hash32(number) & mask_;
    while (slots_[i] != 0 && pages_[slots_[i] - 1].number != number) i = (i + 1) & mask_;
    return i;
  }

  Scratch<u32> slots_;  // 1 + a page's index; 0: free
  Scratch<Page> pages_;
  Scratch<u32> order_;  // of pages, by address
  u32 mask_ = 0, limit_ = 0, size_ = 0, last_ = 0;
};

/// Instructions in order of their addresses.
class Steps {
 public:
  /// `each_address(add)` calls `add(pc)` with each executed instruction. Returns false without memory.
  template <class EachAddress>
  bool init(EachAddress&& each_address) {
    bool has_room = false;
    for (u32 pages = 1024; !has_room; pages *= 4) {
      if (!addresses_.init(pages)) return false;
      has_room = true;
      each_address([&](u64 pc) { has_room = has_room && addresses_.add(pc); });
    }
    size_ = addresses_.number();
    if (!steps_.init(size_ + 1)) return false;
    u32 i = 0;
    addresses_.each([&](u64 pc) { steps_[i++].pc = pc; });
    return true;
  }
  u32 size() const { return size_; }
  Step& operator[](u32 i) const { return steps_[i]; }
  u32 number_of(const Step& step) const { return static_cast<u32>(&step - &steps_[0]); }

  /// Returns the instruction after this one in memory; null if it did not run.
  Step* after(const Step& step) const {
    u32 i = number_of(step) + 1;
    while (i < size_ && steps_[i].pc < step.next()) i++;  // an instruction may begin after a prefix of this one
    return i < size_ && steps_[i].pc == step.next() ? &steps_[i] : nullptr;
  }

  /// Returns null if nothing ran there.
  Step* find(u64 pc) const {
    const u32 found = addresses_.find(pc);
    return found == 0 ? nullptr : &steps_[found - 1];
  }
  /// The same for an instruction that mostly is the one after `before`, which may be null.
  Step* find_after(const Step* before, u64 pc) const {
    if (before != nullptr && before + 1 < &steps_[size_] && before[1].pc == pc) return const_cast<Step*>(before + 1);
    return find(pc);
  }

  /// Reads what is not known from traces.
  void read() {
    for (u32 i = 0; i < size_; i++)
      if (steps_[i].length == 0) read(steps_[i]);
  }

 private:
  void read(Step& step) {
    Instruction in;
    bool readable = false;
    if (!read_instruction(bytes_, step.pc, in, readable)) return;
    step.length = in.length;
    step.distance = is_branch(in.kind) ? static_cast<s32>(in.immediate) : 0;
    step.kind = in.kind;
  }

  Code bytes_;
  ExecutedAddresses addresses_;
  Scratch<Step> steps_;
  u32 size_ = 0;
};

}  // namespace tally::engine::instrument
