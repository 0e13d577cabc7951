#include "tally/engine/guest/pmu_events.hpp"

#include <linux/perf_event.h>
#include <sys/stat.h>

#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {
namespace {

/// What the thread of an event has executed.
struct PmuValues {
  channel::Totals totals;
  u64 ns;  // its processor time
};

/// An event that the program has opened, with what it counted until it was last updated.
struct PmuEventState {
  u64 identity;     // of the file
  Thread* thread;   // whose instructions it counts; null: it has ended, or is not of this process
  u32 descriptors;  // in the descriptor table; 0: this element is free
  u32 row;          // index in PresentedPmu::event
  u32 next;         // event of the same bucket, or free element; 0: none
  u32 leader;       // of its group: itself, or another one
  u32 next_member;  // the next event of its group, in the order in which they were opened; 0: none
  u32 last_member;  // of a leader: the last event of the group
  u64 id;
  u64 read_format;
  s32 cpu;
  bool is_kernels;  // the kernel counts it
  bool runs;        // with is_kernels: the kernel's event is switched on
  u64 number;       // with is_kernels: one of its descriptors
  bool is_on, inherits;
  bool counts_nothing;  // it excludes what programs execute
  bool is_lost;         // its count cannot be known
  s64 count, seen;      // `seen`: what the thread had counted at the last update
  u64 enabled_ns, seen_ns;
};

constexpr u64 with_lost = 16;  // PERF_FORMAT_LOST, since Linux 6.0
constexpr u32 event_limit = 1 << 20, bucket_count = 4096;
Growing<PmuEventState> events;  // element 0 is not used
u32 buckets[bucket_count];
u32 first_free, open_events, kernel_events;
u64 last_id = u64{1} << 32;  // the kernel's identifiers are small
u64 highest_number;
Lock events_lock;

u32 bucket_of(u64 identity) { return static_cast<u32>(identity % bucket_count); }

/// A number that no other file has, or will have; 0: it is neither a socket nor an event of the kernel.
u64 identity_of(u64 number) {
  constexpr u64 socket_level = 1, so_cookie = 57, of_kernel = u64{1} << 63;
  u64 identity = 0;
  u32 bytes = sizeof identity;
  const s64 r = kernel(SYS_getsockopt, number, socket_level, so_cookie, reinterpret_cast<u64>(&identity),
                       reinterpret_cast<u64>(&bytes));
  if (!failed(r)) return identity;
  struct stat s;
  // Devices may have another meaning for the request. The kernel's events are files without a type.
  if (r != -ENOTSOCK || kernel_events == 0 || kernel(SYS_fstat, number, reinterpret_cast<u64>(&s)) != 0 ||
      (s.st_mode & S_IFMT) != 0 ||
      failed(kernel(SYS_ioctl, number, PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&identity))))
    return 0;
  return identity | of_kernel;
}

/// The caller holds events_lock.
u32 find_event(u64 number) {
  if (open_events == 0) return 0;
  const u64 identity = identity_of(number);
  if (identity == 0) return 0;
  u32 at = buckets[bucket_of(identity)];
  while (at != 0 && events[at].identity != identity) at = events[at].next;
  return at;
}

u32 new_event() {
  if (events.data == nullptr) {
    if (!events.try_init_in_steps(event_limit)) return 0;
    events.add();
  }
  if (first_free == 0) return events.full() ? 0 : events.add();
  const u32 at = first_free;
  first_free = events[at].next;
  return at;
}

bool is_counting(const PmuEventState& e) {
  return e.is_on && events[e.leader].is_on && !e.is_lost && e.thread != nullptr;
}

void update(PmuEventState& e, const PmuValues& values) {
  const channel::PmuEvent& row = settings().pmu.event[e.row];
  s64 now = 0;
  for (u32 i = 0; i < channel::field_count && !e.counts_nothing; i++) now += row.weight[i] * values.totals.field[i];
  if (is_counting(e)) {
    if (!e.is_kernels) e.count += now - e.seen;
    e.enabled_ns += values.ns - e.seen_ns;
  }
  e.seen = now;
  e.seen_ns = values.ns;
}

