/// The events that the programs of the tree have opened (channel::PmuTable), and what they count of each thread.
///
/// All processes have the table in their memory. A lock of the whole tree protects it: PmuGuard. Where a comment does
/// not say otherwise, the caller holds it.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

using channel::PmuCounting;
using channel::PmuOpenEvent;

/// Whether a program of the tree has an open event. Needs no lock.
inline bool pmu_is_used() { return __atomic_load_n(&records().header().pmu_events, __ATOMIC_ACQUIRE) != 0; }
/// Maps the table into this process. Returns false without memory. Needs no lock.
bool map_pmu_table();
channel::PmuTable& pmu_table();
inline PmuOpenEvent& pmu_event(u32 event) { return pmu_table().event[event]; }

/// Whether the process of a thread has ended, or was killed. Needs no lock.
bool has_ended(u32 thread);
/// Maps the table if that has not happened yet, and holds its lock. A process can be killed while it holds the lock:
/// then another one takes the lock over after 5 ms.
void lock_pmu_table();
void unlock_pmu_table();
struct PmuGuard {
  PmuGuard() { lock_pmu_table(); }
  ~PmuGuard() { unlock_pmu_table(); }
  PmuGuard(const PmuGuard&) = delete;
  PmuGuard& operator=(const PmuGuard&) = delete;
};

/// Calls `f` with the leader of a group and then with the others, in the order in which they were opened.
template <class F>
void for_group(u32 leader, F f) {
  for (u32 at = leader; at != 0; at = pmu_event(at).next_member) f(pmu_event(at));
}

/// Calls `f` with the index of each thing that an event counts. It may remove that one.
template <class F>
void for_countings(const PmuOpenEvent& e, F f) {
  for (u32 at = e.countings, next = 0; at != 0; at = next) {
    next = pmu_table().counting[at].next_of_event;
    f(at, pmu_table().counting[at]);
  }
}
/// The same for what events count of a thread.
template <class F>
void for_countings_of(u32 thread, F f) {
  for (u32 at = pmu_table().of_thread[thread], next = 0; at != 0; at = next) {
    next = pmu_table().counting[at].next_of_thread;
    f(at, pmu_table().counting[at]);
  }
}

/// Instructions that a thread executes between two stops near a sample of a modelled event, at most.
inline constexpr u64 short_run = 4096;

/// What threads have executed: each is read once.
class PmuValues {
 public:
  /// `with_times`: without, the processor times stay those of the last update.
  explicit PmuValues(bool with_times = true) : with_times_(with_times) {}
  struct Values {
    channel::CountedValues counted;
    u64 ns;           // processor time; 0: not known
    bool has_models;  // and cycles
    s64 classes[channel::cycle_class_count];
  };
  /// `modelled`: with the models, if can_read_models().
  const Values& of(u32 thread, bool modelled);

 private:
  static constexpr u32 limit = 8;
  bool with_times_;
  Values values_[limit];
  u32 thread_[limit] = {};
  u32 next_ = 0;
};

/// Returns a thread of this memory; null: it is another process's. Needs no lock.
Thread* thread_here(u32 thread);
/// Whether what the models have counted of a thread of this memory can be read: it is the caller, or does not run.
bool can_read_models(const Thread* t);
/// Whether the event counts this thread now: it and its leader are switched on for it.
bool is_counting(const PmuOpenEvent& e, const PmuCounting& c);

/// Adds an event, alone in its group, with one holder. Returns 0 without memory.
u32 add_pmu_event(u64 identity);
u32 find_pmu_event(u64 identity);
/// Removes an event that is alone in its group.
void remove_pmu_event(u32 event);
void join_group(u32 event, u32 leader);
void leave_group(u32 event);

/// Adds what an event counts of a thread, after move_counting(). Returns 0 without memory: then its count is lost.
u32 add_counting(u32 event);
/// Whether a thread may run on a processor. Only a thread that may run on no other one can be counted there: what it
/// executes between two system calls is not divided among processors.
enum class Residence { here, elsewhere, both };
Residence residence_of(u32 thread, s32 cpu);
/// Notes that a thread may run on other processors from now on. Its events are up to date.
void follow_residence(u32 thread);
/// Counts the calling thread, up to the next overflow, by those events with samples that are of the processor on which
/// it is. Its events are up to date.
void follow_processor(const Thread* t);

/// Ends it: the event has its count.
void end_counting_of(u32 counting);
/// From now on it counts another thread. The event is lost if it is on and what that has executed is not known.
void move_counting(u32 counting, u32 thread, PmuValues& values);

/// Whether a thread of this memory other than `t` must be stopped before update_event().
bool needs_others_held(const Thread* t, u32 event);

/// Why counts are brought up to date.
enum class Update {
  to_read,    ///< or because the thread ends
  to_change,  ///< it is to be switched on, off or to zero
};
/// Brings the counts of an event up to date. Returns false if that needs to be known what a thread has executed, and it
/// is not.
bool update_event(u32 event, PmuValues& values, Update why);
bool update_counting(u32 counting, PmuValues& values, Update why = Update::to_read);

/// What the event's counter contains for this thread, whose count is the counter plus the result of counter_offset().
s64 counter_of(u32 counting, PmuValues& values);
/// Returns nanoseconds of a clock of clock_gettime(2); 0 if it cannot be read.
u64 read_clock(u64 clock);
/// Whether rdpmc can read the event: not one of a model.
bool has_counter(const PmuOpenEvent& e);
/// As of the last update. Returns false if the event does not count the thread now, or not by a counter.
bool counter_offset(u32 event, u32 thread, s64& offset);

/// The sums of what an event counts, as of its last update.
s64 count_of(const PmuOpenEvent& e);
u64 enabled_ns_of(const PmuOpenEvent& e);

}  // namespace tally::engine::guest
