#include "tally/engine/guest/pmu_table.hpp"

#include "tally/engine/clock.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/presented_machine.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/instrument/running_cycles.hpp"
#include "tally/engine/instrument/window_records.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {
namespace {

channel::PmuTable* table;

u32& bucket_of(u64 identity) { return table->bucket[identity % channel::pmu_bucket_count]; }

/// Takes an element of an array from its free list or from its end; returns 0 if none is left.
template <class Next>
u32 new_element(u32& free, u32& used, u32 limit, Next next) {
  if (const u32 at = free; at != 0) {
    free = next(at);
    return at;
  }
  return used + 1 < limit ? ++used : 0;
}

channel::State state_of(const channel::Thread& record) {
  return static_cast<channel::State>(__atomic_load_n(reinterpret_cast<const u32*>(&record.state), __ATOMIC_ACQUIRE));
}

/// Reads counters and their vectors from the channel: those of another process are not in this memory.
channel::Totals totals_in_file(u32 counters, u32 vectors, u32 n) {
  constexpr u32 many = 256;
  u64 count[many];
  channel::SegmentVector vector[many];
  channel::Totals totals;
  const u64 file = inherited(channel::inherited_channel);
  for (u32 first = 0; first < n; first += many) {
    const u32 some = n - first < many ? n - first : many;
    kernel(SYS_pread64, file, reinterpret_cast<u64>(count), some * sizeof count[0],
           channel::area_offset(counters) + first * sizeof count[0]);
    bool any = false;
    for (u32 i = 0; i < some; i++) any = any || count[i] != 0;
    if (!any) continue;
    kernel(SYS_pread64, file, reinterpret_cast<u64>(vector), some * sizeof vector[0],
           channel::area_offset(vectors) + first * sizeof vector[0]);
    totals.add(channel::sum(count, vector, nullptr, some));  // programs find no event of the mix
  }
  return totals;
}

/// What a thread of another process has executed. It may run: then what it executes at the moment is included or not.
channel::Totals totals_elsewhere(u32 thread) {
  const channel::Thread& record = records().thread(thread);
  channel::Totals totals;
  // The thread shows by its state and base that it moves its counts.
  for (u32 tries = 0; tries < 1000; tries++) {
    const channel::State state = state_of(record);
    const channel::Totals base = record.base;
    if (state == channel::State::free) return {};
    if (state == channel::State::ended) {
      totals = record.final;
    } else {
      const channel::Process& process = records().process(record.process);
      totals = totals_in_file(record.area, process.vectors, process.segments);
      totals.add(base);
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    bool same = state_of(record) == state;
    for (u32 i = 0; i < channel::field_count; i++) same = same && record.base.field[i] == base.field[i];
    if (same) break;
  }
  return totals;
}

/// Processor time. That of another process's thread cannot be read: it is its process's.
u64 processor_time_of(const Thread* here, u32 thread, const channel::Totals& totals) {
  if (clock_is_counted()) return static_cast<u64>(totals.field[channel::instructions]);
  const s64 of_thread = here != nullptr && here->process == current()->process ? here->tid : 0;
  const s64 of_process = records().process(records().thread(thread).process).pid;
  return read_clock(of_thread != 0 ? static_cast<u64>((~of_thread << 3) | 6)
                                   : static_cast<u64>((~of_process << 3) | 2));
}

const channel::PmuEvent& row_of(const PmuOpenEvent& e) { return settings().pmu.event[e.row]; }

s64 amount_in(const PmuOpenEvent& e, const PmuValues::Values& v) {
  const channel::PmuEvent& row = row_of(e);
  const channel::CountedValues& values = v.counted;
  if (e.nothing || e.is_kernels) return 0;
  s64 sum = 0;
  if (row.is_cycles) {
    for (u32 k = 0; k < channel::cycle_class_count; k++) sum += row.class_weight[k] * v.classes[k];
    return sum + row.cycles_weight * values.cycles;
  }
  for (u32 i = 0; i < channel::mark_fields; i++) sum += row.weight[i] * values.totals.field[i];
  const u64* const models = reinterpret_cast<const u64*>(&values.models);
  for (u32 i = channel::mark_fields; row.is_modelled && i < channel::mark_values; i++)
    sum += row.weight[i] * static_cast<s64>(models[i - channel::mark_fields]);
  return sum;
}

/// Notes where the thread may run. The count of an event that is on is lost if that is not clear.
void note_residence(PmuCounting& c) {
  PmuOpenEvent& e = pmu_event(c.event);
  if (e.cpu == -1) return;
  const Residence residence = residence_of(c.thread, e.cpu);
  c.is_elsewhere = residence == Residence::elsewhere;
  if (residence != Residence::both) return;
  e.roams = pmu_event(e.leader).sampling.period != 0;
  if (c.is_on && !e.roams) e.is_lost = 1;
}

/// Whether the thread may still run where it could at the last note. Processors can be taken from outside the tree,
/// too.
bool has_moved(const PmuOpenEvent& e, const PmuCounting& c) {
  if (e.cpu == -1 || e.roams || state_of(records().thread(c.thread)) != channel::State::running) return false;
  const Residence residence = residence_of(c.thread, e.cpu);
  return residence == Residence::both || (residence == Residence::elsewhere) != (c.is_elsewhere != 0);
}

/// Counts down to the next sample of a modelled event. The rate rises at once and falls slowly, so that the thread
/// seldom executes more than the sample is away; short runs, whose rates differ, change it less.
void approach(PmuCounting& c, s64 more, s64 executed) {
  c.left -= more;
  const s64 instructions = executed - c.executed;
  c.executed = executed;
  if (instructions <= 0) return;
  const u64 rate = more <= 0 ? 0 : (static_cast<u64>(more) << 16) / static_cast<u64>(instructions);
  const u64 weight = static_cast<u64>(instructions) < short_run ? static_cast<u64>(instructions) : short_run;
  c.rate =
      rate > c.rate ? c.rate + (rate - c.rate) * weight / short_run : c.rate - (c.rate - rate) * weight / short_run / 4;
  if (weight != short_run && rate > c.peak) c.peak = rate;
}

void link_to_thread(u32 at, u32 thread) {
  PmuCounting& c = table->counting[at];
  c.thread = thread;
  c.before_of_thread = 0;
  c.next_of_thread = table->of_thread[thread];
  if (c.next_of_thread != 0) table->counting[c.next_of_thread].before_of_thread = at;
  table->of_thread[thread] = at;
}

void unlink_from_thread(u32 at) {
  const PmuCounting& c = table->counting[at];
  if (c.thread == 0) return;
  (c.before_of_thread != 0 ? table->counting[c.before_of_thread].next_of_thread : table->of_thread[c.thread]) =
      c.next_of_thread;
  if (c.next_of_thread != 0) table->counting[c.next_of_thread].before_of_thread = c.before_of_thread;
}

void remove_counting(u32 at) {
  PmuCounting& c = table->counting[at];
  unlink_from_thread(at);
  (c.before_of_event != 0 ? table->counting[c.before_of_event].next_of_event : pmu_event(c.event).countings) =
      c.next_of_event;
  if (c.next_of_event != 0) table->counting[c.next_of_event].before_of_event = c.before_of_event;
  c = {};
  c.next_of_thread = table->free_counting;
  table->free_counting = at;
}

}  // namespace

u64 read_clock(u64 clock) {
  struct {
    s64 s, ns;
  } time{};
  if (failed(kernel(SYS_clock_gettime, clock, reinterpret_cast<u64>(&time)))) return 0;
  return static_cast<u64>(time.s) * 1'000'000'000 + static_cast<u64>(time.ns);
}

Thread* thread_here(u32 thread) {
  if (current()->index == thread) return current();
  Guard guard(threads_lock);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->index == thread) return o;
  return nullptr;
}

