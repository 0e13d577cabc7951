#include "tally/engine/guest/leaving.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "tally/engine/clock.hpp"
#include "tally/engine/context.hpp"
#include "tally/engine/decimal.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/sharing.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {
namespace {

bool leave_requested;  // this process has to leave

constexpr u64 patience_us = 1'000'000;

/// struct siginfo as rt_tgsigqueueinfo takes it.
struct Request {
  s32 signal = request_signal, error = 0, code = -1 /* SI_QUEUE */, pad = 0;
  s32 pid = 0, uid = 0;
  u64 value = reinterpret_cast<u64>(&leave_requested);  // the same address in every program under this engine
  u8 rest[96] = {};
};

void send_request(u64 pid, u64 tid) {
  Request request;
  kernel(SYS_rt_tgsigqueueinfo, pid, tid, request_signal, reinterpret_cast<u64>(&request));
}

u32 leaving_of(const channel::Process& p) { return __atomic_load_n(&p.leaving, __ATOMIC_SEQ_CST); }

// --- the controlling process ----------------------------------------------------------------------------------------

/// Returns the process record number that a thread has in its own memory; a negative errno if this process may not read
/// that memory or if the thread has no engine.
s64 remote_process(u64 tid) {
  u32 number = 0;
  const u64 here[2] = {reinterpret_cast<u64>(&number), sizeof number},
            there[2] = {reinterpret_cast<u64>(&own_records.process), sizeof number};
  const s64 r = kernel(SYS_process_vm_readv, tid, reinterpret_cast<u64>(here), 1, reinterpret_cast<u64>(there), 1, 0);
  if (failed(r)) return r;
  return number != 0 && number < channel::process_limit ? static_cast<s64>(number) : -ESRCH;
}

/// Returns the record of a thread of that process; 0 if it has none yet.
u32 thread_record(u64 tid, u32 process) {
  const u32 end = __atomic_load_n(&records().header().next_thread, __ATOMIC_RELAXED) + 1;
  for (u32 i = 1; i < end && i < channel::thread_limit; i++) {
    const channel::Thread& record = records().thread(i);
    if (record.process == process && record.tid == static_cast<s32>(tid) && record.state != channel::State::free)
      return i;
  }
  return 0;
}

/// Reads the file `directory` + TID + `name` of a thread, each a literal. Returns the number of bytes; at most 0 on
/// failure.
template <u64 n, u64 m>
s64 read_file_of(const char (&directory)[n], u64 tid, const char (&name)[m], char* to, u64 bytes) {
  char path[64];
  copy(path, directory, n - 1);
  copy(write_decimal(path + n - 1, tid), name, m);
  const s64 fd = kernel(SYS_openat, static_cast<u64>(AT_FDCWD), reinterpret_cast<u64>(path), O_RDONLY | O_CLOEXEC);
  if (failed(fd)) return fd;
  const s64 r = kernel(SYS_read, static_cast<u64>(fd), reinterpret_cast<u64>(to), bytes);
  kernel(SYS_close, static_cast<u64>(fd));
  return r;
}

/// Whether a signal has stopped the thread: it then receives no other signals.
bool is_stopped(u64 tid) {
  char text[512];
  s64 i = read_file_of("/proc/", tid, "/stat", text, sizeof text);
  while (i > 0 && text[i - 1] != ')') i--;  // the name may contain any character
  return i > 0 && (text[i + 1] == 'T' || text[i + 1] == 't');
}

/// Whether every living thread of the process runs natively.
bool all_left(u32 process, s32 pid) {
  const u32 end = __atomic_load_n(&records().header().next_thread, __ATOMIC_RELAXED) + 1;
  for (u32 i = 1; i < end && i < channel::thread_limit; i++) {
    const channel::Thread& record = records().thread(i);
    if (record.process != process || record.state == channel::State::free ||
        __atomic_load_n(&record.left, __ATOMIC_SEQ_CST) != 0)
      continue;
    if (!failed(kernel(SYS_tgkill, static_cast<u64>(pid), static_cast<u64>(record.tid), 0))) return false;
  }
  return true;
}

/// Whether the process has one thread.
bool has_one_thread(u32 process) {
  u32 n = 0;
  const u32 end = __atomic_load_n(&records().header().next_thread, __ATOMIC_RELAXED) + 1;
  for (u32 i = 1; i < end && i < channel::thread_limit; i++)
    n += records().thread(i).process == process && records().thread(i).state == channel::State::running;
  return n == 1;
}

void ask_to_leave(channel::Process& p) {
  u32 none = channel::leaving_none;
  __atomic_compare_exchange_n(&p.leaving, &none, u32{channel::leaving_asked}, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
}

/// Waits until a traced thread stops, and returns the signal that it reports; 0 if it has ended.
u64 next_stop(u64 tid) {
  struct {
    s32 signal, error, code;
    s32 pad[3], status;
    u8 rest[100];
  } info{};
  constexpr s32 trapped = 4, stopped = 5;  // CLD_TRAPPED, CLD_STOPPED
  kernel(SYS_waitid, P_PID, tid, reinterpret_cast<u64>(&info), WSTOPPED | WEXITED | WNOWAIT | __WALL);
  if (info.code != trapped && info.code != stopped) return 0;
  u32 status = 0;
  kernel(SYS_wait4, tid, reinterpret_cast<u64>(&status), WSTOPPED | __WALL);
  return status >> 8;
}

bool is_in_engine(u64 tid) {
  user_regs_struct r{};
  kernel(SYS_ptrace, PTRACE_GETREGS, tid, 0, reinterpret_cast<u64>(&r));
  return r.rip - image_base < image_header().bytes;
}

/// Sends the request and waits. Returns false if the process does not leave.
bool request_leave(u32 process, u64 tid) {
  channel::Process& p = records().process(process);
  ask_to_leave(p);
  constexpr u64 again_us = 300'000, pause_us = 200;
  for (u64 waited_us = 0; waited_us < patience_us; waited_us += pause_us) {
    if (leaving_of(p) == channel::leaving_refused) return false;
    // Send it once: a second signal might arrive when the engine's handlers are no longer installed.
    if (leaving_of(p) == channel::leaving_asked && waited_us % again_us == 0)
      send_request(static_cast<u64>(p.pid), tid);
    pause_for(pause_us);
    if (all_left(process, p.pid)) {
      pause_for(pause_us);  // until it has returned from its handler
      return true;
    }
  }
  return false;
}

// --- the process that leaves ----------------------------------------------------------------------------------------

/// Whether all threads in this memory belong to this process.
bool has_memory_to_itself(const Thread* t) {
  Guard guard(threads_lock);
  for (const Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process != t->process && o->where != killed) return false;
  return t->vfork_child == 0;
}

/// Brings all other threads out of the engine and out of system calls. Signals each once, because the program's
/// handlers replace the engine's soon.
void end_calls_of_others(Thread* t) {
  const auto each_in_call = [t](auto&& f) {
    Guard guard(threads_lock);
    for (Thread* o = threads(); o != nullptr; o = o->next)
      if (o != t && __atomic_load_n(&o->in_call, __ATOMIC_SEQ_CST) != 0) f(o);
  };
  each_in_call([t](const Thread* o) { send_request(static_cast<u64>(t->tgid), static_cast<u64>(o->tid)); });
  constexpr u64 pause_us = 100;
  for (u64 waited_us = 0; waited_us < patience_us; waited_us += pause_us) {
    u32 left = 0;
    each_in_call([&left](const Thread*) { left++; });
    pause_for(pause_us);
    if (left == 0) return;
  }
}

/// Whether a thread of this process is in a system call that it made natively, and so uses no memory of the engine.
bool is_in_native_call(const Thread* o) {
  if (__atomic_load_n(&records().thread(o->index).left, __ATOMIC_SEQ_CST) == 0) return false;
  char text[256];
  const s64 n = read_file_of("/proc/self/task/", static_cast<u64>(o->tid), "/syscall", text, sizeof text);
  // The last number is its address. A thread that is not in the kernel has none.
  u64 pc = 0;
  bool any = false;
  for (s64 i = 0; i < n && text[i] != '\n'; i++) {
    const char c = text[i];
    const bool letter = c >= 'a' && c <= 'f';
    any |= c == 'x';
    if (c == ' ' || c == 'x') pc = 0;
    if (letter || (c >= '0' && c <= '9')) pc = pc << 4 | static_cast<u64>(letter ? c - 'a' + 10 : c - '0');
  }
  return any && pc - image_base >= image_header().bytes;
}

}  // namespace

void release_blocks_of_others(Thread* t) {
  end_calls_of_others(t);
  constexpr u64 pause_us = 5000, rounds = 20;
  for (u64 round = 0; round < rounds; round++) {
    bool all = true;
    {
      Guard guard(threads_lock);
      for (Thread *o = threads(), *next; o != nullptr; o = next) {
        next = o->next;
        if (o == t || o->process != t->process) continue;
        const bool unused = is_in_native_call(o);
        all &= unused;
        if (!unused) continue;
        unlink(o);
        unmap_block(o);
      }
    }
    if (all) return;
    pause_for(pause_us);
  }
}

u32 make_leave(Thread* t, u64 tid, bool traces) {
  go_out(t);
  constexpr u64 pause_us = 500;
  bool exists = false, done = false;
  u32 stopped = 0;
  for (u64 waited_us = 0; waited_us < patience_us; waited_us += pause_us) {
    const s64 process = remote_process(tid);
    // Not permitted, or no program under this engine: it is native already.
    if (process < 0) break;
    exists = true;
    const u32 thread = thread_record(tid, static_cast<u32>(process));
    if (thread != 0) {
      const bool left = __atomic_load_n(&records().thread(thread).left, __ATOMIC_SEQ_CST) != 0;
      const bool stays_stopped = !left && is_stopped(tid);
      if (stays_stopped && traces && has_one_thread(static_cast<u32>(process))) {
        stopped = thread;
        channel::Process& p = records().process(static_cast<u32>(process));
        p.leaves_stopped = 1;
        ask_to_leave(p);
        send_request(static_cast<u64>(p.pid), tid);
      }
      done = left || stopped != 0 || (!stays_stopped && request_leave(static_cast<u32>(process), tid));
      if (!done) {
        __atomic_or_fetch(&records().process(static_cast<u32>(process)).partial, u32{channel::partial_ptraced},
                          __ATOMIC_RELAXED);
      }
      break;
    }
    pause_for(pause_us);  // forked, and not started yet
  }
  if (exists && !done) mark_partial(t, channel::partial_ptraced);
  come_in(t);
  return stopped;
}

void lead_out(u32 thread, u64 tid, bool seized) {
  const auto has_left = [thread] { return __atomic_load_n(&records().thread(thread).left, __ATOMIC_SEQ_CST) != 0; };
  // The request and the engine's own trap are passed on. No SIGSTOP is: neither that of the stop in which the process
  // was, nor that of PTRACE_ATTACH, nor the one that the process sends itself when it has left.
  u64 signal = next_stop(tid);
  while (signal != 0 && !(signal == sigstop && has_left())) {
    kernel(SYS_ptrace, PTRACE_CONT, tid, 0, (signal & 0xff) == sigstop ? 0 : signal & 0xff);
    signal = next_stop(tid);
  }
  while (signal != 0 && is_in_engine(tid)) {
    kernel(SYS_ptrace, PTRACE_SINGLESTEP, tid, 0, 0);
    signal = next_stop(tid);
  }
  if (signal == 0) return;
  // The stop of its process is still in effect, and a seized thread reports it again. An attached one reports two.
  if (seized) {
    kernel(SYS_ptrace, PTRACE_INTERRUPT, tid, 0, 0);
  } else {
    kernel(SYS_tkill, tid, sigstop);
    kernel(SYS_kill, tid, sigstop);
  }
  kernel(SYS_ptrace, PTRACE_CONT, tid, 0, 0);
}

void stop_for_tracer(const Thread* t) {
  if (process_record(const_cast<Thread*>(t)).leaves_stopped != 0)
    kernel(SYS_tgkill, static_cast<u64>(t->tgid), static_cast<u64>(t->tid), sigstop);
}

bool is_leave_request(const Thread* t, const u8* info) {
  const Request& r = *reinterpret_cast<const Request*>(info);
  channel::Process& p = process_record(const_cast<Thread*>(t));
  // The signal may have replaced another request.
  const bool is = r.code == -1 && (r.value == reinterpret_cast<u64>(&leave_requested) ||
                                   (is_request(info) && leaving_of(p) == channel::leaving_asked));
  if (!is) return false;
  u32 before = channel::leaving_asked;
  __atomic_compare_exchange_n(&p.leaving, &before, u32{channel::leaving_granted}, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  __atomic_store_n(&leave_requested, true, __ATOMIC_SEQ_CST);
  return true;
}

bool is_asked_to_leave() { return __atomic_load_n(&leave_requested, __ATOMIC_RELAXED); }

void leave_as_asked(Thread* t) {
  if (!has_memory_to_itself(t)) {
    __atomic_store_n(&process_record(t).leaving, u32{channel::leaving_refused}, __ATOMIC_SEQ_CST);
    __atomic_store_n(&leave_requested, false, __ATOMIC_SEQ_CST);
    return;
  }
  take_turn(t);
  if (!leaving() && hold_others(t)) end_calls_of_others(t);
  give_turn(t);
  leave(t, channel::partial_ptraced);
}

void note_left(const Thread* t) { __atomic_store_n(&records().thread(t->index).left, 1, __ATOMIC_SEQ_CST); }

}  // namespace tally::engine::guest
