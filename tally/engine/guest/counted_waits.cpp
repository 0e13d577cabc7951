#include "tally/engine/guest/counted_waits.hpp"

#include "tally/engine/clock.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/counted_times.hpp"
#include "tally/engine/guest/guest_signals.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 second = 1'000'000'000, unlimited = ~u64{0};
constexpr s32 realtime = 0, monotonic = 1;

/// struct timespec, and with microseconds struct timeval.
struct Time {
  s64 seconds, part;
  bool is_valid(s64 parts) const { return seconds >= 0 && part >= 0 && part < parts; }
  u64 ns(u64 ns_of_part) const {
    constexpr s64 longest = 1ll << 33;  // 272 years
    return static_cast<u64>(seconds < longest ? seconds : longest) * second + static_cast<u64>(part) * ns_of_part;
  }
};
Time time_from(u64 ns) { return {static_cast<s64>(ns / second), static_cast<s64>(ns % second)}; }

// --- timers ---------------------------------------------------------------------------------------------------------

enum class TimerKind : u32 { none, descriptor, interval, posix };

/// A timer that the program has set, by the time of the run.
struct Timer {
  TimerKind kind;
  u64 id, next, interval;
};
Timer timers[64];
Lock timers_lock;

Timer* timer_of(TimerKind kind, u64 id) {
  for (Timer& one : timers)
    if (one.kind == kind && one.id == id) return &one;
  return nullptr;
}

/// `first`: ns from now; 0: the timer is not set.
void set_timer(Thread* t, TimerKind kind, u64 id, u64 first, u64 interval) {
  const u64 now = time_of(t);
  Guard guard(timers_lock);
  Timer* timer = timer_of(kind, id);
  if (timer == nullptr) timer = timer_of(TimerKind::none, 0);
  if (timer == nullptr) return;  // its time does not pass
  *timer = first != 0 ? Timer{kind, id, now + first, interval} : Timer{};
}

/// Forgets the timers with these numbers, from `first` to `last`, that are closed or deleted.
void forget_timers(TimerKind kind, u64 first, u64 last) {
  Guard guard(timers_lock);
  for (Timer& one : timers)
    if (one.kind == kind && one.id >= first && one.id <= last) one = {};
}

/// Returns the time until a timer expires next; 0 if it is unknown.
u64 rest_of(Thread* t, TimerKind kind, u64 id) {
  const u64 now = time_of(t);
  Guard guard(timers_lock);
  const Timer* const timer = timer_of(kind, id);
  if (timer == nullptr) return 0;
  if (timer->next > now) return timer->next - now;
  // It has expired, and the program has not seen that yet.
  return timer->interval != 0 ? timer->interval - (now - timer->next) % timer->interval : 1;
}

/// Replaces the rest in the setting of a timer that the kernel has written, if the timer runs.
void put_rest(u64 rest, u64 to, u64 ns_of_part) {
  Time timer[2]{};  // interval, rest
  if (rest == 0 || to == 0 || get(timer, to, sizeof timer) != 0 || (timer[1].seconds | timer[1].part) == 0) return;
  timer[1] = {static_cast<s64>(rest / second), static_cast<s64>(rest % second / ns_of_part)};
  if ((timer[1].seconds | timer[1].part) == 0) timer[1].part = 1;
  put(to, timer, sizeof timer);
}

void expire(Thread* t, TimerKind kind, u64 id, u64 times) {
  u64 reached = 0;
  {
    Guard guard(timers_lock);
    Timer* const timer = timer_of(kind, id);
    u64 passed = 0;
    if (timer == nullptr || times == 0 || __builtin_mul_overflow(times - 1, timer->interval, &passed) ||
        __builtin_add_overflow(timer->next, passed, &reached))
      return;
    timer->next = reached + timer->interval;
    if (timer->interval == 0) *timer = {};
  }
  pass_time_until(t, reached);
}

// --- waits ----------------------------------------------------------------------------------------------------------

/// A call that waits, with its time limit in an argument.
struct Wait {
  enum Form : u8 { milliseconds, timespec, timeval };
  u32 number;
  Register limit;
  Form form;
  s64 timed_out = 0;         ///< the result if the time is over
  bool writes_rest = false;  ///< the kernel writes the time that is left
};

