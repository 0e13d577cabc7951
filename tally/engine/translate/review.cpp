#include "tally/engine/translate/review.hpp"

#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/execution_counts.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/recorder.hpp"
#include "tally/engine/translate/reoptimize.hpp"

namespace tally::engine::translate {
namespace {

/// The minimum number of executions of a hot trace: reoptimizing it costs as much as some thousand increments.
constexpr u64 hot_executions = 4096;
/// Limits how often a trace is reoptimized if the program's path or its accesses' cache lines keep changing.
u8 generation_limit() { return instrumentation->depends_on_accesses() ? 12 : 3; }

/// Whether a reoptimized trace replaces the old one in the running program, whether it is stored or not.
bool replaces_at_once() { return is_instrumented || is_probed || counts_down(); }

u64 hot_from() { return settings().hot_from != 0 ? settings().hot_from : hot_executions; }

auto counter_of(const Executions& executions) {
  return [&executions](u32 number) { return executions[number]; };
}

/// Evaluates all counters of a process.
class Review {
 public:
  explicit Review(const Thread* t) : thread_(t) {}

  /// Whether there is anything to reoptimize. Usually not: this check is the whole cost in later runs of a program.
  bool begin() {
    Guard guard(threads_lock);
    if (!list_.init(tables.traces.size) || !executions_.init(thread_)) return false;
    if (instrumentation->depends_on_accesses()) instrumentation->count_accesses();
    each_trace(hot_from(), [&](Trace& trace) { consider(trace); });
    if (size_ == 0) return false;
    const u64 warm = hot_from() / 16 + 1;
    u32 branches = 0;
    each_trace(warm, [&](Trace& trace) { branches += trace.segment_count; });
    if (!profile_.init(branches)) return false;
    each_trace(warm, [&](Trace& trace) {
      History(counter_of(executions_), trace).branches([&](const InstructionMapping& p, u64 taken, u64 passed) {
        profile_.note(trace.pc + static_cast<u64>(static_cast<s64>(p.pc)), taken, passed);
      });
    });
    return true;
  }

  void reoptimize_hot() {
    // So that the new traces do not link to the old ones.
    for (u32 i = 0; i < size_; i++) mark_dead(*list_[i].trace);
    for (u32 i = 0; i < size_; i++)
      supersede(*list_[i].trace,
                reoptimize(profile_, *list_[i].trace, list_[i].entered, list_[i].generation, list_[i].by_jump));
    replace_dead_jumps();
  }

 private:
  struct HotTrace {
    Trace* trace;
    u8 generation;
    bool by_jump;
    u64 entered;
  };

  /// Calls `each` with the traces that have a segment with `least` executions. Scans the counters, which are adjacent.
  template <class Each>
  void each_trace(u64 least, Each&& each) {
    u32 last = 0;
    for (u32 number = channel::first_segment; number < segment_limit_so_far(); number++) {
      if (executions_[number] < least) continue;
      const u32 found = trace_of(number);
      Trace& trace = tables.traces[found];
      if (found != last && (trace.use != 0 || replaces_at_once()) && !trace.dead &&
          number - trace.number < trace.segment_count)
        each(trace);
      last = found;
    }
  }

  void consider(Trace& trace) {
    if (probes->begins_at(trace.pc) || trace.gate != 0 || trace.compared != 0 || trace.steps ||
        (trace.check != 0 && !is_instrumented))
      return;
    PersistentCache::Used known{};
    const bool is_known = trace.use != 0 && persistent_cache->used(trace.use, known);
    if (!is_known && !replaces_at_once()) return;
    const u8 generation = known.generation > trace.generation ? known.generation : trace.generation;
    if (generation == generation_limit()) return;
    const History history(counter_of(executions_), trace);
    if (history.entered() < hot_from()) return;
    if (generation == 0 || history.is_mistaken() || is_unstable(trace, history.entered()))
      list_[size_++] = {&trace, generation, known.by_jump, history.entered()};
  }

  /// Whether one of its accesses has another outcome than when the trace was created.
  static bool is_unstable(const Trace& trace, u64 entered) {
    for (u32 i = 0; instrumentation->depends_on_accesses() && i < trace.place_count; i++) {
      const InstructionMapping& p = trace.places[i];
      if (p.kind != Kind::end &&
          instrumentation->is_out_of_date(trace.pc + static_cast<u64>(static_cast<s64>(p.pc)), entered))
        return true;
    }
    return false;
  }

  const Thread* thread_;
  Executions executions_;
  Profile profile_;
  Scratch<HotTrace> list_;
  u32 size_ = 0;
};

void review_once(Thread* t) {
  Guard guard(cache_lock);
  if (cache_is_damaged() || (!persistent_cache->is_written() && !replaces_at_once())) return;
  Review review(t);
  if (review.begin()) review.reoptimize_hot();
}

u64 own_processor_ns() {
  u64 time[2] = {};
  kernel(SYS_clock_gettime, 3 /* CLOCK_THREAD_CPUTIME_ID */, reinterpret_cast<u64>(time));
  return time[0] * 1'000'000'000 + time[1];
}

/// Watches frequently written pages again, and replaces dead targets of indirect jumps, whose
/// targets have been stable for a while.
void settle_code(u64 now_ns) {
  static u64 next_ns = 20'000'000;
  if (now_ns < __atomic_load_n(&next_ns, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&next_ns, 2 * now_ns, __ATOMIC_RELAXED);
  Guard guard(cache_lock);
  if (cache_is_damaged()) return;
  watch_again();
  replace_dead_jumps();
}

}  // namespace

void review_at_end(Thread* t) {
  if (persistent_cache->is_written() && persistent_cache->keeps_any())
    review_once(t);  // its results are for the next run
}

void review_at_times(Thread* t) {
  // At 20, 40, 80 … ms of processor time, more often with access sites, or as tests request. Not all programs may read
  // the time-stamp counter, so every 64th system call queries the kernel.
  static u32 calls;
  static u64 next_ns = 20'000'000;
  if (t->vfork_child != 0 || (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) & 63) != 0) return;
  if (settings().hot_from != 0) return review_once(t);
  const u64 now_ns = processor_ns();
  settle_code(now_ns);
  if (now_ns < __atomic_load_n(&next_ns, __ATOMIC_RELAXED)) return;
  // The outcomes of accesses change more often than those of branches. A review takes about a millisecond (sqlite3).
  const u64 pause_ns = !instrumentation->depends_on_accesses() ? now_ns
                       : now_ns < 400'000'000                  ? now_ns / 4
                                                               : 100'000'000;
  __atomic_store_n(&next_ns, now_ns + pause_ns, __ATOMIC_RELAXED);
  const u64 begun_ns = own_processor_ns();
  review_once(t);
  // Or more, with much code and many threads that ran it: a review takes at most one twentieth of the time.
  constexpr u64 share = 20;
  const u64 longer_ns = (own_processor_ns() - begun_ns) * share;
  if (longer_ns > pause_ns) __atomic_store_n(&next_ns, now_ns + longer_ns, __ATOMIC_RELAXED);
}

}  // namespace tally::engine::translate
