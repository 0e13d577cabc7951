/// Branch and execution counts from the segment counters.
#pragma once
#include <sys/mman.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

inline bool is_branch(Kind k) { return k == Kind::jcc || k == Kind::loop; }

/// A zeroed array, freed at the end of its lifetime. It may have more elements than will be used: those at its begin.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }
  /// Releases earlier elements. Returns false if no memory is available.
  bool init(u32 n) {
    release();
    constexpr u64 huge_bytes = 2 << 20;
    bytes_ = page_up(n * sizeof(T));
    if (bytes_ > huge_bytes) bytes_ += huge_bytes;  // grow_from() does not begin at its begin
    reserved_ = try_reserve(bytes_, PROT_READ | PROT_WRITE);
    if (reserved_ != 0) data_ = reinterpret_cast<T*>(grow_from(reserved_, reserved_ + bytes_, true));
    return reserved_ != 0;
  }
  T& operator[](u32 i) const { return data_[i]; }

 private:
  void release() {
    if (reserved_ != 0) unreserve(reserved_, bytes_);
    reserved_ = 0;
  }

  T* data_ = nullptr;
  u64 reserved_ = 0, bytes_ = 0;
};

/// Sets order[i] to the numbers below n, sorted by `is_less(a, b)` (Shell sort).
template <class Less>
void sort_numbers(const Scratch<u32>& order, u32 n, Less&& is_less) {
  for (u32 i = 0; i < n; i++) order[i] = i;
  for (u32 gap = n / 2; gap != 0; gap /= 2) {
    for (u32 i = gap; i < n; i++) {
      const u32 moved = order[i];
      u32 to = i;
      for (; to >= gap && is_less(moved, order[to - gap]); to -= gap) order[to] = order[to - gap];
      order[to] = moved;
    }
  }
}

/// Keeps the counters of a thread that ends while its process continues, for Executions. The caller must hold
/// threads_lock.
void keep_executions(Thread* t);
/// Segment numbers start again, or the process is new. The caller must hold threads_lock.
void forget_executions();

/// How often segments were executed, summed over all threads of the process of `t`, including ended ones. Summed once,
/// because reading each counter of each thread takes long.
class Executions {
 public:
  /// Returns false if no memory is available. The caller must hold threads_lock.
  bool init(const Thread* t);
  u64 operator[](u32 number) const { return counters_[number]; }

 private:
  Scratch<u64> sums_;
  const u64* counters_ = nullptr;
};

/// How often each branch of this process was taken. Open addressing; at least one entry is always free.
class Profile {
 public:
  struct Branch {
    u64 pc, taken, passed;
  };

  /// Reserves room for `n` branches. Returns false if no memory is available.
  bool init(u32 n) {
    u32 size = 64;
    while (size < 2 * n) size *= 2;
    mask_ = size - 1;
    return branches_.init(size);
  }
  void note(u64 pc, u64 taken, u64 passed) {
    Branch& b = find(pc);
    if (b.pc == 0 && used_ == mask_) return;  // other threads continue to count, so more branches may appear
    used_ += b.pc == 0;
    b.pc = pc;
    b.taken += taken;
    b.passed += passed;
  }
  Branch& find(u64 pc) const {
    u32 i = channel::hash32(pc) & mask_;
    while (branches_[i].pc != 0 && branches_[i].pc != pc) i = (i + 1) & mask_;
    return branches_[i];
  }

 private:
  Scratch<Branch> branches_;
  u32 mask_ = 0, used_ = 0;
};

/// Evaluates the counters of one trace. `Counter` returns the executions of a segment by its number.
template <class Counter>
class History {
 public:
  History(Counter counter, const Trace& trace) : counter_(counter), trace_(trace) {
    entered_ = counter_(trace.number);
    if (!counts_exits(trace)) return;
    for (u32 i = 1; i < trace.segment_count; i++)
      if (trace.segments[i].counted < trace.segments[0].counted) entered_ += counter_(trace.number + i);
  }

  u64 entered() const { return entered_; }

  /// Calls `each(place, reached, taken, passed)` with every place: how often it was reached, and for a conditional
  /// branch, how often it was taken and not taken. Skips the places of exits.
  template <class Each>
  void places(Each&& each) const {
    u64 reached = entered_;
    u32 segment = 0;
    for (u32 i = 0; i < trace_.place_count; i++) {
      const InstructionMapping& p = trace_.places[i];
      if (counts_exits(trace_) && p.segment != 0) break;
      if (!is_branch(p.kind)) {
        each(p, reached, u64{0}, u64{0});
        continue;
      }
      segment++;
      const u64 next = counter_(trace_.number + segment);
      const u64 other = difference(reached, next);
      const bool next_is_passed = !counts_exits(trace_) || !p.falls_through;
      each(p, reached, next_is_passed ? other : next, next_is_passed ? next : other);
      reached = counts_exits(trace_) ? other : next;
    }
  }

  /// Calls `each(branch, taken, passed)` with the place of every conditional branch.
  template <class Each>
  void branches(Each&& each) const {
    places([&](const InstructionMapping& p, u64, u64 taken, u64 passed) {
      if (is_branch(p.kind)) each(p, taken, passed);
    });
  }

  /// Whether most executions left the trace early.
  bool is_mistaken() const {
    bool mistaken = false;
    branches([&](const InstructionMapping& p, u64 taken, u64 passed) {
      mistaken |= p.falls_through ? taken > passed : passed > taken;
    });
    return mistaken;
  }

 private:
  /// The counters are not all read at the same time.
  static u64 difference(u64 a, u64 b) { return a > b ? a - b : 0; }

  Counter counter_;
  const Trace& trace_;
  u64 entered_;
};

}  // namespace tally::engine::translate
