#include "tally/engine/guest/pmu_overflows.hpp"

#include "tally/engine/context.hpp"
#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/pending.hpp"
#include "tally/engine/guest/pmu_elsewhere.hpp"
#include "tally/engine/guest/pmu_records.hpp"
#include "tally/engine/guest/pmu_rings.hpp"
#include "tally/engine/guest/pmu_wakeups.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/instrument/running_cycles.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

constexpr s64 never = static_cast<s64>(channel::window_event_limit);
constexpr u32 no_countdown = ~0u;

/// What is counted down for the events of a row: instructions for modelled ones, whose counts are computed then.
const s8* weights_of(u32 row) {
  static_assert(channel::instructions == 0);
  static constexpr s8 instructions[channel::mark_values] = {1};
  return is_modelled(settings().pmu.event[row]) ? instructions : settings().pmu.event[row].weight;
}

u32 countdown_of(u32 row) {
  for (u32 k = 0; k < own_records.countdowns; k++) {
    bool is_equal = true;
    for (u32 i = 0; i < channel::mark_fields; i++)
      is_equal = is_equal && own_records.countdown[k].weight[i] == weights_of(row)[i];
    if (is_equal) return k;
  }
  return no_countdown;
}

bool samples(const PmuOpenEvent& e) { return e.sampling.period != 0 && !e.is_kernels; }
bool is_modelled(const PmuOpenEvent& e) { return channel::is_modelled(settings().pmu.event[e.row]); }

/// Events of a countdown until the thread stops for what is counted of it.
s64 span_of(const Thread* t, const PmuOpenEvent& e, const PmuCounting& c) {
  // A thread whose events are all of other processors looks again after that many events.
  constexpr s64 looks_again = 1'000'000;
  if (!is_counting(e, c)) return c.is_elsewhere ? looks_again : never;
  if (!is_modelled(e)) return c.left;
  if (!can_read_models(t)) return 1;
  // Halfway first: what follows may have another rate than what was executed, and a sample is where the thread stops.
  // Near the end not more than code with the highest rate needs, which may be a small part of all.
  const auto at_rate = [](u64 n, u64 rate) { return n >> 40 != 0 ? static_cast<u64>(never) : (n << 16) / (rate + 1); };
  const u64 left = c.left <= 0 ? 0 : static_cast<u64>(c.left), expected = at_rate(left, c.rate);
  const u64 sixteenth = at_rate(c.period, c.rate) / 16, near_end = sixteenth < short_run ? sixteenth : short_run;
  const u64 peak = (c.peak < 32 * c.rate ? c.peak : 32 * c.rate) / 4 * 5;
  const u64 span = expected > near_end ? expected / 2 : at_rate(left, peak > c.rate ? peak : c.rate);
  return span == 0 ? 1 : static_cast<s64>(span);
}

/// What the program executes in a nanosecond of its own time, in cycles or instructions, for frequencies of modelled
/// events. Its processor time would be mostly that of the samples, which the period would follow without end.
constexpr u64 modelled_in_ns = 3;

u64 processor_time(Thread* t, const PmuOpenEvent& e) {
  const u64 in_ns = clock_is_counted() ? 1 : is_modelled(e) ? modelled_in_ns : 0;
  if (in_ns != 0) return static_cast<u64>(instrument::asked_totals(t).field[channel::instructions]) / in_ns;
  constexpr u64 of_thread = 3;
  return read_clock(of_thread);
}

