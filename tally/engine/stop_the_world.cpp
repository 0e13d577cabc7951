#include "tally/engine/stop_the_world.hpp"

#include "tally/engine/clock.hpp"
#include "tally/engine/context.hpp"
#include "tally/engine/sharing.hpp"

namespace tally::engine {
namespace {

u32 taken;      // a futex: lock_id of the thread that has the right to stop others, or 0
bool leaving_;  // the process continues natively
u32 ending;     // the process whose threads stop for good, 0 = none

bool is_taken() { return __atomic_load_n(&taken, __ATOMIC_SEQ_CST) != 0; }
bool is_ending(const Thread* t) { return __atomic_load_n(&ending, __ATOMIC_SEQ_CST) == t->process; }
void put_where(Thread* t, Where where) { __atomic_store_n(&t->where, static_cast<u32>(where), __ATOMIC_SEQ_CST); }
bool change_where(Thread* t, Where from, Where to) {
  u32 expected = from;
  return __atomic_compare_exchange_n(&t->where, &expected, static_cast<u32>(to), false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

/// Releases the right to stop others, lets held threads come in, and wakes those that wait for this right.
void release_turn() {
  {
    Guard guard(threads_lock);
    for (Thread* o = threads(); o != nullptr; o = o->next) change_where(o, held, outside);
  }
  __atomic_store_n(&taken, 0, __ATOMIC_SEQ_CST);
  kernel(SYS_futex, reinterpret_cast<u64>(&taken), FUTEX_WAKE, 0x7fffffff);
}

/// Waits a moment unless the right to stop others is free. Releases it if its holder was killed.
void wait_for_turn() {
  u32 holder = __atomic_load_n(&taken, __ATOMIC_SEQ_CST);
  if (holder == 0) return;
  if (memory_is_shared() && has_died(holder)) {
    if (__atomic_compare_exchange_n(&taken, &holder, own_lock_id(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      release_turn();
    return;
  }
  constexpr u64 pause[2] = {0, 10'000'000};
  kernel(SYS_futex, reinterpret_cast<u64>(&taken), FUTEX_WAIT, holder, reinterpret_cast<u64>(pause));
}

/// If the thread was killed, records that, so that nobody waits for it.
bool mark_if_killed(Thread* o) {
  if (!memory_is_shared() || !has_died(*o)) return false;
  __atomic_store_n(&o->in_call, 0, __ATOMIC_RELAXED);
  put_where(o, killed);
  return true;
}

/// Blocks for ever a thread that is outside and whose process ends.
[[noreturn]] void block_for_ever(Thread*) {
  const u64 all = ~u64{0};
  kernel(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, reinterpret_cast<u64>(&all), 0, sizeof all);
  for (;;) kernel(SYS_pause);
}

/// The siginfo argument of rt_sigqueueinfo.
struct Request {
  s32 signal, error, code, pad;
  s32 pid, uid;
  u64 value;
  u8 rest[96];
};
constexpr s32 queued = -1;  // SI_QUEUE

}  // namespace

void ask_out(const Thread* from, const Thread* to) {
  // In another pid namespace (of a vfork child), these numbers are those of other threads. It comes out by itself.
  if (to->tid == 0 || to->tgid == 0 || (from->tgid == 0 && to->process != from->process)) return;
  ask_out_elsewhere(static_cast<s32>(to->tgid), static_cast<s32>(to->tid));
}

// The engine is at the same address in each process.
void ask_out_elsewhere(s32 pid, s32 tid) {
  Request request{};
  request.signal = request_signal;
  request.code = queued;
  request.value = reinterpret_cast<u64>(&taken);
  kernel(SYS_rt_tgsigqueueinfo, static_cast<u64>(pid), static_cast<u64>(tid), request_signal,
         reinterpret_cast<u64>(&request));
}

namespace {

template <class Which>
bool hold_selected(Thread* t, u64 patience_us, Where as, Which which) {
  u64 pause_us = 20, waited_us = 0;
  for (u32 round = 0;; round++) {
    bool all = true;
    {
      Guard guard(threads_lock);
      for (Thread* o = threads(); o != nullptr; o = o->next) {
        if (o == t || !which(o) || change_where(o, outside, as)) continue;
        if (__atomic_load_n(&o->where, __ATOMIC_SEQ_CST) >= held) continue;
        if (round % 4 == 3 && mark_if_killed(o)) continue;
        all = false;
        // Repeat the request: the thread may have passed its last check of `pad` when the previous one arrived.
        if (round % 4 == 0) ask_out(t, o);
      }
    }
    if (all) return true;
    if (waited_us > patience_us) return false;
    pause_for(pause_us);
    waited_us += pause_us;
    if (pause_us < 500) pause_us *= 2;
  }
}

}  // namespace

bool is_request(const u8* info) {
  const Request& r = *reinterpret_cast<const Request*>(info);
  if (r.code == queued && r.value == reinterpret_cast<u64>(&taken)) return true;
  // The kernel had no memory for the siginfo.
  return r.code == 0 && r.pid == 0 && (is_taken() || ending != 0);
}

void go_out(Thread* t) {
  put_where(t, outside);
  if (!is_taken()) return;  // from now on, a thread that takes it sees that this thread is outside
  while (is_taken()) wait_for_turn();
  // A request sent before the thread was outside has arrived by now; this call receives it.
  kernel(SYS_sched_yield);
}

void come_in(Thread* t) {
  for (;;) {
    if (is_ending(t)) block_for_ever(t);
    if (is_taken())
      wait_for_turn();
    else if (change_where(t, outside, inside))
      return;
  }
}

bool is_asked_out(const Thread* t) {
  const u32 holder = __atomic_load_n(&taken, __ATOMIC_SEQ_CST);
  return (holder != 0 && holder != t->lock_id) || is_ending(t);
}

void step_aside(Thread* t) {
  put_where(t, outside);
  come_in(t);
}

bool try_take_turn(Thread* t) {
  u32 none = 0;
  return __atomic_compare_exchange_n(&taken, &none, t->lock_id, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void take_turn(Thread* t) {
  put_where(t, outside);
  while (!try_take_turn(t)) wait_for_turn();
  if (change_where(t, outside, inside)) return;
  give_turn(t);  // the process has ended meanwhile
  block_for_ever(t);
}

void give_turn(Thread*) { release_turn(); }

void give_turn_for_dead(u32 holder) {
  if (__atomic_compare_exchange_n(&taken, &holder, own_lock_id(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    release_turn();
}

bool hold_others(Thread* t) {
  return hold_selected(t, 10000000, held, [](const Thread*) { return true; });
}

void stop_others(Thread* t) {
  if (t->vfork_child != 0) return;
  if (__atomic_exchange_n(&ending, t->process, __ATOMIC_SEQ_CST) == t->process) {
    // Another thread already ends the process.
    put_where(t, outside);
    block_for_ever(t);
  }
  take_turn(t);
  // Once a thread has left the engine, the handlers are the program's, and no thread can be asked to come out.
  if (!leaving() && !hold_selected(t, 1000000, stopped, [t](const Thread* o) { return o->process == t->process; }))
    mark_partial(t, channel::partial_not_parked);
  give_turn(t);
}

bool leaving() { return leaving_; }
bool begin_leaving() { return !__atomic_exchange_n(&leaving_, true, __ATOMIC_ACQ_REL); }

void stops_after_fork(Thread* t) {
  taken = ending = 0;
  sharing_after_fork();
  t->where = inside;
}

}  // namespace tally::engine
