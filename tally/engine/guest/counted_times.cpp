#include "tally/engine/guest/counted_times.hpp"

#include <fcntl.h>

#include <initializer_list>

#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/presented_machine.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 second = 1'000'000'000, tick = second / 100;

u64 read_monotonic(Thread* t) {
  constexpr s32 monotonic = 1;
  u64 now = 0;
  read_clock(t, monotonic, now);
  return now;
}

channel::CountedTimes& times_of(Thread* t) { return process_record(t).counted; }

u64 load(const u64& from) { return __atomic_load_n(&from, __ATOMIC_RELAXED); }

/// Returns the newest record of a process, one that has not ended if there is one, except record `but`; null if the
/// last ones have none.
channel::Process* record_of(s64 pid, u32 but = 0) {
  constexpr u32 searched = 1u << 16;
  const u32 newest = __atomic_load_n(&records().header().next_process, __ATOMIC_RELAXED);
  channel::Process* ended = nullptr;
  for (u32 i = newest < channel::process_limit ? newest : channel::process_limit - 1, n = 0; i > 0 && n < searched;
       i--, n++) {
    channel::Process& record = records().process(i);
    if (i == but || record.pid != pid) continue;
    if (record.state != channel::State::ended) return &record;
    if (ended == nullptr) ended = &record;
  }
  return ended;
}

/// Whether no process has this number any more.
bool has_ended(s64 pid) { return kernel(SYS_kill, static_cast<u64>(pid), 0) == -ESRCH; }