/// The period for a frequency follows what was counted since the last sample, an eighth of the way, as in the kernel.
void adapt_period(Thread* t, const PmuOpenEvent& e, PmuCounting& c) {
  if (settings().pmu.event[e.row].is_cycles) {
    // Not always the same number of cycles: a program that repeats itself may take as many.
    const u64 middle = first_period(e.row, e.sampling.period);
    c.sampled_ns = c.sampled_ns * 6364136223846793005 + 1442695040888963407;
    c.period = middle - middle / 4 + (c.sampled_ns >> 33) % (middle / 2 + 1);
    return;
  }
  const u64 now_ns = processor_time(t, e), since_ns = now_ns - c.sampled_ns;
  const bool is_known = c.sampled_ns != 0 && since_ns != 0;
  c.sampled_ns = now_ns;
  if (!is_known) return;
  const u64 between_ns = 1'000'000'000 / e.sampling.period;
  const bool fits = c.period >> 32 == 0;
  const u64 wanted = fits ? c.period * between_ns / since_ns : c.period / since_ns * between_ns;
  const s64 limit = never / 2, target = wanted > static_cast<u64>(limit) ? limit : static_cast<s64>(wanted);
  const s64 difference = target - static_cast<s64>(c.period);
  const s64 period = static_cast<s64>(c.period) + (difference >= 0 ? difference + 7 : difference - 7) / 8;
  c.period = period > 0 ? static_cast<u64>(period) : 1;
}

void throttle(PmuOpenEvent& e, PmuCounting& c, bool begins) {
  c.is_throttled = begins;
  ThrottleRecord record{
      {begins ? u32{PERF_RECORD_THROTTLE} : u32{PERF_RECORD_UNTHROTTLE}, 0, sizeof record - sizeof record.sample_id},
      time_of(e),
      e.id,
      e.id,
      {}};
  add_sample_id(e, record.header);
  write_record(e, &record.header);
}

/// Lets an event pause whose signals would never let the program continue: it overflows before their handler has
/// returned, or after hardly more. The kernel throttles every event of such a period.
void throttle_signals(const Thread* t, PmuOpenEvent& e, PmuCounting& c) {
  constexpr u64 shortest_period = 16, long_period = 30'000, pause = 1'000'000;
  constexpr u32 most_crowded = 100;
  const s32 signal = has_flag(e, Flag::sigtrap) ? sigtrap : signal_of(e);
  if (signal == 0 || c.period >= long_period || !(t->handled & bit(signal))) return;
  const bool is_in_handler = t->mask >> (signal - 1) & 1;
  c.crowded += is_in_handler || c.period <= shortest_period ? 1 : c.crowded != 0 ? -1 : 0;
  if (c.crowded < most_crowded) return;
  c.crowded = 0;
  c.left += static_cast<s64>(pause / c.period * c.period);
  throttle(e, c, true);
}

void record_overflow(Thread* t, PmuCounting& c) {
  PmuOpenEvent& e = pmu_event(c.event);
  if (c.is_throttled) throttle(e, c, false);
  // A modelled event may have counted several periods since the thread last stopped.
  const u64 period = c.period * (1 + static_cast<u64>(-c.left) / c.period);
  c.left += static_cast<s64>(period - c.period);
  c.peak -= c.peak / 32;
  if (has_flag(e, Flag::frequency)) adapt_period(t, e, c);
  c.left += static_cast<s64>(c.period);
  if (c.left <= 0) c.left = 1;  // the period has become shorter
  const bool ends = e.sampling.until_off != 0 && --e.sampling.until_off == 0;
  if (ends) {
    update_group_for_change(e.leader);
    switch_event(e, false);
    group_has_changed(e.leader);
  }
  const bool wakes =
      output_of(e) != nullptr && write_record(e, make_sample(t, c.event, instrument::countdown_state(t).last, period));
  if (has_flag(e, Flag::sigtrap)) send_trap(t, e);
  if (wakes || e.sampling.is_asynchronous != 0) wake(e, ends ? Wakeup::last : Wakeup::data);
  throttle_signals(t, e, c);
}

void continue_roaming(Thread* t);

void overflow(Thread* t, u32) {
  PmuGuard guard;
  settle_overflows(t);
  for_countings_of(t->index, [&](u32, PmuCounting& c) {
    if (samples(pmu_event(c.event)) && c.left <= 0) record_overflow(t, c);
  });
  continue_roaming(t);
}

template <class F>
void for_threads_here(u32 leader, F f) {
  if (!own_records.counts_down) return;
  for_group(leader, [&](const PmuOpenEvent& e) {
    for_countings(e, [&](u32, const PmuCounting& c) {
      if (Thread* const t = c.thread != 0 ? thread_here(c.thread) : nullptr; t != nullptr) f(t);
    });
  });
}

}  // namespace

