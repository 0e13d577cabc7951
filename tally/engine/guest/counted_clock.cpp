#include "tally/engine/guest/counted_clock.hpp"

#include "tally/engine/clock.hpp"
#include "tally/engine/guest/counted_times.hpp"
#include "tally/engine/guest/guest_signals.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 second = 1'000'000'000;
constexpr u64 read_ns = 1000;
constexpr u64 tai_offset = 37 * second;

enum Clock : s32 {
  realtime,
  monotonic,
  process_time,
  thread_time,
  monotonic_raw,
  realtime_coarse,
  monotonic_coarse,
  boottime,
  realtime_alarm,
  boottime_alarm,
  tai = 11
};

void advance(Thread* t) {
  const s64 now = instructions_of(t);
  // A call that did not begin is subtracted again.
  const s64 more = now - t->clock_seen;
  // First: another thread that reads the clock of this one adds what comes after it (running_time).
  __atomic_store_n(&t->clock_seen, now, __ATOMIC_RELEASE);
  if (more > 0) use_processor(t, static_cast<u64>(more));
}

/// Moves the later one of the thread's time and the run's forward to the other.
void synchronize(Thread* t) {
  u64& latest = records().header().counted_ns;
  u64 of_run = __atomic_load_n(&latest, __ATOMIC_ACQUIRE);
  while (of_run < t->clock_ns &&
         !__atomic_compare_exchange_n(&latest, &of_run, t->clock_ns, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  if (of_run > t->clock_ns) t->clock_ns = of_run;
}

u64 read_time(Thread* t) {
  advance(t);
  use_processor(t, read_ns);
  synchronize(t);
  return t->clock_ns;
}

/// Adds the offset of a clock that runs always to the time of the run.
bool add_offset(s32 clock, u64& ns) {
  switch (clock) {
    case realtime:
    case realtime_coarse:
    case realtime_alarm: ns += clock_starts_at; return true;
    case tai: ns += clock_starts_at + tai_offset; return true;
    case monotonic:
    case monotonic_raw:
    case monotonic_coarse:
    case boottime:
    case boottime_alarm: ns += clock_booted_before; return true;
    default: return false;
  }
}

/// The clock of a process or thread by its number (clock_getcpuclockid(3)); process_time or thread_time if it is this.
s32 own_clock(const Thread* t, s32 clock) {
  constexpr s32 kind = 3, by_scheduler = 2, of_thread = 4;
  if (clock >= 0 || (clock & kind) != by_scheduler) return clock;
  const s64 id = ~(clock >> 3);
  if (clock & of_thread) return id == 0 || id == t->tid ? thread_time : clock;
  return id == 0 || id == t->tgid ? process_time : clock;
}

struct Time {
  s64 seconds, part;
};

s64 get_clock_time(Thread* t, u64 clock, u64 to) {
  Time time{};
  u64 ns = 0;
  if (read_clock(t, static_cast<s32>(clock), ns))
    time = {static_cast<s64>(ns / second), static_cast<s64>(ns % second)};
  else if (const s64 r = kernel(SYS_clock_gettime, clock, reinterpret_cast<u64>(&time)); r != 0)
    return r;
  return put(to, &time, sizeof time);
}

s64 get_time_of_day(Thread* t, u64 to, u64 zone) {
  const u64 ns = read_time(t) + clock_starts_at;
  const Time time{static_cast<s64>(ns / second), static_cast<s64>(ns % second / 1000)};
  u64 minutes = 0;
  if (zone != 0) kernel(SYS_gettimeofday, 0, reinterpret_cast<u64>(&minutes));
  if (to != 0 && put(to, &time, sizeof time) != 0) return -EFAULT;
  return zone != 0 ? put(zone, &minutes, sizeof minutes) : 0;
}

s64 get_seconds(Thread* t, u64 to) {
  const s64 seconds = static_cast<s64>((read_time(t) + clock_starts_at) / second);
  return to != 0 && put(to, &seconds, sizeof seconds) != 0 ? -EFAULT : seconds;
}

s64 get_resolution(Thread* t, u64 clock, u64 to) {
  u64 unused = 0;
  const s32 own = own_clock(t, static_cast<s32>(clock));
  const bool is_counted = own == process_time || own == thread_time || add_offset(own, unused);
  Time finest{0, 1};
  const s64 r = is_counted ? 0 : kernel(SYS_clock_getres, clock, reinterpret_cast<u64>(&finest));
  return r == 0 && to != 0 ? put(to, &finest, sizeof finest) : r;
}

}  // namespace

s64 instructions_of(Thread* t) {
  const u64* const c = counters(t);
  s64 n = records().thread(t->index).base.field[channel::instructions];
  for (u32 i = channel::first_segment, end = segment_limit_so_far(); i < end; i++)
    if (c[i] != 0) n += static_cast<s64>(c[i]) * segment(i).counts[channel::instructions];
  return n;
}

void clock_begins(Thread* t, Thread* creator) {
  if (!clock_is_counted()) return;
  if (creator != nullptr) publish_clock(creator);
  t->clock_ns =
      creator != nullptr ? creator->clock_ns : __atomic_load_n(&records().header().counted_ns, __ATOMIC_ACQUIRE);
  t->clock_seen = instructions_of(t);
  t->processor_ns = t->shown_ns = 0;
  if (creator == nullptr || creator->process != t->process) begin_times(t, creator == nullptr);
}

void clock_after_fork(Thread* t) {
  if (!clock_is_counted()) return;
  t->clock_seen = instructions_of(t);
  t->processor_ns = t->shown_ns = 0;
  begin_times(t, false);
}

void publish_clock(Thread* t) {
  if (!clock_is_counted()) return;
  advance(t);
  synchronize(t);
}

bool read_clock(Thread* t, s32 clock, u64& ns) {
  clock = own_clock(t, clock);
  ns = 0;
  if (clock < 0) {
    if (!read_other_clock(t, clock, ns)) return false;
    read_time(t);
    return true;
  }
  if (clock != process_time && clock != thread_time && !add_offset(clock, ns)) return false;
  const u64 now = read_time(t);
  if (clock == process_time) ns = process_time_of(t);
  if (clock == thread_time) ns = t->processor_ns;
  if (clock != process_time && clock != thread_time) ns += now;
  return true;
}

bool clock_at(Thread* t, s32 clock, u64& ns) {
  ns = time_of(t);
  return add_offset(clock, ns);
}

void pass_time(Thread* t, u64 ns) {
  t->clock_ns += ns;
  synchronize(t);
}

void pass_time_until(Thread* t, u64 ns) {
  if (ns > time_of(t)) t->clock_ns = ns;
  synchronize(t);
}

u64 time_of(Thread* t) {
  advance(t);
  return t->clock_ns;
}

void read_time_stamp(Thread* t) {
  // One tick for each ns.
  const u64 ticks = read_time(t) + clock_booted_before;
  t->gpr[rax] = static_cast<u32>(ticks);
  t->gpr[rdx] = ticks >> 32;
}

void call_clock_function(Thread* t) {
  u64* const g = t->gpr;
  s64 r = 0;
  switch (vdso_function_at(t->pc)) {
    case VdsoFunction::get_clock: r = get_clock_time(t, g[rdi], g[rsi]); break;
    case VdsoFunction::get_time_of_day: r = get_time_of_day(t, g[rdi], g[rsi]); break;
    case VdsoFunction::get_seconds: r = get_seconds(t, g[rdi]); break;
    case VdsoFunction::get_resolution: r = get_resolution(t, g[rdi], g[rsi]); break;
    default: break;
  }
  g[rax] = static_cast<u64>(r);
}

bool make_clock_call(Thread* t, u32 number, s64& r) {
  const u64* const g = t->gpr;
  switch (number) {
    case SYS_clock_gettime: r = get_clock_time(t, g[rdi], g[rsi]); return true;
    case SYS_gettimeofday: r = get_time_of_day(t, g[rdi], g[rsi]); return true;
    case SYS_time: r = get_seconds(t, g[rdi]); return true;
    case SYS_clock_getres: r = get_resolution(t, g[rdi], g[rsi]); return true;
    default: return false;
  }
}

}  // namespace tally::engine::guest
