/// What the counters say of branches.
#pragma once
#include <sys/mman.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::translate {

inline bool is_branch(Kind k) { return k == Kind::jcc || k == Kind::loop; }

/// Zeros, for as long as it lives.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (data_ != nullptr) unreserve(reinterpret_cast<u64>(data_), bytes_);
  }
  /// False without memory.
  bool init(u32 n) {
    bytes_ = page_up(n * sizeof(T));
    data_ = reinterpret_cast<T*>(try_reserve(bytes_, PROT_READ | PROT_WRITE));
    return data_ != nullptr;
  }
  T& operator[](u32 i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  u64 bytes_ = 0;
};

/// How often segments ran, by all threads of the process of `t` that still have counters. Added up once: a look at each
/// of many counters of each of many threads takes long.
class Executions {
 public:
  /// False without memory. Wants threads_lock.
  bool init(const Thread* t);
  u64 operator[](u32 number) const { return counters_[number]; }

 private:
  void add(Thread* t, u32 numbers);

  Scratch<u64> sums_;
  const u64* counters_ = nullptr;
};

/// Where the branches of this process went. Open addressing; always one free place at least.
class Profile {
 public:
  struct Branch {
    u64 pc, taken, passed;
  };

  /// For up to `n` branches. False without memory.
  bool init(u32 n) {
    u32 size = 64;
    while (size < 2 * n) size *= 2;
    mask_ = size - 1;
    return branches_.init(size);
  }
  void note(u64 pc, u64 taken, u64 passed) {
    Branch& b = find(pc);
    if (b.pc == 0 && used_ == mask_) return;  // other threads go on counting: there may be more than was thought
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

/// What counters say of one trace. `Counter`: gives the executions of the segment with a number.
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

  /// Calls `each(place, reached, taken, passed)` with every Place: how often it was reached, and where it is a
  /// conditional branch, how often it went either way. Not with those of exits, off the trace's way.
  template <class Each>
  void places(Each&& each) const {
    u64 reached = entered_;
    u32 segment = 0;
    for (u32 i = 0; i < trace_.place_count; i++) {
      const Place& p = trace_.places[i];
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

  /// Calls `each(branch, taken, passed)` with the Place of every conditional branch.
  template <class Each>
  void branches(Each&& each) const {
    places([&](const Place& p, u64, u64 taken, u64 passed) {
      if (is_branch(p.kind)) each(p, taken, passed);
    });
  }

  /// Whether it was left early more often than not.
  bool is_mistaken() const {
    bool mistaken = false;
    branches(
        [&](const Place& p, u64 taken, u64 passed) { mistaken |= p.falls_through ? taken > passed : passed > taken; });
    return mistaken;
  }

 private:
  /// Counters are not read at one moment.
  static u64 difference(u64 a, u64 b) { return a > b ? a - b : 0; }

  Counter counter_;
  const Trace& trace_;
  u64 entered_;
};

}  // namespace tally::engine::translate
