#include "tally/engine/guest/pmu_overflows.hpp"

#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/pmu_groups.hpp"
#include "tally/engine/guest/pmu_records.hpp"
#include "tally/engine/guest/pmu_rings.hpp"
#include "tally/engine/guest/pmu_wakeups.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

constexpr s64 never = static_cast<s64>(channel::window_event_limit);
constexpr u32 no_countdown = ~0u;

/// The countdown of the events of a row.
u32 countdown_of(u32 row) {
  for (u32 k = 0; k < own_records.countdowns; k++) {
    bool is_equal = true;
    for (u32 i = 0; i < channel::mark_fields; i++)
      is_equal = is_equal && own_records.countdown[k].weight[i] == settings().pmu.event[row].weight[i];
    if (is_equal) return k;
  }
  return no_countdown;
}

bool samples(const PmuOpenEvent& e) { return e.sampling.period != 0 && !e.is_kernels; }

u64 processor_time(Thread* t) {
  if (clock_is_counted()) return static_cast<u64>(instrument::asked_totals(t).field[channel::instructions]);
  constexpr u64 of_thread = 3;
  u64 time[2] = {};
  kernel(SYS_clock_gettime, of_thread, reinterpret_cast<u64>(time));
  return time[0] * 1'000'000'000 + time[1];
}

/// The period for a frequency follows what was counted since the last sample, an eighth of the way, as in the kernel.
void adapt_period(Thread* t, const PmuOpenEvent& e, PmuCounting& c) {
  const u64 now_ns = processor_time(t), since_ns = now_ns - c.sampled_ns;
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

void record_overflow(Thread* t, PmuCounting& c) {
  PmuOpenEvent& e = pmu_event(c.event);
  const u64 period = c.period;
  if (has_flag(e, Flag::frequency)) adapt_period(t, e, c);
  c.left += static_cast<s64>(c.period);
  if (c.left <= 0) c.left = static_cast<s64>(c.period);
  const bool ends = e.sampling.until_off != 0 && --e.sampling.until_off == 0;
  if (ends) {
    update_group_for_change(e.leader);
    switch_event(e, false);
    group_has_changed(e.leader);
  }
  const bool wakes =
      output_of(e) != nullptr && write_record(e, make_sample(t, c.event, instrument::countdown_state(t).last, period));
  if (wakes || e.sampling.is_asynchronous != 0) wake(e, ends ? Wakeup::last : Wakeup::data);
}

void overflow(Thread* t, u32) {
  PmuGuard guard;
  settle_overflows(t);
  for_countings_of(t->index, [&](u32, PmuCounting& c) {
    if (samples(pmu_event(c.event)) && c.left <= 0) record_overflow(t, c);
  });
  roam(t);
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
  const channel::PmuEvent& event = settings().pmu.event[row];
  return !event.is_modelled && !event.is_cycles && !instrument::windows_on() && settings().follows_calls == 0 &&
         (countdown_of(row) != no_countdown || own_records.countdowns < channel::window_trigger_limit);
}

s64 begin_overflows(Thread* t, u32 row, bool branches) {
  const bool is_new = countdown_of(row) == no_countdown;
  if (!is_new && (own_records.notes_path || !branches)) return 0;
  take_turn(t);
  s64 r = -EBUSY;
  if (!leaving() && hold_others(t) && map_steps()) {
    PmuGuard table;
    Guard cache(cache_lock);
    for (Thread* o = threads(); o != nullptr; o = o->next) settle_overflows(o);
    counts_to_records();
    channel::WindowTrigger events[channel::window_trigger_limit];
    const u32 n = own_records.countdowns;
    for (u32 k = 0; k < n; k++) events[k] = own_records.countdown[k];
    for (u32 i = 0; is_new && i < channel::mark_fields; i++) events[n].weight[i] = settings().pmu.event[row].weight[i];
    own_records.notes_path = own_records.notes_path || branches;
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
  for_countings_of(t->index, [&](u32, PmuCounting& c) {
    const PmuOpenEvent& e = pmu_event(c.event);
    const u32 k = samples(e) && !e.nothing ? countdown_of(e.row) : no_countdown;
    if (k != no_countdown && is_counting(e, c)) c.left -= state.span[k] - 1 - t->countdown[k];
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
    if (k != no_countdown && is_counting(e, c) && c.left < state.span[k]) state.span[k] = c.left;
  });
  for (u32 k = 0; k < own_records.countdowns; k++) t->countdown[k] = state.span[k] - 1;
}

void roam(Thread* t) {
  settle_overflows(t);
  bool roams = false;
  for_countings_of(t->index, [&](u32, const PmuCounting& c) { roams = roams || pmu_event(c.event).roams; });
  if (roams) {
    PmuValues values;
    for_countings_of(t->index, [&](u32 at, PmuCounting&) { update_counting(at, values, Update::to_change); });
    follow_processor(t);
  }
  arm_overflows(t);
}

void settle_group(u32 leader) { for_threads_here(leader, settle_overflows); }
void arm_group(u32 leader) { for_threads_here(leader, arm_overflows); }

void set_period(PmuCounting& c, u64 period) {
  c.period = period;
  c.left = static_cast<s64>(period);
}

}  // namespace tally::engine::guest