/// Calls `f` with the leader of a group and then with the others, in the order in which they were opened.
template <class F>
void for_group(u32 leader, F f) {
  for (u32 at = leader; at != 0; at = events[at].next_member) f(events[at]);
}

/// Returns a descriptor of a kernel's event, or -1.
s64 number_of(PmuEventState& e) {
  if (identity_of(e.number) == e.identity) return static_cast<s64>(e.number);
  for (u64 n = 0; n <= highest_number; n++)
    if (identity_of(n) == e.identity) return static_cast<s64>(e.number = n);
  return -1;
}

/// Switches the kernel's events of a group on or off. The kernel does not know of a leader that is not its own.
void switch_kernel_events(u32 leader) {
  const bool is_kernels = events[leader].is_kernels, is_on = events[leader].is_on;
  for_group(leader, [&](PmuEventState& e) {
    const bool runs = e.is_on && (is_kernels || is_on);
    if (!e.is_kernels || runs == e.runs) return;
    e.runs = runs;
    if (const s64 number = number_of(e); number >= 0)
      kernel(SYS_ioctl, static_cast<u64>(number), runs ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  });
}

/// Whether the engine counts events of this group.
bool has_own_events(u32 leader) {
  bool has = false;
  for_group(leader, [&](const PmuEventState& e) { has = has || !e.is_kernels; });
  return has;
}

/// What the kernel has counted for an event of it. False: unknown.
bool read_kernel_event(PmuEventState& e) {
  u64 words[1024];
  const s64 number = number_of(e);
  if (number < 0) return false;
  const s64 bytes = kernel(SYS_read, static_cast<u64>(number), reinterpret_cast<u64>(words), sizeof words);
  u64 at = 0;
  if (e.read_format & PERF_FORMAT_GROUP) {
    at = 1 + bits_set(static_cast<u32>(e.read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)));
    // Its place in the kernel's group, which it is in if the leader is the kernel's.
    const u64 step = 1 + bits_set(static_cast<u32>(e.read_format & (PERF_FORMAT_ID | with_lost)));
    for (u32 before = e.leader; events[e.leader].is_kernels && &events[before] != &e; before = events[before].next_member)
      if (events[before].is_kernels) at += step;
  }
  if (failed(bytes) || static_cast<u64>(bytes) < (at + 1) * sizeof words[0]) return false;
  e.count = static_cast<s64>(words[at]);
  return true;
}

u64 processor_time_of(const Thread* of, const channel::Totals& totals) {
  if (clock_is_counted()) return static_cast<u64>(totals.field[channel::instructions]);
  struct {
    s64 s, ns;
  } time{};
  const u64 clock = static_cast<u64>((~of->tid << 3) | 6);  // the processor time of this thread
  kernel(SYS_clock_gettime, clock, reinterpret_cast<u64>(&time));
  return static_cast<u64>(time.s) * 1'000'000'000 + static_cast<u64>(time.ns);
}

PmuValues values_of_stopped(Thread* of) {
  PmuValues values{asked_totals(of), 0};
  values.ns = processor_time_of(of, values.totals);
  return values;
}

/// Calls `f` with events_lock held, and with the other threads held if the event of a thread other than the caller may
/// be concerned. Returns its result, or EBUSY.
template <class F>
s64 with_threads_held(Thread* t, bool holds, F f) {
  if (!holds) {
    Guard guard(events_lock);
    return f();
  }
  take_turn(t);
  s64 r = -EBUSY;
  if (!leaving() && hold_others(t)) {
    Guard guard(events_lock);
    r = f();
  }
  give_turn(t);
  return r;
}

