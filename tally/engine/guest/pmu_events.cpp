#include "tally/engine/guest/pmu_events.hpp"

#include <linux/perf_event.h>

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
  u64 cookie;       // SO_COOKIE of the socket: no other socket has it, or will have it
  Thread* thread;   // whose instructions it counts; null: it has ended
  u32 descriptors;  // in the descriptor table; 0: this element is free
  u32 row;          // index in PresentedPmu::event
  u32 leader;       // of its group: itself, or another one
  u32 next;         // event of the same bucket, or free element; 0: none
  u64 opened;       // the order of events in a group
  u64 read_format;
  bool is_on, inherits;
  bool counts_nothing;  // it excludes what programs execute
  bool is_lost;         // its count cannot be known
  s64 count, seen;      // `seen`: what the thread had counted at the last update
  u64 enabled_ns, seen_ns;
};

constexpr u32 event_limit = 1 << 20, bucket_count = 4096;
Growing<PmuEventState> events;  // element 0 is not used
u32 buckets[bucket_count];
u32 first_free, open_events;
u64 opened_so_far, highest_number;
Lock events_lock;

u32 bucket_of(u64 cookie) { return static_cast<u32>(cookie % bucket_count); }

u64 cookie_of(u64 number) {
  constexpr u64 socket_level = 1, so_cookie = 57;
  u64 cookie = 0;
  u32 bytes = sizeof cookie;
  const s64 r = kernel(SYS_getsockopt, number, socket_level, so_cookie, reinterpret_cast<u64>(&cookie),
                       reinterpret_cast<u64>(&bytes));
  return failed(r) ? 0 : cookie;
}

/// The caller holds events_lock.
u32 find_event(u64 number) {
  if (open_events == 0) return 0;
  const u64 cookie = cookie_of(number);
  if (cookie == 0) return 0;
  u32 at = buckets[bucket_of(cookie)];
  while (at != 0 && events[at].cookie != cookie) at = events[at].next;
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
    e.count += now - e.seen;
    e.enabled_ns += values.ns - e.seen_ns;
  }
  e.seen = now;
  e.seen_ns = values.ns;
}

/// Calls `f` with the leader of a group and then with the others, in the order in which they were opened.
template <class F>
void for_group(u32 leader, F f) {
  f(events[leader]);
  u64 last = 0;
  while (true) {
    u32 best = 0;
    for (u32 i = 1; i < events.size; i++)
      if (i != leader && events[i].descriptors != 0 && events[i].leader == leader && events[i].opened > last &&
          (best == 0 || events[i].opened < events[best].opened))
        best = i;
    if (best == 0) return;
    last = events[best].opened;
    f(events[best]);
  }
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
    is_of_another = events[at].thread != nullptr && events[at].thread != t;
  }
  return with_threads_held(t, is_of_another, [&]() -> s64 {
    const u32 at = find_event(number);
    if (at == 0) return not_of_pmu;
    if (Thread* const of = events[at].thread; of != nullptr) {
      const PmuValues values = values_of_stopped(of);
      for_group(events[at].leader, [&](PmuEventState& e) { update(e, values); });
    }
    return f(at);
  });
}

u64 id_of(const PmuEventState& e) { return e.opened; }

s64 read_values(u32 at, u64 to, u64 bytes) {
  const u64 format = events[at].read_format;
  constexpr u64 with_lost = 16;  // PERF_FORMAT_LOST, since Linux 6.0
  u64 n = 0;
  const auto give = [&](u64 value) {
    if (put(to + n, &value, sizeof value) != 0) return false;
    n += 8;
    return true;
  };
  const auto give_value = [&](const PmuEventState& e) { return give(static_cast<u64>(e.count)); };
  const auto give_rest = [&](const PmuEventState& e) {
    return (!(format & PERF_FORMAT_ID) || give(id_of(e))) && (!(format & with_lost) || give(0));
  };
  const auto give_times = [&](const PmuEventState& e) {
    return (!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) || give(e.enabled_ns)) &&
           (!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) || give(e.enabled_ns));
  };
  const bool is_group = (format & PERF_FORMAT_GROUP) != 0;
  const u32 leader = events[at].leader;
  u64 members = 0;
  bool is_lost = events[at].is_lost;
  const auto include = [&](const PmuEventState& e) {
    members++;
    is_lost = is_lost || e.is_lost;
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

s64 add_event(Thread* of, const perf_event_attr& attr, u32 row, s32 group, u64 flags) {
  const u32 leader = group == -1 ? 0 : find_event(static_cast<u64>(group));
  // The kernel's events cannot be in a group with these.
  u64 id = 0;
  if (group != -1 && leader == 0)
    return failed(kernel(SYS_ioctl, static_cast<u64>(group), PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&id))) ? -EBADF
                                                                                                             : -EINVAL;
  const bool in_group = leader != 0 && !(flags & PERF_FLAG_FD_NO_GROUP);
  if (in_group && (events[leader].leader != leader || events[leader].thread != of ||
                   events[leader].inherits != (attr.inherit != 0) || attr.pinned || attr.exclusive))
    return -EINVAL;
  constexpr u64 unix_family = 1, stream = 1, close_on_exec = 02000000;
  const s64 number = kernel(SYS_socket, unix_family, stream | (flags & PERF_FLAG_FD_CLOEXEC ? close_on_exec : 0), 0);
  if (failed(number)) return number;
  const u64 cookie = cookie_of(static_cast<u64>(number));
  const u32 at = cookie != 0 ? new_event() : 0;
  if (at == 0) {
    kernel(SYS_close, static_cast<u64>(number));
    return -ENOMEM;
  }
  PmuEventState& e = events[at];
  e = {};
  e.cookie = cookie;
  e.thread = of;
  e.descriptors = 1;
  e.row = row;
  e.leader = in_group ? leader : at;
  e.opened = ++opened_so_far;
  e.read_format = attr.read_format;
  e.is_on = !attr.disabled;
  e.inherits = attr.inherit != 0;
  e.counts_nothing = attr.exclude_user || attr.exclude_host;
  update(e, values_of_stopped(of));
  e.count = 0;
  e.enabled_ns = 0;
  e.next = buckets[bucket_of(cookie)];
  buckets[bucket_of(cookie)] = at;
  open_events++;
  if (static_cast<u64>(number) > highest_number) highest_number = static_cast<u64>(number);
  return number;
}