bool can_overflow(u32 row) {
  return !instrument::windows_on() && settings().follows_calls == 0 && settings().counts_jumps == 0 &&
         (countdown_of(row) != no_countdown || own_records.countdowns < channel::window_trigger_limit);
}

s64 begin_overflows(Thread* t, u32 row, bool branches) {
  if (countdown_of(row) != no_countdown && (own_records.notes_path || !branches)) return 0;
  take_turn(t);
  s64 r = -EBUSY;
  // Another thread may have begun to count down events meanwhile.
  const bool is_new = countdown_of(row) == no_countdown;
  if (!can_overflow(row)) {
    r = -EOPNOTSUPP;
  } else if (!leaving() && hold_others(t) && map_steps()) {
    PmuGuard table;
    Guard cache(cache_lock);
    for (Thread* o = threads(); o != nullptr; o = o->next) settle_overflows(o);
    counts_to_records();
    channel::WindowTrigger events[channel::window_trigger_limit];
    const u32 n = own_records.countdowns;
    for (u32 k = 0; k < n; k++) events[k] = own_records.countdown[k];
    for (u32 i = 0; is_new && i < channel::mark_fields; i++) events[n].weight[i] = weights_of(row)[i];
    own_records.notes_path = own_records.notes_path || branches;
    instrument::samples_cycles = instrument::samples_cycles || settings().pmu.event[row].is_cycles;
    instrument::count_down_by(events, n + is_new, overflow);
    for (Thread* o = threads(); o != nullptr; o = o->next) {
      instrument::countdowns_attach(o);
      arm_overflows(o);
    }
    translate::cache_reset();
    r = 0;
  }
  give_turn(t);
  return r;
}

void settle_overflows(Thread* t) {
  if (!own_records.counts_down || instrument::windows_on()) return;
  instrument::stop_counting_down(t);
  instrument::CountdownState& state = instrument::countdown_state(t);
  PmuValues values(false);
  for_countings_of(t->index, [&](u32 at, PmuCounting& c) {
    const PmuOpenEvent& e = pmu_event(c.event);
    const u32 k = samples(e) && !e.nothing ? countdown_of(e.row) : no_countdown;
    if (k == no_countdown || !is_counting(e, c) || c.is_fresh) return;
    if (!is_modelled(e))
      c.left -= state.span[k] - 1 - t->countdown[k];
    else if (can_read_models(t))
      update_counting(at, values, Update::to_change);
  });
  for (u32 k = 0; k < own_records.countdowns; k++) state.span[k] = t->countdown[k] + 1;
}

void arm_overflows(Thread* t) {
  if (!own_records.counts_down || instrument::windows_on()) return;
  instrument::CountdownState& state = instrument::countdown_state(t);
  instrument::stop_counting_down(t);
  for (u32 k = 0; k < own_records.countdowns; k++) state.span[k] = never;
  for_countings_of(t->index, [&](u32, const PmuCounting& c) {
    const PmuOpenEvent& e = pmu_event(c.event);
    const u32 k = samples(e) && !e.nothing ? countdown_of(e.row) : no_countdown;
    if (k == no_countdown) return;
    const s64 span = span_of(t, e, c);
    if (span < state.span[k]) state.span[k] = span;
  });
  for (u32 k = 0; k < own_records.countdowns; k++) t->countdown[k] = state.span[k] - 1;
}

void roam(Thread* t) {
  settle_overflows(t);
  continue_roaming(t);
}

namespace {

void continue_roaming(Thread* t) {
  bool roams = false;
  for_countings_of(t->index, [&](u32, const PmuCounting& c) { roams = roams || pmu_event(c.event).roams; });
  if (roams) {
    PmuValues values;
    for_countings_of(t->index, [&](u32 at, PmuCounting&) { update_counting(at, values, Update::to_change); });
    follow_processor(t);
  }
  arm_overflows(t);
}

}  // namespace