/// Calls `f` with the event of a descriptor, after its group was updated.
template <class F>
s64 with_event(Thread* t, u64 number, F f) {
  bool is_of_another = false;
  {
    Guard guard(events_lock);
    const u32 at = find_event(number);
    if (at == 0) return not_of_pmu;
    is_of_another = events[at].thread != nullptr && events[at].thread != t && has_own_events(events[at].leader);
  }
  return with_threads_held(t, is_of_another, [&]() -> s64 {
    const u32 at = find_event(number);
    if (at == 0) return not_of_pmu;
    if (Thread* const of = events[at].thread; of == t || is_of_another) {
      const PmuValues values = values_of_stopped(of);
      for_group(events[at].leader, [&](PmuEventState& e) { update(e, values); });
    }
    return f(at);
  });
}

s64 read_values(u32 at, u64 to, u64 bytes) {
  const u64 format = events[at].read_format;
  u64 n = 0;
  const auto give = [&](u64 value) {
    if (put(to + n, &value, sizeof value) != 0) return false;
    n += 8;
    return true;
  };
  const auto give_value = [&](const PmuEventState& e) { return give(static_cast<u64>(e.count)); };
  const auto give_rest = [&](const PmuEventState& e) {
    return (!(format & PERF_FORMAT_ID) || give(e.id)) && (!(format & with_lost) || give(0));
  };
  const auto give_times = [&](const PmuEventState& e) {
    return (!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) || give(e.enabled_ns)) &&
           (!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) || give(e.enabled_ns));
  };
  const bool is_group = (format & PERF_FORMAT_GROUP) != 0;
  const u32 leader = events[at].leader;
  if (events[at].is_kernels && !(is_group && has_own_events(leader))) return not_of_pmu;
  u64 members = 0;
  bool is_lost = events[at].is_lost;
  const auto include = [&](PmuEventState& e) {
    members++;
    is_lost = is_lost || e.is_lost || (e.is_kernels && !read_kernel_event(e));
  };
  if (is_group)
    for_group(leader, include);
  else
    include(events[at]);
  // As an event in the error state: the end of a file, and no number.
  if (is_lost) return 0;
  u64 size = members * 8 * (1 + bits_set(static_cast<u32>(format & (PERF_FORMAT_ID | with_lost))));
  size += 8 * bits_set(static_cast<u32>(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)));
  if (is_group) size += 8;
  if (bytes < size) return -ENOSPC;
  bool is_put = true;
  if (is_group) {
    is_put = give(members) && give_times(events[leader]);
    for_group(leader, [&](const PmuEventState& e) { is_put = is_put && give_value(e) && give_rest(e); });
  } else {
    is_put = give_value(events[at]) && give_times(events[at]) && give_rest(events[at]);
  }
  return is_put ? static_cast<s64>(n) : -EFAULT;
}

/// Copies the attributes as the kernel does.
s64 copy_attributes(u64 from, perf_event_attr& attr) {
  u32 size = 0;
  if (get(&size, from + 4, sizeof size) != 0) return -EFAULT;
  if (size == 0) size = PERF_ATTR_SIZE_VER0;
  const auto too_big = [&]() -> s64 {
    const u32 struct_bytes = sizeof attr;
    put(from + 4, &struct_bytes, sizeof struct_bytes);
    return -E2BIG;
  };
  if (size < PERF_ATTR_SIZE_VER0 || size > page_bytes) return too_big();
  clear(&attr, sizeof attr);
  if (get(&attr, from, size < sizeof attr ? size : sizeof attr) != 0) return -EFAULT;
  for (u64 i = sizeof attr; i < size; i++) {
    u8 more = 0;
    if (get(&more, from + i, 1) != 0) return -EFAULT;
    if (more != 0) return too_big();
  }
  return 0;
}

constexpr u64 known_read_formats = 31, known_sample_types = (1ull << 25) - 1;

