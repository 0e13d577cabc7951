#include "tally/engine/guest/pmu_elsewhere.hpp"

#include <initializer_list>

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/pmu_overflows.hpp"

namespace tally::engine::guest {
namespace {

using channel::PmuKnown;

template <class F>
void for_modelled(u32 leader, F f) {
  for_group(leader, [&](const PmuOpenEvent& e) {
    if (!e.is_kernels && channel::is_modelled(settings().pmu.event[e.row]))
      for_countings(e, [&](u32, PmuCounting& c) { f(e, c); });
  });
}

bool is_unknown(const PmuOpenEvent& e, const PmuCounting& c) {
  if (c.thread == 0 || c.known >= PmuKnown::once || !is_counting(e, c) || thread_here(c.thread) != nullptr ||
      records().thread(c.thread).state != channel::State::running)
    return false;
  // A thread that still pauses or is in the same call has executed nothing since the event was switched on.
  return !c.begins || !(is_in_call(records().thread(c.thread)) || pauses_elsewhere(c.thread));
}

/// Whether the kernel would allow the caller to read the state of another process.
bool may_read(s32 pid) {
  char path[32] = "/proc/", to[8];
  copy(write_decimal(path + 6, static_cast<u64>(pid)), "/exe", 5);
  return kernel(SYS_readlink, reinterpret_cast<u64>(path), reinterpret_cast<u64>(to), sizeof to) != -EACCES;
}

/// Returns a thread of another process by its number; 0: the engine counts none that has it.
u32 thread_elsewhere(s32 pid) {
  const u32 end = __atomic_load_n(&records().header().next_thread, __ATOMIC_RELAXED) + 1;
  for (u32 i = 1; i < end && i < channel::thread_limit; i++) {
    const channel::Thread& record = records().thread(i);
    const channel::Process& process = records().process(record.process);
    // A thread of another pid namespace may have the same number there.
    if (record.tid == pid && record.state == channel::State::running && process.state == channel::State::running &&
        !failed(kernel(SYS_tgkill, static_cast<u64>(process.pid), static_cast<u64>(pid), 0)))
      return i;
  }
  return 0;
}

/// Whether a fork has made this process, and it has not begun.
bool is_new_process(s32 pid) {
  const u32 end = __atomic_load_n(&records().header().next_process, __ATOMIC_RELAXED) + 1;
  for (u32 i = 1; i < end && i < channel::process_limit; i++)
    if (records().process(i).pid == pid && records().process(i).state == channel::State::running) return true;
  return false;
}

}  // namespace

NamedThread thread_named(Thread* t, s32 pid) {
  if (pid == 0 || pid == t->tid) return {t->index, false, 0};
  {
    Guard guard(threads_lock);
    for (Thread* o = threads(); o != nullptr; o = o->next)
      if (o->process == t->process && o->tid == pid) return {o->index, true, 0};
  }
  if (failed(kernel(SYS_kill, static_cast<u64>(pid), 0))) return {0, false, -ESRCH};
  if (!may_read(pid)) return {0, false, -EACCES};
  constexpr u64 pause_us = 100, patience_us = 1'000'000;
  for (u64 waited_us = 0;; waited_us += pause_us) {
    if (const u32 thread = thread_elsewhere(pid); thread != 0) return {thread, false, 0};
    if (!is_new_process(pid) || waited_us > patience_us) return {0, false, -EOPNOTSUPP};
    go_out(t);
    pause_for(pause_us);
    come_in(t);
  }
}

Answers ask_for_counts(u32 leader, u32 round) {
  Answers answers = Answers::known;
  for_modelled(leader, [&](const PmuOpenEvent& e, PmuCounting& c) {
    if (round == 0 && c.known == PmuKnown::once) c.known = PmuKnown::no;  // another reader's, which may have ended
    if (!is_unknown(e, c)) return;
    c.known = PmuKnown::asked;
    const channel::Thread& record = records().thread(c.thread);
    records().process(record.process).counts_for_others = 1;
    if (round % 8 == 0) call_elsewhere(c.thread);
    const bool is_blocked = round != 0 && (is_in_call(record) || pauses_elsewhere(c.thread));
    if (answers != Answers::blocked) answers = is_blocked ? Answers::blocked : Answers::expected;
  });
  return answers;
}

bool are_known(u32 leader) {
  bool all = true;
  for_modelled(leader, [&](const PmuOpenEvent& e, const PmuCounting& c) { all = all && !is_unknown(e, c); });
  return all;
}

void forget_counts(u32 leader) {
  for_modelled(leader, [](const PmuOpenEvent&, PmuCounting& c) {
    if (c.known != PmuKnown::at_rest) c.known = PmuKnown::no;
  });
}

void answer_others(const Thread* t) {
  PmuValues values;
  for (u32 at = 1; at <= pmu_table().countings; at++) {
    PmuCounting& c = pmu_table().counting[at];
    if (c.thread == 0 || records().thread(c.thread).process != t->process) continue;
    if (!(c.begins || c.known == PmuKnown::asked)) continue;
    if (update_counting(at, values) && c.known == PmuKnown::asked) c.known = PmuKnown::once;
  }
}

bool may_wait(u32 call) {
  for (const int waits : {SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait, SYS_accept,
                          SYS_accept4, SYS_recvfrom, SYS_nanosleep, SYS_clock_nanosleep, SYS_futex, SYS_wait4,
                          SYS_waitid, SYS_pause, SYS_rt_sigtimedwait, SYS_rt_sigsuspend})
    if (call == static_cast<u32>(waits)) return true;
  return false;
}

void count_before_call(const Thread* t) {
  PmuGuard guard;
  PmuValues values;
  for_countings_of(t->index, [&](u32 at, PmuCounting& c) {
    if (update_counting(at, values)) c.known = PmuKnown::at_rest;
  });
}

void continue_after_call(const Thread* t) {
  PmuGuard guard;
  for_countings_of(t->index, [](u32, PmuCounting& c) { c.known = PmuKnown::no; });
}

}  // namespace tally::engine::guest