bool can_read_models(const Thread* t) {
  const u32 where = __atomic_load_n(&t->where, __ATOMIC_SEQ_CST);
  return t == current() || where == Where::held || where == Where::stopped;
}

bool is_counting(const PmuOpenEvent& e, const PmuCounting& c) {
  if (!c.is_on || e.is_lost || c.is_elsewhere) return false;
  const PmuOpenEvent& leader = pmu_event(e.leader);
  if (&leader == &e) return true;
  if (leader.is_kernels) return leader.is_on;
  for (u32 at = leader.countings; at != 0; at = table->counting[at].next_of_event)
    if (table->counting[at].thread == c.thread) return table->counting[at].is_on;
  return leader.is_on;
}

bool has_ended(u32 thread) {
  const u64 pid = static_cast<u64>(records().process(records().thread(thread).process).pid);
  const s64 process = kernel(434 /* pidfd_open */, pid, 0);
  if (failed(process)) return process == -ESRCH || kernel(SYS_kill, pid, 0) == -ESRCH;
  struct {
    s32 number;
    s16 wanted, seen;
  } ends{static_cast<s32>(process), 1 /* POLLIN: it has ended, and its parent may not know that yet */, 0};
  constexpr u64 no_time[2] = {};
  const s64 seen = kernel(SYS_ppoll, reinterpret_cast<u64>(&ends), 1, reinterpret_cast<u64>(no_time), 0);
  kernel(SYS_close, static_cast<u64>(process));
  return seen == 1;
}