/// The checks that the kernel makes of all attributes, in its order.
s64 check_attributes(const perf_event_attr& attr) {
  u64 flags = 0;
  copy(&flags, reinterpret_cast<const u8*>(&attr) + 40, sizeof flags);
  constexpr u32 first_reserved_flag = 39;  // since Linux 6.18: defer_callchain, defer_output
  if (flags >> first_reserved_flag != 0 || attr.__reserved_2 != 0) return -EINVAL;
  if ((attr.sample_type & ~known_sample_types) != 0 || (attr.read_format & ~known_read_formats) != 0) return -EINVAL;
  if (attr.inherit_thread && !attr.inherit) return -EINVAL;
  if (attr.remove_on_exec && attr.enable_on_exec) return -EINVAL;
  if (attr.sigtrap && !attr.remove_on_exec) return -EINVAL;
  if (!attr.exclude_kernel) return -EACCES;
  if (!attr.freq && attr.sample_period >> 63 != 0) return -EINVAL;
  return 0;
}

constexpr u32 no_row = ~0u;

/// Returns the index of the event in PresentedPmu, or no_row.
u32 row_of(const perf_event_attr& attr) {
  // Control bits of a counter that the kernel ignores and sets itself: user, kernel, interrupt, enable.
  constexpr u64 ignored_bits = 0x530000;
  const u64 config = attr.type == PERF_TYPE_RAW ? attr.config & ~ignored_bits : attr.config;
  const channel::PresentedPmu& pmu = settings().pmu;
  if (attr.config1 != 0 || attr.config2 != 0) return no_row;
  for (u32 i = 0; i < pmu.event_count; i++)
    if (pmu.event[i].type == attr.type && pmu.event[i].config == config) return i;
  return no_row;
}

/// Whether the number is no event of the PresentedPmu because no processor has it.
bool is_invalid(const perf_event_attr& attr) {
  if (attr.type == PERF_TYPE_HARDWARE) return (attr.config & 0xffffffff) >= PERF_COUNT_HW_MAX;
  return attr.type == PERF_TYPE_HW_CACHE &&
         ((attr.config & 0xff) >= PERF_COUNT_HW_CACHE_MAX || (attr.config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
          (attr.config >> 16 & 0xff) >= PERF_COUNT_HW_CACHE_RESULT_MAX);
}

/// The thread of this process that a program names; null: none.
Thread* thread_named(Thread* t, s32 pid) {
  if (pid == 0 || pid == t->tid) return t;
  Guard guard(threads_lock);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process && o->tid == pid) return o;
  return nullptr;
}

/// An event that a program wants to open.
struct WantedEvent {
  perf_event_attr attr;
  Thread* thread;  // null: not of this process
  s32 cpu;
  s32 group;
  u64 flags;

  bool has_group() const { return group != -1 && !(flags & PERF_FLAG_FD_NO_GROUP); }
};

/// Whether the group that this event leads can have another one.
bool can_join(const WantedEvent& wanted, u32 leader) {
  const PmuEventState& e = events[leader];
  return e.leader == leader && e.thread == wanted.thread && e.cpu == wanted.cpu &&
         e.inherits == (wanted.attr.inherit != 0) && !wanted.attr.pinned && !wanted.attr.exclusive;
}

/// Adds an event whose descriptor was just created. `leader`: 0 if it has a group of its own. Returns 0 without memory.
u32 enter_event(const WantedEvent& wanted, u64 number, u64 identity, u32 leader) {
  const u32 at = identity != 0 ? new_event() : 0;
  if (at == 0) return 0;
  PmuEventState& e = events[at];
  e = {};
  e.identity = identity;
  e.thread = wanted.thread;
  e.descriptors = 1;
  e.leader = leader != 0 ? leader : at;
  if (leader != 0) events[events[leader].last_member].next_member = at;
  events[e.leader].last_member = at;
  e.read_format = wanted.attr.read_format;
  e.cpu = wanted.cpu;
  e.is_on = !wanted.attr.disabled;
  e.inherits = wanted.attr.inherit != 0;
  e.counts_nothing = wanted.attr.exclude_user || wanted.attr.exclude_host;
  e.next = buckets[bucket_of(identity)];
  buckets[bucket_of(identity)] = at;
  open_events++;
  if (number > highest_number) highest_number = number;
  return at;
}