/// The others of a leader's group are groups of their own after it, and count if they are on. What those of another
/// thread have executed until now is not known: the thread runs.
void dissolve_group(Thread* t, u32 leader) {
  for (u32 i = 1; i < events.size; i++) {
    PmuEventState& e = events[i];
    if (i == leader || e.descriptors == 0 || e.leader != leader) continue;
    if (e.thread == t)
      update(e, values_of_stopped(t));
    else if (e.is_on && !events[leader].is_on)
      e.is_lost = true;
    e.leader = i;
  }
}

void remove_event(Thread* t, u32 at) {
  PmuEventState& e = events[at];
  u32* from = &buckets[bucket_of(e.cookie)];
  while (*from != at) from = &events[*from].next;
  *from = e.next;
  if (e.leader == at) dissolve_group(t, at);
  e.descriptors = 0;
  e.next = first_free;
  first_free = at;
  open_events--;
}

}  // namespace

s64 open_pmu_event(Thread* t) {
  if (!settings().pmu.any()) return not_of_pmu;
  const u64* const g = t->gpr;
  const s32 pid = static_cast<s32>(g[rsi]), cpu = static_cast<s32>(g[rdx]), group = static_cast<s32>(g[r10]);
  const u64 flags = g[r8];
  constexpr u64 known_flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
  perf_event_attr attr;
  if ((flags & ~known_flags) != 0 || (flags & PERF_FLAG_PID_CGROUP) || pid == -1) return not_of_pmu;
  u32 type = 0;
  if (get(&type, g[rdi], sizeof type) != 0) return not_of_pmu;
  if (type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE && type != PERF_TYPE_RAW) return not_of_pmu;
  if (const s64 wrong = copy_attributes(g[rdi], attr); wrong != 0) return wrong;
  if (const s64 wrong = check_attributes(attr); wrong != 0) return wrong;
  Thread* const of = thread_named(t, pid);
  if (of == nullptr) return failed(kernel(SYS_kill, static_cast<u64>(pid), 0)) ? -ESRCH : -EOPNOTSUPP;
  if (is_invalid(attr)) return -EINVAL;
  const u32 row = row_of(attr);
  if (row == no_row || cpu != -1) return -ENOENT;
  // As of a PMU that raises no interrupts.
  if (attr.sample_period != 0 || attr.precise_ip != 0 || attr.enable_on_exec) return -EOPNOTSUPP;
  return with_threads_held(t, of != t, [&] { return add_event(of, attr, row, group, flags); });
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
    const auto change = [&](auto f) -> s64 {
      if (on_group)
        for_group(events[at].leader, f);
      else
        f(events[at]);
      return 0;
    };
    switch (request) {
      case PERF_EVENT_IOC_ENABLE: return change([](PmuEventState& e) { e.is_on = true; });
      case PERF_EVENT_IOC_DISABLE: return change([](PmuEventState& e) { e.is_on = false; });
      case PERF_EVENT_IOC_RESET: return change([](PmuEventState& e) { e.count = 0; });
      case static_cast<u32>(PERF_EVENT_IOC_ID): {
        const u64 id = id_of(events[at]);
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
  first_free = open_events = 0;
}

void release_pmu_events_for_dead(u32 holder) { events_lock.release_for_dead(holder); }

}  // namespace tally::engine::guest