bool map_pmu_table() {
  if (table != nullptr) return true;
  const u64 bytes = page_up(sizeof(channel::PmuTable));
  const u64 at = try_reserve(bytes, PROT_NONE);
  if (at == 0 || !map_channel(at, bytes, channel::pmu_table_offset)) return false;
  table = reinterpret_cast<channel::PmuTable*>(at);
  return true;
}

channel::PmuTable& pmu_table() { return *table; }

void lock_pmu_table() {
  if (!map_pmu_table()) die("no memory for the table of events", sizeof(channel::PmuTable));
  const u32 self = current()->index;
  constexpr u64 pause_us = 50, patience_us = 5'000, last_patience_us = 10'000'000;
  u32 holder = 0, before = 0;
  u64 waited_us = 0, asked_at_us = patience_us;
  while (!__atomic_compare_exchange_n(&table->lock, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    if (holder != before) waited_us = 0, asked_at_us = patience_us;
    before = holder;
    if (waited_us > last_patience_us) continue;
    if (waited_us >= asked_at_us) {
      if (has_ended(holder)) continue;
      asked_at_us = 2 * waited_us;
    }
    pause_for(pause_us);
    waited_us += pause_us;
    holder = 0;
  }
}

void unlock_pmu_table() { __atomic_store_n(&table->lock, 0, __ATOMIC_RELEASE); }

u32 add_pmu_event(u64 identity) {
  const u32 at = new_element(table->free_event, table->events, channel::pmu_open_limit,
                             [](u32 free) { return pmu_event(free).next; });
  if (at == 0) return 0;
  PmuOpenEvent& e = pmu_event(at);
  e = {};
  e.identity = identity;
  e.holders = 1;
  e.leader = e.last_member = at;
  e.next = bucket_of(identity);
  bucket_of(identity) = at;
  __atomic_add_fetch(&records().header().pmu_events, 1, __ATOMIC_RELEASE);
  return at;
}

u32 find_pmu_event(u64 identity) {
  u32 at = bucket_of(identity);
  while (at != 0 && pmu_event(at).identity != identity) at = pmu_event(at).next;
  return at;
}

void remove_pmu_event(u32 event) {
  PmuOpenEvent& e = pmu_event(event);
  for_countings(e, [](u32 at, PmuCounting&) { remove_counting(at); });
  u32* from = &bucket_of(e.identity);
  while (*from != event) from = &pmu_event(*from).next;
  *from = e.next;
  e = {};
  e.next = table->free_event;
  table->free_event = event;
  __atomic_sub_fetch(&records().header().pmu_events, 1, __ATOMIC_RELEASE);
}

void join_group(u32 event, u32 leader) {
  pmu_event(event).leader = leader;
  pmu_event(pmu_event(leader).last_member).next_member = event;
  pmu_event(leader).last_member = event;
}

void leave_group(u32 event) {
  PmuOpenEvent& e = pmu_event(event);
  if (e.leader == event) return;
  u32 before = e.leader;
  while (pmu_event(before).next_member != event) before = pmu_event(before).next_member;
  pmu_event(before).next_member = e.next_member;
  if (pmu_event(e.leader).last_member == event) pmu_event(e.leader).last_member = before;
  e.leader = e.last_member = event;
  e.next_member = 0;
}

u32 add_counting(u32 event) {
  const u32 at = new_element(table->free_counting, table->countings, channel::pmu_counting_limit,
                             [](u32 free) { return table->counting[free].next_of_thread; });
  PmuOpenEvent& e = pmu_event(event);
  if (at == 0) {
    e.is_lost = 1;
    return 0;
  }
  PmuCounting& c = table->counting[at];
  c = {};
  c.event = event;
  c.is_on = e.is_on;
  c.next_of_event = e.countings;
  if (e.countings != 0) table->counting[e.countings].before_of_event = at;
  e.countings = at;
  return at;
}

Residence residence_of(u32 thread, s32 cpu) {
  if (machine_is_fixed()) return cpu == 0 ? Residence::here : Residence::elsewhere;
  u8 allowed[1024] = {};  // as many as the kernel can be configured for
  const s64 bytes = kernel(SYS_sched_getaffinity, static_cast<u64>(records().thread(thread).tid), sizeof allowed,
                           reinterpret_cast<u64>(allowed));
  if (failed(bytes)) return Residence::both;
  u32 processors = 0;
  for (const u8 some : allowed) processors += bits_set(some);
  const bool is_allowed = static_cast<u32>(cpu) / 8 < sizeof allowed && (allowed[cpu / 8] >> cpu % 8 & 1) != 0;
  if (!is_allowed) return Residence::elsewhere;
  return processors == 1 ? Residence::here : Residence::both;
}

void follow_residence(u32 thread) {
  for_countings_of(thread, [](u32, PmuCounting& c) { note_residence(c); });
}

void follow_processor(const Thread* t) {
  const s32 cpu = static_cast<s32>(instrument::this_cpu());
  for_countings_of(t->index, [&](u32, PmuCounting& c) {
    if (pmu_event(c.event).roams) c.is_elsewhere = pmu_event(c.event).cpu != cpu;
  });
}

void end_counting_of(u32 counting) {
  const PmuCounting& c = table->counting[counting];
  PmuOpenEvent& e = pmu_event(c.event);
  (c.is_inherited ? e.inherited : e.count) += c.count;
  e.enabled_ns += c.enabled_ns;
  remove_counting(counting);
}

bool needs_others_held(const Thread* t, u32 event) {
  {
    Guard guard(threads_lock);
    if (is_only_thread(t)) return false;
  }
  bool needs = false;
  for_countings(pmu_event(event), [&](u32, const PmuCounting& c) {
    if (needs || c.thread == 0 || c.thread == t->index) return;
    needs = state_of(records().thread(c.thread)) == channel::State::running && thread_here(c.thread) != nullptr;
  });
  return needs;
}

const PmuValues::Values& PmuValues::of(u32 thread, bool modelled) {
  for (u32 i = 0; i < limit; i++)
    if (thread_[i] == thread && (values_[i].has_models || !modelled)) return values_[i];
  Values& v = values_[next_ % limit];
  thread_[next_++ % limit] = thread;
  Thread* const here = thread_here(thread);
  v.counted = {};
  for (s64& cycles : v.classes) cycles = 0;
  const bool runs_here = here != nullptr && state_of(records().thread(thread)) == channel::State::running;
  v.has_models = modelled && runs_here && can_read_models(here) && instrument::has_running_cycles(here);
  if (v.has_models) {
    v.counted = instrument::counted_values(here, false);
    for (u32 k = 0; settings().pmu.has_classes != 0 && k < channel::cycle_class_count; k++)
      v.classes[k] = instrument::running_class(here, k);
  } else {
    v.counted.totals = runs_here ? instrument::asked_totals(here) : totals_elsewhere(thread);
  }
  v.ns = !with_times_ ? 0 : processor_time_of(here, thread, v.counted.totals);
  return v;
}

bool update_counting(u32 counting, PmuValues& values, Update why) {
  PmuCounting& c = table->counting[counting];
  const PmuOpenEvent& e = pmu_event(c.event);
  if (c.thread == 0 || e.is_kernels) return true;
  const bool modelled = is_modelled(row_of(e));
  if (has_moved(e, c)) {
    if (c.is_on) pmu_event(c.event).is_lost = 1;
    note_residence(c);
  }
  const bool counts = is_counting(e, c) && !c.begins;
  if (modelled && thread_here(c.thread) == nullptr) {
    c.begins = c.begins || (why == Update::to_change && !counts);
    return c.known >= channel::PmuKnown::once || !is_counting(e, c) ||
           (c.begins && c.known != channel::PmuKnown::asked);
  }
  const PmuValues::Values& v = values.of(c.thread, modelled);
  if (modelled && !v.has_models) return why == Update::to_read && !is_counting(e, c);
  const s64 now = amount_in(e, v), more = counts ? now - c.seen : 0;
  const bool is_later = v.ns > c.seen_ns;
  if (modelled && e.sampling.period != 0) approach(c, more, v.counted.totals.field[channel::instructions]);
  if (counts) {
    c.count += more;
    if (is_later) c.enabled_ns += v.ns - c.seen_ns;
  }
  c.begins = 0;
  c.seen = now;
  if (is_later) c.seen_ns = v.ns;
  return true;
}

void move_counting(u32 counting, u32 thread, PmuValues& values) {
  PmuCounting& c = table->counting[counting];
  unlink_from_thread(counting);
  link_to_thread(counting, thread);
  c.expects = 0;
  c.begins = 0;
  c.known = channel::PmuKnown::no;
  note_residence(c);
  const u8 is_on = c.is_on;
  const bool is_needed = is_counting(pmu_event(c.event), c);
  c.is_on = 0;
  if (!update_counting(counting, values, Update::to_change) && is_needed) pmu_event(c.event).is_lost = 1;
  c.is_on = is_on;
}

bool update_event(u32 event, PmuValues& values, Update why) {
  bool is_known = true;
  for_countings(pmu_event(event),
                [&](u32 at, const PmuCounting&) { is_known = update_counting(at, values, why) && is_known; });
  return is_known;
}

s64 counter_of(u32 counting, PmuValues& values) {
  const PmuCounting& c = table->counting[counting];
  return amount_in(pmu_event(c.event), values.of(c.thread, false));
}

bool has_counter(const PmuOpenEvent& e) { return !e.is_kernels && !e.nothing && !is_modelled(row_of(e)); }

bool counter_offset(u32 event, u32 thread, s64& offset) {
  const PmuOpenEvent& e = pmu_event(event);
  if (!has_counter(e)) return false;
  bool is_on = false;
  for_countings(e, [&](u32, const PmuCounting& c) {
    if (c.thread != thread) return;
    is_on = is_counting(e, c);
    offset = e.count + e.inherited + c.count - c.seen;
  });
  return is_on;
}

s64 count_of(const PmuOpenEvent& e) {
  s64 sum = e.count + e.inherited;
  for_countings(e, [&](u32, const PmuCounting& c) { sum += c.count; });
  return sum < 0 ? 0 : sum;  // classes of cycles are rounded by themselves
}

u64 enabled_ns_of(const PmuOpenEvent& e) {
  u64 sum = e.enabled_ns;
  for_countings(e, [&](u32, const PmuCounting& c) { sum += c.enabled_ns; });
  return sum;
}

}  // namespace tally::engine::guest