/// Starts counting at what the thread has executed.
void begin_counting(PmuEventState& e) {
  if (e.thread != nullptr) update(e, values_of_stopped(e.thread));
  e.count = 0;
  e.enabled_ns = 0;
}

s64 add_event(const WantedEvent& wanted, u32 row) {
  u32 leader = 0;
  if (wanted.group != -1) {
    leader = find_event(static_cast<u64>(wanted.group));
    u64 id = 0;
    // An event of the kernel that is not this process's.
    if (leader == 0)
      return failed(kernel(SYS_ioctl, static_cast<u64>(wanted.group), PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&id)))
                 ? -EBADF
                 : -EINVAL;
    if (!wanted.has_group()) leader = 0;
  }
  if (leader != 0 && !can_join(wanted, leader)) return -EINVAL;
  constexpr u64 unix_family = 1, stream = 1, close_on_exec = 02000000;
  const u64 type = stream | (wanted.flags & PERF_FLAG_FD_CLOEXEC ? close_on_exec : 0);
  const s64 number = kernel(SYS_socket, unix_family, type, 0);
  if (failed(number)) return number;
  const u32 at = enter_event(wanted, static_cast<u64>(number), identity_of(static_cast<u64>(number)), leader);
  if (at == 0) {
    kernel(SYS_close, static_cast<u64>(number));
    return -ENOMEM;
  }
  events[at].row = row;
  events[at].id = ++last_id;
  begin_counting(events[at]);
  return number;
}

/// Opens an event that the kernel counts. In a group whose leader is not the kernel's, the kernel has it alone.
s64 add_kernel_event(Thread* t, WantedEvent& wanted) {
  const u64* const g = t->gpr;
  const u32 leader = wanted.has_group() ? find_event(static_cast<u64>(wanted.group)) : 0;
  const bool is_alone = leader != 0 && !events[leader].is_kernels;
  if (is_alone && !can_join(wanted, leader)) return -EINVAL;
  const bool is_on = !wanted.attr.disabled;
  if (is_alone) wanted.attr.disabled = !is_on || !events[leader].is_on;
  const s64 number = kernel(SYS_perf_event_open, is_alone ? reinterpret_cast<u64>(&wanted.attr) : g[rdi], g[rsi], g[rdx],
                            is_alone ? ~u64{0} : g[r10], g[r8]);
  if (failed(number)) return number;
  kernel_events++;
  const u32 at = enter_event(wanted, static_cast<u64>(number), identity_of(static_cast<u64>(number)), leader);
  if (at == 0) {
    kernel_events--;
    kernel(SYS_close, static_cast<u64>(number));
    return -ENOMEM;
  }
  PmuEventState& e = events[at];
  e.is_kernels = true;
  e.number = static_cast<u64>(number);
  kernel(SYS_ioctl, e.number, PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&e.id));
  e.runs = !wanted.attr.disabled;
  e.is_on = is_on;
  begin_counting(e);
  return number;
}

/// The others of a leader's group are groups of their own after it, and count if they are on. What those of another
/// thread have executed until now is not known: the thread runs.
void dissolve_group(Thread* t, u32 leader) {
  u32 next = 0;
  for (u32 at = events[leader].next_member; at != 0; at = next) {
    PmuEventState& e = events[at];
    next = e.next_member;
    if (e.thread == t)
      update(e, values_of_stopped(t));
    else if (e.is_on && !events[leader].is_on && !e.is_kernels)
      e.is_lost = true;
    e.leader = e.last_member = at;
    e.next_member = 0;
    switch_kernel_events(at);
  }
}

void remove_from_group(u32 at) {
  u32 before = events[at].leader;
  while (events[before].next_member != at) before = events[before].next_member;
  events[before].next_member = events[at].next_member;
  u32& last = events[events[at].leader].last_member;
  if (last == at) last = before;
}