/// The thread's processor time while it may run. It never decreases.
u64 running_time(Thread* o) {
  u64 ns = __atomic_load_n(&o->processor_ns, __ATOMIC_ACQUIRE);
  const s64 more = instructions_of(o) - __atomic_load_n(&o->clock_seen, __ATOMIC_RELAXED);
  if (more > 0) ns += static_cast<u64>(more);
  u64 shown = load(o->shown_ns);
  while (shown < ns &&
         !__atomic_compare_exchange_n(&o->shown_ns, &shown, ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return shown > ns ? shown : ns;
}

struct Time {
  s64 seconds, us;
};
Time time_from(u64 ns) { return {static_cast<s64>(ns / second), static_cast<s64>(ns % second / 1000)}; }

/// Writes user and system time to a struct rusage.
s64 put_usage(u64 to, u64 ns) {
  const Time times[2] = {time_from(ns), {}};
  return put(to, times, sizeof times);
}

/// times(2): all processor time is user time. In hundredths of a second.
s64 get_times(Thread* t, u64 to) {
  const u64 now = read_monotonic(t);
  const u64 times[4] = {process_time_of(t) / tick, 0, load(times_of(t).children) / tick, 0};
  return to != 0 && put(to, times, sizeof times) != 0 ? -EFAULT : static_cast<s64>(now / tick);
}

/// getrusage(2): the kernel returns all but the times.
s64 get_usage(Thread* t, u64 of, u64 to) {
  constexpr s32 self = 0, thread = 1;
  u8 usage[144];
  const s64 r = kernel(SYS_getrusage, of, reinterpret_cast<u64>(usage));
  if (r != 0) return r;
  read_monotonic(t);
  const u64 ns = static_cast<s32>(of) == self     ? process_time_of(t)
                 : static_cast<s32>(of) == thread ? t->processor_ns
                                                  : load(times_of(t).children);
  const Time times[2] = {time_from(ns), {}};
  copy(usage, times, sizeof times);
  return put(to, usage, sizeof usage);
}

/// A wait has found a child. `usage`: a struct rusage that the kernel has filled, or 0.
s64 add_child(Thread* t, s64 pid, u64 usage) {
  const channel::Process* const child = record_of(pid);
  if (child == nullptr) return 0;
  const u64 ns = load(child->counted.used) + load(child->counted.children);
  // A stopped child still exists, and one that was waited for without its removal.
  if (has_ended(pid)) __atomic_add_fetch(&times_of(t).children, ns, __ATOMIC_RELAXED);
  return usage != 0 ? put_usage(usage, ns) : 0;
}

s64 wait_by_number(Thread* t, s64 (*call)(Thread*, u32)) {
  const s64 r = call(t, SYS_wait4);
  return r > 0 && add_child(t, r, t->gpr[r10]) != 0 ? -EFAULT : r;
}

s64 wait_by_kind(Thread* t, s64 (*call)(Thread*, u32)) {
  constexpr u64 by_pid = 1, pid_at = 16;  // P_PID; in siginfo
  const u64* const g = t->gpr;
  const s64 r = call(t, SYS_waitid);
  s32 pid = g[rdi] == by_pid ? static_cast<s32>(g[rsi]) : 0;
  if (r != 0 || (g[rdx] != 0 && get(&pid, g[rdx] + pid_at, sizeof pid) != 0) || pid <= 0) return r;
  return add_child(t, pid, g[r8]) != 0 ? -EFAULT : r;
}

// --- files ----------------------------------------------------------------------------------------------------------

/// A text in a buffer. It ends after times_file_bytes.
class Text {
 public:
  explicit Text(char* to) : to_(to) {}
  void add(char c) {
    if (bytes_ < times_file_bytes) to_[bytes_++] = c;
  }
  void add(const char* text) {
    for (; *text != 0; text++) add(*text);
  }
  void add(u64 number, u32 digits = 1) {
    u64 unit = 1;
    for (u32 i = 1; i < digits || number / unit >= 10; i++) unit *= 10;
    for (; unit > 0; unit /= 10) add(static_cast<char>('0' + number / unit % 10));
  }
  void add_seconds(u64 ns) {
    add(ns / second);
    add('.');
    add(ns % second / tick, 2);
  }
  u32 bytes() const { return bytes_; }

 private:
  char* to_;
  u32 bytes_ = 0;
};

bool is_own_stat(Thread* t, const char* path) {
  if (is_equal(path, "/proc/self/stat")) return true;
  char own[32];
  Text text(own);
  text.add("/proc/");
  text.add(static_cast<u64>(process_record(t).pid));
  text.add("/stat");
  text.add('\0');
  return is_equal(path, own);
}

/// proc_pid_stat(5), with its times replaced. Returns its bytes, or 0.
u32 write_own_stat(Thread* t, const char* path, char* to) {
  char real[times_file_bytes];
  const s64 file = kernel(SYS_openat, static_cast<u64>(AT_FDCWD), reinterpret_cast<u64>(path), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return 0;
  const s64 bytes = kernel(SYS_read, static_cast<u64>(file), reinterpret_cast<u64>(real), sizeof real);
  kernel(SYS_close, static_cast<u64>(file));
  if (failed(bytes)) return 0;
  s64 after_name = bytes;
  while (after_name > 0 && real[after_name - 1] != ')') after_name--;  // the name may contain any character
  read_monotonic(t);
  const channel::CountedTimes& times = times_of(t);
  Text text(to);
  u32 field = 2;
  for (s64 i = 0; i < bytes; i++) {
    const bool begins = i > after_name && real[i - 1] == ' ';
    if (begins) field++;
    const bool is_time = (field >= 14 && field <= 17) || field == 22;
    if (!is_time || real[i] == ' ') text.add(real[i]);
    if (!is_time || !begins) continue;
    if (field == 14) text.add(load(times.used) / tick);
    if (field == 16) text.add(load(times.children) / tick);
    if (field == 15 || field == 17) text.add('0');
    if (field == 22) text.add((clock_booted_before + times.started) / tick);
  }
  return text.bytes();
}

/// proc_uptime(5): the machine was idle until the run.
void write_uptime(Thread* t, Text& text) {
  const u64 now = read_monotonic(t);
  text.add_seconds(now);
  text.add(' ');
  text.add_seconds(clock_booted_before);
  text.add('\n');
}

/// proc_stat(5) of a machine with one processor.
void write_machine_stat(Thread* t, Text& text) {
  const u64 now = read_monotonic(t);
  for (const char* const name : {"cpu  ", "cpu0 "}) {
    text.add(name);
    text.add((now - clock_booted_before) / tick);
    text.add(" 0 0 ");
    text.add(clock_booted_before / tick);
    text.add(" 0 0 0 0 0 0\n");
  }
  text.add("intr 0\nctxt 0\nbtime ");
  text.add((clock_starts_at - clock_booted_before) / second);
  text.add("\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

}  // namespace

void begin_times(Thread* t, bool is_program) {
  channel::CountedTimes& times = times_of(t);
  const channel::Process* const before = is_program ? record_of(process_record(t).pid, t->process) : nullptr;
  times = before != nullptr ? before->counted : channel::CountedTimes{t->clock_ns, 0, 0};
}

void use_processor(Thread* t, u64 ns) {
  t->clock_ns += ns;
  __atomic_store_n(&t->processor_ns, t->processor_ns + ns, __ATOMIC_RELEASE);
  __atomic_add_fetch(&times_of(t).used, ns, __ATOMIC_RELAXED);
}

u64 process_time_of(Thread* t) { return load(times_of(t).used); }

bool read_other_clock(Thread* t, s32 clock, u64& ns) {
  constexpr s32 kind = 3, by_scheduler = 2, of_thread = 4;
  if (clock >= 0 || (clock & kind) != by_scheduler) return false;
  const s64 id = ~(clock >> 3);
  if ((clock & of_thread) == 0) {
    const channel::Process* const other = has_ended(id) ? nullptr : record_of(id);
    if (other != nullptr) ns = load(other->counted.used);
    return other != nullptr;
  }
  Guard guard(threads_lock);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->tid == id && o->process == t->process) {
      ns = running_time(o);
      return true;
    }
  return false;
}

bool make_times_call(Thread* t, u32 number, s64 (*call)(Thread* t, u32 number), s64& r) {
  const u64* const g = t->gpr;
  switch (number) {
    case SYS_times: r = get_times(t, g[rdi]); return true;
    case SYS_getrusage: r = get_usage(t, g[rdi], g[rsi]); return true;
    case SYS_wait4: r = wait_by_number(t, call); return true;
    case SYS_waitid: r = wait_by_kind(t, call); return true;
    default: return false;
  }
}

u32 write_times_file(Thread* t, const char* path, char (&to)[times_file_bytes]) {
  Text text(to);
  if (is_equal(path, "/proc/uptime")) write_uptime(t, text);
  // The real one has a line for each processor.
  if (machine_is_fixed() && is_equal(path, "/proc/stat")) write_machine_stat(t, text);
  return is_own_stat(t, path) ? write_own_stat(t, path, to) : text.bytes();
}

}  // namespace tally::engine::guest