void settle_group(u32 leader) { for_threads_here(leader, settle_overflows); }
void arm_group(u32 leader) {
  for_threads_here(leader, arm_overflows);
  for_group(leader, [](const PmuOpenEvent& e) {
    for_countings(e, [&](u32, PmuCounting& c) {
      if (samples(e) || c.begins) change_elsewhere(c);
    });
  });
}

void change_elsewhere(PmuCounting& c) {
  if (!c.is_on || c.thread == 0 || thread_here(c.thread) != nullptr) return;
  if (call_elsewhere(c.thread)) c.is_fresh = 1;
}

bool pauses_elsewhere(u32 thread) {
  const channel::Thread& record = records().thread(thread);
  char path[64] = "/proc/";
  char* to = write_decimal(path + 6, static_cast<u64>(records().process(record.process).pid));
  copy(to, "/task/", 6);
  to = write_decimal(to + 6, static_cast<u64>(record.tid));
  copy(to, "/syscall", sizeof "/syscall");
  constexpr u64 close_on_exec = 02000000;
  const s64 file = kernel(SYS_open, reinterpret_cast<u64>(path), close_on_exec);
  if (failed(file)) return false;
  char first = 0;
  const s64 n = kernel(SYS_read, static_cast<u64>(file), reinterpret_cast<u64>(&first), 1);
  kernel(SYS_close, static_cast<u64>(file));
  // Of other threads, the file has "running" or the number of a system call.
  return n == 1 && first == '-';
}

bool call_elsewhere(u32 thread) {
  const channel::Thread& record = records().thread(thread);
  channel::Process& process = records().process(record.process);
  if (record.state != channel::State::running || process.state != channel::State::running) return false;
  __atomic_store_n(&process.countdowns_changed, 1, __ATOMIC_SEQ_CST);
  // The signal would end some system calls, after which the thread follows by itself.
  if (!is_in_call(record)) ask_out_elsewhere(process.pid, record.tid);
  return true;
}

void SampledRows::add(const PmuOpenEvent& e) {
  if (!samples(e) || e.nothing) return;
  has[e.row] = true;
  branches = branches || (e.sampling.content & PERF_SAMPLE_BRANCH_STACK) != 0;
}

void begin_overflows(Thread* t, const SampledRows& rows) {
  for (u32 row = 0; row < channel::pmu_event_limit; row++)
    if (rows.has[row] && can_overflow(row)) begin_overflows(t, row, rows.branches);
}

void follow_changed_countdowns(Thread* t) {
  __atomic_store_n(&process_record(t).countdowns_changed, 0, __ATOMIC_SEQ_CST);
  SampledRows rows;
  const auto for_own = [&](auto f) {
    for (u32 at = 1; at <= pmu_table().countings; at++) {
      PmuCounting& c = pmu_table().counting[at];
      if (c.thread != 0 && records().thread(c.thread).process == t->process) f(c);
    }
  };
  {
    PmuGuard guard;
    for_own([&](const PmuCounting& c) { rows.add(pmu_event(c.event)); });
  }
  begin_overflows(t, rows);
  const s64 error = with_table(t, true, [&]() -> s64 {
    for (Thread* o = threads(); o != nullptr; o = o->next) settle_overflows(o);
    answer_others(t);
    for_own([](PmuCounting& c) {
      if (c.is_fresh) c.left = static_cast<s64>(c.period);
      c.is_fresh = 0;
    });
    for (Thread* o = threads(); o != nullptr; o = o->next) roam(o);
    return 0;
  });
  if (error != 0) __atomic_store_n(&process_record(t).countdowns_changed, 1, __ATOMIC_SEQ_CST);
}

u64 first_period(u32 row, u64 frequency) {
  constexpr u64 cycles_in_second = 1'000'000'000 * modelled_in_ns;
  const bool is_fixed = settings().pmu.event[row].is_cycles && frequency != 0 && frequency < cycles_in_second;
  return is_fixed ? cycles_in_second / frequency : 1;
}

void set_period(PmuCounting& c, u64 period) {
  constexpr u64 high_rate = 4 << 16;
  c.period = period;
  c.left = static_cast<s64>(period);
  c.rate = c.peak = high_rate;
}

}  // namespace tally::engine::guest