void remove_event(Thread* t, u32 at) {
  PmuEventState& e = events[at];
  u32* from = &buckets[bucket_of(e.identity)];
  while (*from != at) from = &events[*from].next;
  *from = e.next;
  if (e.leader == at)
    dissolve_group(t, at);
  else
    remove_from_group(at);
  if (e.is_kernels) kernel_events--;
  e.descriptors = 0;
  e.next = first_free;
  first_free = at;
  open_events--;
}

}  // namespace

s64 open_pmu_event(Thread* t) {
  if (!settings().pmu.any()) return not_of_pmu;
  const u64* const g = t->gpr;
  const s32 pid = static_cast<s32>(g[rsi]);
  constexpr u64 known_flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
  WantedEvent wanted;
  wanted.cpu = static_cast<s32>(g[rdx]);
  wanted.group = static_cast<s32>(g[r10]);
  wanted.flags = g[r8];
  if ((wanted.flags & ~known_flags) != 0 || (wanted.flags & PERF_FLAG_PID_CGROUP) || pid == -1) return not_of_pmu;
  perf_event_attr& attr = wanted.attr;
  u32 type = 0;
  if (get(&type, g[rdi], sizeof type) != 0) return not_of_pmu;
  const bool is_kernels = type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE && type != PERF_TYPE_RAW;
  const s64 wrong = copy_attributes(g[rdi], attr);
  if (wrong != 0) return is_kernels ? not_of_pmu : wrong;
  wanted.thread = thread_named(t, pid);
  if (is_kernels) {
    if (wanted.thread == nullptr || type == PERF_TYPE_BREAKPOINT) return not_of_pmu;
    return with_threads_held(t, wanted.thread != t, [&] { return add_kernel_event(t, wanted); });
  }
  if (const s64 bad = check_attributes(attr); bad != 0) return bad;
  if (wanted.thread == nullptr) return failed(kernel(SYS_kill, static_cast<u64>(pid), 0)) ? -ESRCH : -EOPNOTSUPP;
  if (is_invalid(attr)) return -EINVAL;
  const u32 row = row_of(attr);
  if (row == no_row || wanted.cpu != -1) return -ENOENT;
  // As of a PMU that raises no interrupts.
  if (attr.sample_period != 0 || attr.precise_ip != 0 || attr.enable_on_exec) return -EOPNOTSUPP;
  return with_threads_held(t, wanted.thread != t, [&] { return add_event(wanted, row); });
}

s64 read_pmu_event(Thread* t) {
  if (open_events == 0) return not_of_pmu;
  const u64* const g = t->gpr;
  if (g[rax] == SYS_read) return with_event(t, g[rdi], [&](u32 at) { return read_values(at, g[rsi], g[rdx]); });
  if (g[rax] != SYS_readv) return not_of_pmu;
  return with_event(t, g[rdi], [&](u32 at) -> s64 {
    u64 segment[2] = {};  // struct iovec
    s64 sum = 0;
    for (u64 i = 0; i < (g[rdx] & 0xffffffff); i++) {
      if (get(segment, g[rsi] + i * sizeof segment, sizeof segment) != 0) return -EFAULT;
      if (segment[1] == 0) continue;
      const s64 r = read_values(at, segment[0], segment[1]);
      if (r < 0) return sum != 0 ? sum : r;
      sum += r;
      if (static_cast<u64>(r) != segment[1]) break;
    }
    return sum;
  });
}