constexpr Wait waits[] = {
    {SYS_poll, rdx, Wait::milliseconds},
    {SYS_epoll_wait, r10, Wait::milliseconds},
    {SYS_epoll_pwait, r10, Wait::milliseconds},
    {441 /* epoll_pwait2 */, r10, Wait::timespec},
    {SYS_ppoll, rdx, Wait::timespec, 0, true},
    {SYS_select, r8, Wait::timeval, 0, true},
    {SYS_pselect6, r8, Wait::timespec, 0, true},
    {SYS_nanosleep, rdi, Wait::timespec},
    {SYS_rt_sigtimedwait, rdx, Wait::timespec, -EAGAIN},
    {SYS_semtimedop, r10, Wait::timespec, -EAGAIN},
    {SYS_io_getevents, r8, Wait::timespec},
    {333 /* io_pgetevents */, r8, Wait::timespec},
};

using Call = s64 (*)(Thread* t, u32 number);

/// Makes a call that waits at most `ns`, and lets that time pass.
s64 wait(Thread* t, u32 number, Call call, u64 ns, s64 timed_out) {
  const u64 before = clock_ns();
  const s64 r = call(t, number);
  if (r == timed_out && ns != unlimited)
    pass_time(t, ns);
  else if (r == -EINTR || r == restart_counts)
    pass_time(t, clock_ns() - before);  // the program may wait again for the rest
  return r;
}

