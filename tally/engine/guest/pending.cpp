#include "tally/engine/guest/pending.hpp"

#include "tally/engine/context.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/timer_signals.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {
namespace {

constexpr s32 code_user = 0, code_queue = -1, code_thread = -6;  // SI_USER, SI_QUEUE, SI_TKILL

/// One signal that is pending for the process. There is no lock, because a handler may interrupt a thread that changes
/// it.
struct Entry {
  enum State : u32 { empty, filling, full };
  u32 state;
  u8 info[128];
};
Entry of_process[5];

u64 by_descriptor;  // signals of any signalfd

u32 index_of(int signal) { return bits_set(engine_signals & (bit(signal) - 1)); }
s32 code_of(const u8* info) { return at<s32>(reinterpret_cast<u64>(info) + 8); }

/// Whether the thread is that of a vfork child. The signals of its process are not separate from its own, because it is
/// the only thread of its process and lives in another's memory.
bool is_other_process(const Thread* t) { return t->process != own_process_number(); }

bool is_for_thread(Thread* t, int signal, const u8* info) {
  const s32 code = code_of(info);
  constexpr s32 of_counter = 6;  // TRAP_PERF: of an event of the thread
  if (signal == sigtrap && code == of_counter) return true;
  if (code != code_queue && code != code_thread && code <= 0) return false;
  // One signal per number is on its way to a thread, however the last one was sent.
  return (__atomic_fetch_and(&t->queued, ~bit(signal), __ATOMIC_SEQ_CST) & bit(signal)) != 0 || code == code_thread;
}

void add_to_process(int signal, const u8* info) {
  Entry& e = of_process[index_of(signal)];
  u32 expected = Entry::empty;
  if (!__atomic_compare_exchange_n(&e.state, &expected, Entry::filling, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    if (expected == Entry::full) add_overruns(e.info, info);
    return;
  }
  copy(e.info, info, sizeof e.info);
  __atomic_store_n(&e.state, Entry::full, __ATOMIC_SEQ_CST);
}

bool take_from_process(int signal, u8* info) {
  Entry& e = of_process[index_of(signal)];
  if (__atomic_load_n(&e.state, __ATOMIC_SEQ_CST) != Entry::full) return false;
  copy(info, e.info, sizeof e.info);
  u32 expected = Entry::full;  // several threads may have copied it, one takes it
  return __atomic_compare_exchange_n(&e.state, &expected, Entry::empty, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

u64 full_entries() {
  u64 set = 0;
  for (u64 left = engine_signals; left != 0; left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    if (__atomic_load_n(&of_process[index_of(signal)].state, __ATOMIC_SEQ_CST) == Entry::full) set |= bit(signal);
  }
  return set;
}

/// Returns the signals that the kernel reports as pending for the calling thread alone.
u64 pending_in_kernel() {
  static const char label[] = "SigPnd:\t";
  char text[2048];
  const s64 fd =
      kernel(SYS_openat, static_cast<u64>(-100), reinterpret_cast<u64>("/proc/thread-self/status"), 02000000);
  if (failed(fd)) return 0;
  const s64 n = kernel(SYS_read, static_cast<u64>(fd), reinterpret_cast<u64>(text), sizeof text);
  kernel(SYS_close, static_cast<u64>(fd));
  u64 set = 0;
  for (s64 i = 0, matched = 0; i < n; i++) {
    if (matched == sizeof label - 1) {
      if (text[i] == '\n') break;
      set = set << 4 | static_cast<u64>(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    } else {
      matched = text[i] == label[matched] ? matched + 1 : 0;
    }
  }
  return set;
}

/// The siginfo that announces a signal in the process's set. The kernel does not let a process send another thread a
/// siginfo that claims to be from kill(2).
struct Routed {
  s32 signal, error, code, pad;
  s32 pid, uid;
  u64 value;
  u8 rest[96];
};

void announce(const Thread* to, int signal) {
  Routed routed{};
  routed.signal = signal;
  routed.code = code_queue;
  routed.value = reinterpret_cast<u64>(of_process);
  kernel(SYS_rt_tgsigqueueinfo, static_cast<u64>(to->tgid), static_cast<u64>(to->tid), static_cast<u64>(signal),
         reinterpret_cast<u64>(&routed));
}

/// Whether the thread accepts the signal now, or waits for it in a system call.
bool accepts(const Thread* t, int signal) {
  const u64 mask = __atomic_load_n(&t->mask, __ATOMIC_SEQ_CST),
            waits = __atomic_load_n(&t->waits_for, __ATOMIC_SEQ_CST);
  return (~mask | waits) & bit(signal);
}

/// Whether the thread's system call reads descriptors or waits for them.
bool may_read(const Thread* t) {
  switch (t->gpr[rax]) {
    case SYS_read:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case 441 /* epoll_pwait2 */: return true;
    default: return false;
  }
}

/// Chooses a thread as the kernel does: the first thread of the process if it accepts the signal, otherwise any that
/// does. If the signal can be read from a descriptor, also a thread that is in a system call.
Thread* thread_for(const Thread* t, int signal) {
  const bool readable = (read_from_descriptors() & bit(signal)) != 0;
  Thread *accepting = nullptr, *reading = nullptr;
  for (Thread* o = threads(); o != nullptr; o = o->next) {
    if (o->process != t->process || o->tid == 0) continue;
    if (accepts(o, signal)) {
      if (o->tid == o->tgid) return o;
      accepting = o;
    } else if (readable && o != t && __atomic_load_n(&o->where, __ATOMIC_SEQ_CST) != inside && may_read(o)) {
      reading = o;
    }
  }
  return accepting != nullptr ? accepting : reading;
}

}  // namespace

void send_to_self(int signal, const u8* info) {
  kernel(SYS_rt_tgsigqueueinfo, static_cast<u64>(kernel(SYS_getpid)), static_cast<u64>(kernel(SYS_gettid)),
         static_cast<u64>(signal), reinterpret_cast<u64>(info));
}

namespace {
bool events_disguised;
constexpr u32 disguised = 0x80000000, of_event = 0xa7c50000, event_bits = 0xffff0000;
}  // namespace

void disguise(u8* info) {
  // For a code that the kernel does not support, the bytes after those that it keeps of every siginfo must be 0.
  constexpr u64 kept_bytes = 48;
  const s32 code = code_of(info);
  if (code <= 0) return;
  reinterpret_cast<Routed*>(info)->code = static_cast<s32>(static_cast<u32>(code) | disguised);
  __builtin_memset(info + kept_bytes, 0, 128 - kept_bytes);
}

void disguise_event(int signal, u8* info) {
  disguise(info);
  if (engine_signals & bit(signal)) return;
  reinterpret_cast<Routed*>(info)->code |= static_cast<s32>(of_event);
  __atomic_store_n(&events_disguised, true, __ATOMIC_SEQ_CST);
}

bool has_disguised_events() { return __atomic_load_n(&events_disguised, __ATOMIC_SEQ_CST); }

bool reveal(int signal, u8* info) {
  constexpr s32 lowest_known = -0x40000000;  // all codes of the kernel are far above
  const s32 code = code_of(info);
  const bool engines = (engine_signals & bit(signal)) != 0;
  const u32 bits = engines ? disguised : event_bits;
  if (code >= lowest_known || (!engines && (static_cast<u32>(code) & bits) != of_event)) return false;
  reinterpret_cast<Routed*>(info)->code = static_cast<s32>(static_cast<u32>(code) & ~bits);
  return engines;
}

bool add_pending(Thread* t, int signal, const u8* info) {
  if (!is_other_process(t) && !is_for_thread(t, signal, info)) {
    add_to_process(signal, info);
    return true;
  }
  if (t->held & bit(signal)) {
    add_overruns(t->held_info[index_of(signal)], info);
    return false;
  }
  copy(t->held_info[index_of(signal)], info, sizeof t->held_info[0]);
  __atomic_or_fetch(&t->held, bit(signal), __ATOMIC_SEQ_CST);
  return false;
}

u64 pending_for_process(const Thread* t) { return is_other_process(t) ? 0 : full_entries(); }

u64 deliverable(const Thread* t) { return (t->held | pending_for_process(t)) & ~t->mask; }

int take_own(Thread* t, u64 which, u8* info) {
  const u64 own = t->held & which;
  if (own == 0) return 0;
  const int signal = __builtin_ctzll(own) + 1;
  copy(info, t->held_info[index_of(signal)], sizeof t->held_info[0]);
  __atomic_and_fetch(&t->held, ~bit(signal), __ATOMIC_SEQ_CST);
  return signal;
}

int take_of_process(Thread* t, u64 which, u8* info) {
  for (u64 left = pending_for_process(t) & which; left != 0; left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    if (take_from_process(signal, info)) return signal;
  }
  return 0;
}

int take_own_from_kernel(u64 which, u8* info) {
  const u64 own = pending_in_kernel() & which;
  if (own == 0) return 0;
  const u64 no_time[2] = {};
  const s64 r = kernel(SYS_rt_sigtimedwait, reinterpret_cast<u64>(&own), reinterpret_cast<u64>(info),
                       reinterpret_cast<u64>(no_time), 8);
  return r > 0 ? static_cast<int>(r) : 0;
}

void discard_pending(Thread* t, int signal) {
  u8 info[128];
  if (!is_other_process(t)) take_from_process(signal, info);
  Guard guard(threads_lock);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process) __atomic_and_fetch(&o->held, ~bit(signal), __ATOMIC_SEQ_CST);
}

void take_back(Thread* t, u64 timer, TimerSignals& taken) {
  for (u64 left = engine_signals; left != 0 && timers_take_signals_back(); left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    u8* const info = taken.info[taken.count];
    if (is_other_process(t)) {
      if ((t->held & bit(signal)) && is_of_timer(t->held_info[index_of(signal)], timer))
        taken.count += take_own(t, bit(signal), info) != 0;
    } else if (is_of_timer(of_process[index_of(signal)].info, timer)) {
      taken.count += take_from_process(signal, info);
    }
  }
}

void put_back(Thread* t, const TimerSignals& taken, bool as_taken) {
  for (u32 i = 0; i < taken.count; i++) {
    u8 info[128];
    copy(info, taken.info[i], sizeof info);
    if (as_taken) mark_taken_back(info);
    add_pending(t, at<s32>(reinterpret_cast<u64>(info)), info);
  }
}

void route_pending(Thread* t) {
  for (u64 left = pending_for_process(t) & t->mask; left != 0; left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    Guard guard(threads_lock);
    const Thread* to = thread_for(t, signal);
    if (to == nullptr || to == t) continue;
    announce(to, signal);
  }
}

bool is_routed(const u8* info) {
  const Routed& r = *reinterpret_cast<const Routed*>(info);
  if (r.code == code_queue && r.value == reinterpret_cast<u64>(of_process)) return true;
  // If its queue was full, the kernel has lost the siginfo. Another signal with the same content is the same as the
  // pending one.
  if (r.code != code_user || r.pid != 0 || !(engine_signals & bit(r.signal))) return false;
  return __atomic_load_n(&of_process[index_of(r.signal)].state, __ATOMIC_SEQ_CST) == Entry::full;
}

bool take_routed(Thread* t, int signal, u8* info) {
  return !is_other_process(t) && take_from_process(signal, info) && !is_taken_back(info);
}

// Sends each signal once. If another signal arrives in between, the kernel stops blocking these (come_out()), and each
// one sent returns at once.
static void give_own_to_kernel(Thread* t, bool for_good) {
  u8 info[128];
  for (u64 left = t->held; left != 0; left &= left - 1) {
    const int signal = take_own(t, left & -left, info);
    if (signal == 0) continue;
    if (is_taken_back(info)) continue;
    // Note that the signal is for this thread, for when it returns.
    if (code_of(info) == code_queue || code_of(info) > 0) __atomic_or_fetch(&t->queued, bit(signal), __ATOMIC_SEQ_CST);
    if (!for_good) disguise(info);
    send_to_self(signal, info);
  }
}

/// Makes the signals of the process that are in `which` visible to this thread.
static void show_process(Thread* t, u64 which) {
  u8 info[128];
  if (which == 0) return;
  if (t->tid == t->tgid && is_last(t)) {
    for (u64 left = which; left != 0; left &= left - 1)
      if (const int signal = take_of_process(t, left & -left, info); signal != 0 && !is_taken_back(info)) {
        disguise(info);
        kernel(SYS_rt_sigqueueinfo, static_cast<u64>(t->tgid), static_cast<u64>(signal), reinterpret_cast<u64>(info));
      }
    return;
  }
  // With several threads the kernel might choose another one, and a signal sent to this thread is lost if one with the
  // same number is pending already. So the signal is only announced.
  for (u64 left = which; left != 0; left &= left - 1) announce(t, __builtin_ctzll(left) + 1);
}

void move_pending_to_kernel(Thread* t) {
  u8 info[128];
  give_own_to_kernel(t, true);
  for (u64 left = pending_for_process(t); left != 0; left &= left - 1)
    if (const int signal = take_of_process(t, left & -left, info); signal != 0 && !is_taken_back(info))
      send_to_self(signal, info);
}

void show_pending(Thread* t) {
  give_own_to_kernel(t, false);
  const u64 pending = pending_for_process(t);
  if (pending == 0) return;
  u64 shown = pending & t->waits_for;
  if (may_read(t))
    for (u64 left = pending & read_from_descriptors(); left != 0; left &= left - 1) {
      Guard guard(threads_lock);
      const int signal = __builtin_ctzll(left) + 1;
      if (thread_for(t, signal) == nullptr) shown |= bit(signal);
    }
  show_process(t, shown);
}

void note_queued_to_thread(u64 tid, int signal) {
  Guard guard(threads_lock);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->tid == static_cast<s64>(tid)) __atomic_or_fetch(&o->queued, bit(signal), __ATOMIC_SEQ_CST);
}

void forget_queued_to_thread(Thread* t, int signal) { __atomic_and_fetch(&t->queued, ~bit(signal), __ATOMIC_SEQ_CST); }

void note_descriptor(u64 signals) { __atomic_or_fetch(&by_descriptor, signals & engine_signals, __ATOMIC_RELAXED); }

u64 read_from_descriptors() { return __atomic_load_n(&by_descriptor, __ATOMIC_RELAXED); }

namespace {

/// struct signalfd_siginfo: the fields that a process fills in a signal to itself, as in siginfo.
struct SignalRecord {
  u32 signal;
  s32 error, code;
  u32 pid, uid, descriptor, thread, band, overruns, trap, status, number;
  u64 value;
  u64 rest[9];
};

/// Restores the record of a disguised event. The kernel has read its band and descriptor as a sender and a value.
bool reveal_event(SignalRecord& record) {
  u64 others = record.descriptor | record.thread | record.band | record.overruns | record.trap | record.status;
  for (const u64 word : record.rest) others |= word;
  if (record.signal - 1 >= 64 || (static_cast<u32>(record.code) & event_bits) != of_event || others != 0) return false;
  record.code = static_cast<s32>(static_cast<u32>(record.code) & ~event_bits);
  record.band = record.pid;
  record.descriptor = record.number;
  record.pid = record.uid = record.number = 0;
  record.value = 0;
  return true;
}

}  // namespace

s64 resolve_routed(Thread* t, u64 buffer, s64 bytes) {
  SignalRecord record;
  static_assert(sizeof record == 128 && offsetof(SignalRecord, value) == 48);
  u64 kept = 0, left = static_cast<u64>(bytes);  // bytes that are no signal record stay in place
  for (u64 i = 0; left >= sizeof record; i += sizeof record) {
    left -= sizeof record;
    if (get(&record, buffer + i, sizeof record) != 0) return bytes;
    if ((record.code == code_queue || record.code == code_thread) && record.signal - 1 < 64)
      forget_queued_to_thread(t, static_cast<int>(record.signal));
    if (record.code == code_queue && record.value == reinterpret_cast<u64>(of_process)) {
      Routed found;
      if (!take_routed(t, static_cast<int>(record.signal), reinterpret_cast<u8*>(&found))) continue;
      record.code = found.code;
      record.pid = static_cast<u32>(found.pid);
      record.uid = static_cast<u32>(found.uid);
      record.value = found.code == code_user ? 0 : found.value;
      record.number = static_cast<u32>(record.value);
      put(buffer + kept, &record, sizeof record);
    } else if (reveal_event(record) || kept != i) {
      put(buffer + kept, &record, sizeof record);
    }
    kept += sizeof record;
  }
  return static_cast<s64>(kept + left);
}

void pending_after_fork(Thread* t) {
  t->held = 0;
  t->waits_for = t->queued = 0;
  for (Entry& e : of_process) e.state = Entry::empty;
  forget_all_overruns();
}

}  // namespace tally::engine::guest