s64 control_pmu_event(Thread* t) {
  if (open_events == 0) return not_of_pmu;
  const u64* const g = t->gpr;
  const u32 request = static_cast<u32>(g[rsi]);
  const bool on_group = (g[rdx] & PERF_IOC_FLAG_GROUP) != 0;
  return with_event(t, g[rdi], [&](u32 at) -> s64 {
    const u32 leader = events[at].leader;
    const auto change = [&](auto f) -> s64 {
      if (on_group)
        for_group(leader, f);
      else
        f(events[at]);
      switch_kernel_events(leader);
      return 0;
    };
    switch (request) {
      case PERF_EVENT_IOC_ENABLE: return change([](PmuEventState& e) { e.is_on = true; });
      case PERF_EVENT_IOC_DISABLE: return change([](PmuEventState& e) { e.is_on = false; });
      case PERF_EVENT_IOC_RESET:
        return change([](PmuEventState& e) {
          e.count = 0;
          if (const s64 number = e.is_kernels ? number_of(e) : -1; number >= 0)
            kernel(SYS_ioctl, static_cast<u64>(number), PERF_EVENT_IOC_RESET, 0);
        });
      default: break;
    }
    if (events[at].is_kernels) {
      // After this many samples the kernel switches a leader off, at a moment that is not known.
      if (request == PERF_EVENT_IOC_REFRESH)
        for_group(leader, [](PmuEventState& e) { e.is_lost = !e.is_kernels; });
      return not_of_pmu;
    }
    switch (request) {
      case static_cast<u32>(PERF_EVENT_IOC_ID): {
        const u64 id = events[at].id;
        return put(g[rdx], &id, sizeof id) == 0 ? 0 : -EFAULT;
      }
      case PERF_EVENT_IOC_SET_OUTPUT: return static_cast<s32>(g[rdx]) == -1 ? 0 : -EINVAL;
      // These need samples.
      case PERF_EVENT_IOC_REFRESH:
      case static_cast<u32>(PERF_EVENT_IOC_PERIOD):
      case static_cast<u32>(PERF_EVENT_IOC_SET_FILTER):
      case PERF_EVENT_IOC_SET_BPF:
      case PERF_EVENT_IOC_PAUSE_OUTPUT: return -EINVAL;
      default: return not_of_pmu;
    }
  });
}

u32 pmu_event_at(const Thread* t, u64 number) {
  if (open_events == 0 || t->vfork_child != 0) return 0;
  Guard guard(events_lock);
  return find_event(number);
}

void pmu_event_duplicated(const Thread* t, u64 number) {
  if (open_events == 0 || t->vfork_child != 0) return;
  Guard guard(events_lock);
  const u32 at = find_event(number);
  if (at == 0) return;
  events[at].descriptors++;
  if (number > highest_number) highest_number = number;
}

void pmu_event_closed(Thread* t, u32 event) {
  if (event == 0) return;
  Guard guard(events_lock);
  if (events[event].descriptors != 0 && --events[event].descriptors == 0) {
    events[event].descriptors = 1;
    remove_event(t, event);
  }
}

void pmu_events_close(Thread* t, u64 first, u64 last) {
  for (u64 n = first; open_events != 0 && n <= last && n <= highest_number; n++)
    pmu_event_closed(t, pmu_event_at(t, n));
}

void pmu_events_of_thread_end(Thread* t) {
  if (open_events == 0) return;
  Guard guard(events_lock);
  const PmuValues values = values_of_stopped(t);
  for (u32 i = 1; i < events.size; i++)
    if (events[i].descriptors != 0 && events[i].thread == t) update(events[i], values);
  for (u32 i = 1; i < events.size; i++)
    if (events[i].descriptors != 0 && events[i].thread == t) events[i].thread = nullptr;
}

void pmu_events_before_clone(const Thread* t) {
  if (open_events == 0) return;
  Guard guard(events_lock);
  for (u32 i = 1; i < events.size; i++)
    if (events[i].descriptors != 0 && events[i].inherits && events[i].thread == t) events[i].is_lost = true;
}

void pmu_events_after_fork() {
  events_lock = {};
  if (open_events == 0) return;
  events.reset(1);
  clear(buckets, sizeof buckets);
  first_free = open_events = kernel_events = 0;
}

void release_pmu_events_for_dead(u32 holder) { events_lock.release_for_dead(holder); }

}  // namespace tally::engine::guest