s64 make_wait(Thread* t, const Wait& what, Call call) {
  const u64 limit = t->gpr[what.limit];
  if (what.form == Wait::milliseconds) {
    const s32 ms = static_cast<s32>(limit);
    return wait(t, what.number, call, ms < 0 ? unlimited : static_cast<u64>(ms) * 1'000'000, what.timed_out);
  }
  Time time{};
  const bool in_us = what.form == Wait::timeval;
  if (limit == 0 || get(&time, limit, sizeof time) != 0 || !time.is_valid(in_us ? 1'000'000 : 1'000'000'000))
    return wait(t, what.number, call, unlimited, what.timed_out);
  const s64 r = wait(t, what.number, call, time.ns(in_us ? 1000 : 1), what.timed_out);
  if (what.writes_rest && r > 0) put(limit, &time, sizeof time);  // no time has passed
  return r;
}

/// Waits until the deadline at argument `limit` of this clock. `by`: also sets the arguments of a call with `relative`.
s64 wait_until(Thread* t, u32 number, Call call, Register limit, s32 clock) {
  u64* const g = t->gpr;
  const u64 argument = g[limit];
  Time deadline{}, now{};
  u64 ns = 0;
  constexpr s64 timed_out = -ETIMEDOUT;
  if (argument == 0 || get(&deadline, argument, sizeof deadline) != 0 || !deadline.is_valid(1'000'000'000) ||
      !clock_at(t, clock, ns) || kernel(SYS_clock_gettime, static_cast<u64>(clock), reinterpret_cast<u64>(&now)) != 0)
    return wait(t, number, call, unlimited, timed_out);
  const u64 left = deadline.ns(1) > ns ? deadline.ns(1) - ns : 0;
  deadline = time_from(now.ns(1) + left);
  g[limit] = reinterpret_cast<u64>(&deadline);
  const s64 r = wait(t, number, call, left, timed_out);
  g[limit] = argument;
  return r;
}

/// clock_nanosleep(2): a deadline becomes a limit, because the kernel's clock may be set.
s64 sleep_by_clock(Thread* t, Call call) {
  constexpr u64 until = 1;  // TIMER_ABSTIME
  u64* const g = t->gpr;
  const u64 flags = g[rsi], request = g[rdx], rest = g[r10];
  Time time{};
  u64 ns = 0;
  if (get(&time, request, sizeof time) != 0 || !time.is_valid(1'000'000'000) ||
      !clock_at(t, static_cast<s32>(g[rdi]), ns))
    return call(t, SYS_clock_nanosleep);
  if ((flags & until) == 0) return wait(t, SYS_clock_nanosleep, call, time.ns(1), 0);
  const u64 left = time.ns(1) > ns ? time.ns(1) - ns : 0;
  time = time_from(left);
  g[rsi] = flags & ~until;
  g[rdx] = reinterpret_cast<u64>(&time);
  g[r10] = 0;
  const s64 r = wait(t, SYS_clock_nanosleep, call, left, 0);
  g[rsi] = flags;
  g[rdx] = request;
  g[r10] = rest;
  return r;
}

s64 wait_for_futex(Thread* t, Call call) {
  enum : u32 { wait_limited, lock_pi = 6, wait_bits = 9, wait_requeue_pi = 11, lock_pi_monotonic = 13 };
  constexpr u32 operation_bits = 127, by_realtime = 256;
  const u32 flags = static_cast<u32>(t->gpr[rsi]);
  const s32 clock = flags & by_realtime ? realtime : monotonic;
  switch (flags & operation_bits) {
    case wait_limited: return make_wait(t, {SYS_futex, r10, Wait::timespec, -ETIMEDOUT}, call);
    case lock_pi: return wait_until(t, SYS_futex, call, r10, realtime);
    case wait_bits:
    case wait_requeue_pi:
    case lock_pi_monotonic: return wait_until(t, SYS_futex, call, r10, clock);
    default: return call(t, SYS_futex);
  }
}

/// timerfd_settime(2) and timer_settime(2): a deadline becomes a limit.
s64 set_by_call(Thread* t, u32 number, Call call, TimerKind kind) {
  constexpr u64 until = 1;  // TFD_TIMER_ABSTIME, TIMER_ABSTIME
  u64* const g = t->gpr;
  const u64 flags = g[rsi], setting = g[rdx];
  struct {
    Time interval, first;
  } timer{};
  if (get(&timer, setting, sizeof timer) != 0 || !timer.first.is_valid(1'000'000'000) ||
      !timer.interval.is_valid(1'000'000'000))
    return call(t, number);
  u64 first = timer.first.ns(1);
  if (first != 0 && (flags & until)) {
    // The times of the two kinds of clocks are decades apart.
    u64 date = 0, ns = 0;
    clock_at(t, realtime, date);
    clock_at(t, monotonic, ns);
    const u64 now = first > date / 2 ? date : ns;
    first = first > now ? first - now : 1;
    timer.first = time_from(first);
    g[rsi] = flags & ~until;
    g[rdx] = reinterpret_cast<u64>(&timer);
  }
  const u64 rest = g[r10] != 0 ? rest_of(t, kind, g[rdi]) : 0;
  const s64 r = call(t, number);
  g[rsi] = flags;
  g[rdx] = setting;
  if (r == 0) put_rest(rest, g[r10], 1);
  if (r == 0) set_timer(t, kind, g[rdi], first, timer.interval.ns(1));
  return r;
}

s64 set_interval_timer(Thread* t, Call call) {
  Time timer[2]{};  // interval, first
  const bool is_known = t->gpr[rdi] == 0 /* ITIMER_REAL */ && get(timer, t->gpr[rsi], sizeof timer) == 0;
  const u64 rest = t->gpr[rdi] == 0 && t->gpr[rdx] != 0 ? rest_of(t, TimerKind::interval, 0) : 0;
  const s64 r = call(t, SYS_setitimer);
  if (r == 0) put_rest(rest, t->gpr[rdx], 1000);
  if (is_known && r == 0) set_timer(t, TimerKind::interval, 0, timer[1].ns(1000), timer[0].ns(1000));
  return r;
}

/// alarm(2) returns the rest of the timer that it replaces, in whole seconds, and at least one.
s64 set_alarm(Thread* t, Call call) {
  const u64 rest = rest_of(t, TimerKind::interval, 0);
  const s64 r = call(t, SYS_alarm);
  set_timer(t, TimerKind::interval, 0, u64{static_cast<u32>(t->gpr[rdi])} * second, 0);
  if (r <= 0 || rest == 0) return r;
  return rest < second ? 1 : static_cast<s64>((rest + second / 2) / second);
}

/// timer_gettime(2), timerfd_gettime(2) and getitimer(2).
s64 get_rest(Thread* t, u32 number, Call call, TimerKind kind, u64 id, u64 ns_of_part) {
  const s64 r = call(t, number);
  if (r == 0) put_rest(rest_of(t, kind, id), t->gpr[rsi], ns_of_part);
  return r;
}

/// A call that closes descriptors, or replaces an open one. Their timers are forgotten first: another thread may open
/// them again at once.
s64 close_descriptors(Thread* t, u32 number, Call call) {
  constexpr u64 only_at_exec = 4;  // CLOSE_RANGE_CLOEXEC
  const u64* const g = t->gpr;
  const bool is_range = number == SYS_close_range, is_close = number == SYS_close;
  const u32 first = static_cast<u32>(is_range || is_close ? g[rdi] : g[rsi]);
  const bool has_no_effect = (is_range && (g[rdx] & only_at_exec) != 0) || (!is_range && !is_close && g[rdi] == first);
  if (!has_no_effect) forget_timers(TimerKind::descriptor, first, is_range ? static_cast<u32>(g[rsi]) : first);
  return call(t, number);
}

s64 read_timer(Thread* t, Call call) {
  const s64 r = call(t, SYS_read);
  u64 times = 0;
  if (r == sizeof times && get(&times, t->gpr[rsi], sizeof times) == 0)
    expire(t, TimerKind::descriptor, t->gpr[rdi], times);
  return r;
}

}  // namespace

void waits_after_fork() {
  timers_lock = Lock{};
  // The child has the descriptors only.
  for (Timer& one : timers)
    if (one.kind != TimerKind::descriptor) one = {};
}

void release_waits_for_dead(u32 holder) { timers_lock.release_for_dead(holder); }

void note_timer_signal(Thread* t, const u8* info) {
  const u64 at_info = reinterpret_cast<u64>(info);
  constexpr s32 alarm = 14, by_kernel = 0x80, by_timer = -2;
  const s32 signal = at<s32>(at_info), code = at<s32>(at_info + 8);
  if (signal == alarm && code == by_kernel) expire(t, TimerKind::interval, 0, 1);
  if (code == by_timer) expire(t, TimerKind::posix, at<u32>(at_info + 16), 1 + u64{at<u32>(at_info + 20)});
}

s64 make_call_with_counted_clock(Thread* t, u32 number, Call call) {
  s64 r = 0;
  if (make_clock_call(t, number, r) || make_times_call(t, number, call, r)) return r;
  for (const Wait& one : waits)
    if (one.number == number) return make_wait(t, one, call);
  switch (number) {
    case SYS_read: return read_timer(t, call);
    case SYS_close:
    case SYS_close_range:
    case SYS_dup2:
    case SYS_dup3: return close_descriptors(t, number, call);
    case SYS_timer_delete: forget_timers(TimerKind::posix, t->gpr[rdi], t->gpr[rdi]); return call(t, number);
    case SYS_clock_nanosleep: return sleep_by_clock(t, call);
    case SYS_futex: return wait_for_futex(t, call);
    case 449 /* futex_waitv */: return wait_until(t, number, call, r10, static_cast<s32>(t->gpr[r8]));
    case 455 /* futex_wait */: return wait_until(t, number, call, r8, static_cast<s32>(t->gpr[r9]));
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive: return wait_until(t, number, call, r8, realtime);
    case SYS_timerfd_settime: return set_by_call(t, number, call, TimerKind::descriptor);
    case SYS_timer_settime: return set_by_call(t, number, call, TimerKind::posix);
    case SYS_setitimer: return set_interval_timer(t, call);
    case SYS_alarm: return set_alarm(t, call);
    case SYS_timerfd_gettime: return get_rest(t, number, call, TimerKind::descriptor, t->gpr[rdi], 1);
    case SYS_timer_gettime: return get_rest(t, number, call, TimerKind::posix, t->gpr[rdi], 1);
    case SYS_getitimer:
      return t->gpr[rdi] == 0 ? get_rest(t, number, call, TimerKind::interval, 0, 1000) : call(t, number);
    default: return call(t, number);
  }
}

}  // namespace tally::engine::guest
