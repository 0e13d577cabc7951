#include "tally/engine/guest/pmu_events.hpp"

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/pmu_attributes.hpp"
#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_groups.hpp"
#include "tally/engine/guest/pmu_pages.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 with_lost = 16;  // PERF_FORMAT_LOST, since Linux 6.0

/// What the kernel has counted for an event of it. False: unknown.
bool read_kernel_event(PmuOpenEvent& e) {
  u64 words[1024];
  const s64 number = number_of(e);
  if (number < 0) return false;
  const s64 bytes = kernel(SYS_read, static_cast<u64>(number), reinterpret_cast<u64>(words), sizeof words);
  u64 at = 0;
  if (e.read_format & PERF_FORMAT_GROUP) {
    at = 1 + bits_set(e.read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
    // Its place in the kernel's group, which it is in if the leader is the kernel's.
    const u64 step = 1 + bits_set(e.read_format & (PERF_FORMAT_ID | with_lost));
    for (u32 before = e.leader; pmu_event(e.leader).is_kernels && &pmu_event(before) != &e;
         before = pmu_event(before).next_member)
      if (pmu_event(before).is_kernels) at += step;
  }
  if (failed(bytes) || static_cast<u64>(bytes) < (at + 1) * sizeof words[0]) return false;
  e.count = static_cast<s64>(words[at]);
  return true;
}

/// Calls `f` with the event of a descriptor, after it is clear that its group can be updated.
template <class F>
s64 with_event(Thread* t, u64 number, F f) {
  if (!may_have_events || !pmu_is_used()) return not_of_pmu;
  {
    PmuGuard guard;
    const u32 event = find_event(number);
    if (event == 0) return not_of_pmu;
    if (!needs_others_held_for_group(t, pmu_event(event).leader)) return f(event);
  }
  return with_table(t, true, [&]() -> s64 {
    const u32 event = find_event(number);
    return event != 0 ? f(event) : not_of_pmu;
  });
}

/// An event of the group that has its times: those of the kernel's events are not known.
const PmuOpenEvent& timed_event(u32 leader) {
  u32 at = leader;
  while (pmu_event(at).is_kernels && pmu_event(at).next_member != 0) at = pmu_event(at).next_member;
  return pmu_event(at);
}

s64 read_values(u32 event, u64 to, u64 bytes) {
  PmuOpenEvent& read = pmu_event(event);
  const u64 format = read.read_format;
  u64 n = 0;
  const auto give = [&](u64 value) {
    if (put(to + n, &value, sizeof value) != 0) return false;
    n += 8;
    return true;
  };
  const auto give_value = [&](const PmuOpenEvent& e) { return give(static_cast<u64>(count_of(e))); };
  const auto give_rest = [&](const PmuOpenEvent& e) {
    return (!(format & PERF_FORMAT_ID) || give(e.id)) && (!(format & with_lost) || give(0));
  };
  const auto give_times = [&](const PmuOpenEvent& e) {
    const u64 ns = enabled_ns_of(e);
    return (!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) || give(ns)) &&
           (!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) || give(ns));
  };
  const bool is_group = (format & PERF_FORMAT_GROUP) != 0;
  if (read.is_kernels && !(is_group && has_own_events(read.leader))) return not_of_pmu;
  u64 members = 0;
  bool is_lost = read.is_lost || !update_group(read.leader, Update::to_read);
  const auto include = [&](PmuOpenEvent& e) {
    members++;
    is_lost = is_lost || e.is_lost || (e.is_kernels && !read_kernel_event(e));
  };
  if (is_group)
    for_group(read.leader, include);
  else
    include(read);
  // As an event in the error state: the end of a file, and no number.
  if (is_lost) return 0;
  u64 size = members * 8 * (1 + bits_set(format & (PERF_FORMAT_ID | with_lost)));
  size += 8 * bits_set(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
  if (is_group) size += 8;
  if (bytes < size) return -ENOSPC;
  bool is_put = true;
  if (is_group) {
    is_put = give(members) && give_times(timed_event(read.leader));
    for_group(read.leader, [&](const PmuOpenEvent& e) { is_put = is_put && give_value(e) && give_rest(e); });
  } else {
    is_put = give_value(read) && give_times(read) && give_rest(read);
  }
  return is_put ? static_cast<s64>(n) : -EFAULT;
}

/// A thread that a program names by its number.
struct NamedThread {
  u32 thread;      // index of its record; 0: no thread that the engine counts
  bool is_others;  // of this memory, and not the caller
  s64 error;       // without a thread
};

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
    constexpr u64 pause[2] = {0, pause_us * 1000};
    kernel(SYS_nanosleep, reinterpret_cast<u64>(pause), 0);
    come_in(t);
  }
}

/// An event that a program wants to open.
struct WantedEvent {
  perf_event_attr attr;
  u32 of;  // the thread
  s32 cpu;
  s32 group;
  u64 flags;

  bool has_group() const { return group != -1 && !(flags & PERF_FLAG_FD_NO_GROUP); }
};

/// Whether the group that this event leads can have another one.
bool can_join(const WantedEvent& wanted, u32 leader) {
  const PmuOpenEvent& e = pmu_event(leader);
  return e.leader == leader && e.of == wanted.of && e.cpu == wanted.cpu &&
         (e.inherits != 0) == (wanted.attr.inherit != 0) && !wanted.attr.pinned && !wanted.attr.exclusive;
}

/// Adds an event whose descriptor was just created, and closes that without memory. `leader`: 0 if it has a group of
/// its own. Returns 0 without memory.
u32 enter_event(const WantedEvent& wanted, u64 number, u64 identity, u32 leader) {
  const u32 event = identity != 0 ? add_pmu_event(identity) : 0;
  if (event == 0) {
    kernel(SYS_close, number);
    return 0;
  }
  held[event] = 1;
  held_events++;
  may_have_events = true;
  if (leader != 0) join_group(event, leader);
  PmuOpenEvent& e = pmu_event(event);
  e.opener = current()->index;
  e.of = wanted.of;
  e.read_format = wanted.attr.read_format;
  e.cpu = wanted.cpu;
  e.is_on = !wanted.attr.disabled;
  e.inherits = wanted.attr.inherit;
  e.only_threads = wanted.attr.inherit_thread;
  e.nothing = wanted.attr.exclude_user || wanted.attr.exclude_host;
  e.begins_at_exec = wanted.attr.enable_on_exec;
  e.ends_at_exec = wanted.attr.remove_on_exec;
  if (number > pmu_table().highest_number) pmu_table().highest_number = number;
  return event;
}

/// The group for copy_attributes().
s32 asked_group(s32 group) {
  if (group == -1 || !pmu_is_used()) return group;
  PmuGuard guard;
  return find_event(static_cast<u64>(group)) != 0 ? -1 : group;
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
  const u32 event = enter_event(wanted, static_cast<u64>(number), identity_of(static_cast<u64>(number)), leader);
  if (event == 0) return -ENOMEM;
  PmuOpenEvent& e = pmu_event(event);
  e.row = row;
  constexpr u64 above_ids_of_kernel = u64{1} << 32;
  e.id = above_ids_of_kernel + ++pmu_table().ids;
  if (const u32 counting = add_counting(event); counting != 0) {
    PmuValues values;
    move_counting(counting, wanted.of, values);
    pmu_table().counting[counting].begins_at_exec = wanted.attr.enable_on_exec;
  }
  return number;
}

/// Opens an event that the kernel counts. In a group whose leader is not the kernel's, the kernel has it alone.
s64 add_kernel_event(Thread* t, WantedEvent& wanted) {
  const u64* const g = t->gpr;
  const u32 leader = wanted.has_group() ? find_event(static_cast<u64>(wanted.group)) : 0;
  const bool is_alone = leader != 0 && !pmu_event(leader).is_kernels;
  if (is_alone && !can_join(wanted, leader)) return -EINVAL;
  const bool is_on = !wanted.attr.disabled;
  if (is_alone) {
    wanted.attr.disabled = !is_on || !pmu_event(leader).is_on;
    wanted.attr.enable_on_exec |= is_on && pmu_event(leader).begins_at_exec;
  }
  const s64 number = kernel(SYS_perf_event_open, is_alone ? reinterpret_cast<u64>(&wanted.attr) : g[rdi], g[rsi],
                            g[rdx], is_alone ? ~u64{0} : g[r10], g[r8]);
  if (failed(number)) return number;
  pmu_table().kernel_events++;
  const u32 event = enter_event(wanted, static_cast<u64>(number), identity_of(static_cast<u64>(number)), leader);
  if (event == 0) {
    pmu_table().kernel_events--;
    return -ENOMEM;
  }
  PmuOpenEvent& e = pmu_event(event);
  e.is_kernels = 1;
  e.number = static_cast<u64>(number);
  kernel(SYS_ioctl, e.number, PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&e.id));
  e.runs = !wanted.attr.disabled;
  e.is_on = is_on;
  return number;
}

void switch_event(PmuOpenEvent& e, bool is_on) {
  e.is_on = is_on;
  for_countings(e, [&](u32, PmuCounting& c) { c.is_on = is_on; });
}

void reset_event(PmuOpenEvent& e) {
  e.count = 0;
  for_countings(e, [](u32, PmuCounting& c) { c.count = 0; });
  if (const s64 number = e.is_kernels ? number_of(e) : -1; number >= 0)
    kernel(SYS_ioctl, static_cast<u64>(number), PERF_EVENT_IOC_RESET, 0);
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
  if (is_kernels) {
    clear(&attr, sizeof attr);
    if (get(&attr, g[rdi], PERF_ATTR_SIZE_VER0) != 0 || attr.size > page_bytes ||
        (attr.size > PERF_ATTR_SIZE_VER0 && get(&attr, g[rdi], attr.size < sizeof attr ? attr.size : sizeof attr) != 0))
      return not_of_pmu;
  } else if (const s64 wrong = copy_attributes(g[rdi], pid, asked_group(wanted.group), wanted.flags, attr);
             wrong != 0) {
    return wrong;
  }
  const NamedThread named = thread_named(t, pid);
  wanted.of = named.thread;
  if (is_kernels && (named.thread == 0 || type == PERF_TYPE_BREAKPOINT || !can_hold())) return not_of_pmu;
  if (is_kernels) return with_table(t, false, [&] { return add_kernel_event(t, wanted); });
  if (named.thread == 0) return named.error;
  if (is_invalid(attr)) return -EINVAL;
  const u32 row = row_of(attr);
  if (row == no_row || wanted.cpu != -1) return -ENOENT;
  // As of a PMU that raises no interrupts.
  if (attr.sample_period != 0 || attr.precise_ip != 0) return -EOPNOTSUPP;
  if (!can_hold()) return -ENOMEM;
  return with_table(t, named.is_others, [&] { return add_event(wanted, row); });
}

s64 read_pmu_event(Thread* t) {
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

s64 map_pmu_event(Thread* t) {
  constexpr u64 shared = 1;
  u64* const g = t->gpr;
  const u64 number = g[r8], bytes = page_up(g[rsi]), buffer_pages = bytes / page_bytes - 1;
  const s64 file = with_event(t, number, [&](u32 event) -> s64 {
    const PmuOpenEvent& e = pmu_event(event);
    if (e.is_kernels) return not_of_pmu;
    const bool is_possible = bytes != 0 && (buffer_pages & (buffer_pages - 1)) == 0 && g[r9] == 0;
    if ((e.inherits && e.cpu == -1) || !(g[r10] & shared) || !is_possible) return -EINVAL;
    update_group_for_change(e.leader);
    return make_page(event, bytes);
  });
  if (failed(file) || file == not_of_pmu) return file;
  g[r8] = static_cast<u64>(file);
  const s64 at = emulate_mapping(t);
  g[r8] = number;
  kernel(SYS_close, static_cast<u64>(file));
  if (!failed(at)) kernel(SYS_madvise, static_cast<u64>(at), bytes, MADV_DONTFORK);
  return at;
}

bool read_pmu_counter(Thread* t, u32 counter, u64& value) {
  if (!pmu_is_used()) return false;
  PmuGuard guard;
  bool exists = false;
  for_countings_of(t->index, [&](u32 at, const PmuCounting& c) {
    s64 offset = 0;
    if (c.event != counter || !counter_offset(c.event, t->index, offset)) return;
    PmuValues values(false);
    const s64 itself = settings().pmu.event[pmu_event(c.event).row].weight[channel::instructions];
    value = static_cast<u64>(counter_of(at, values) - itself) & ((u64{1} << counter_bits) - 1);
    exists = true;
  });
  return exists;
}

s64 control_pmu_event(Thread* t) {
  const u64* const g = t->gpr;
  const u32 request = static_cast<u32>(g[rsi]);
  const bool on_group = (g[rdx] & PERF_IOC_FLAG_GROUP) != 0;
  return with_event(t, g[rdi], [&](u32 event) -> s64 {
    PmuOpenEvent& controlled = pmu_event(event);
    const auto change = [&](auto f) -> s64 {
      update_group_for_change(controlled.leader);
      if (on_group)
        for_group(controlled.leader, f);
      else
        f(controlled);
      switch_kernel_events(controlled.leader);
      show_group(controlled.leader);
      return 0;
    };
    switch (request) {
      case PERF_EVENT_IOC_ENABLE: return change([](PmuOpenEvent& e) { switch_event(e, true); });
      case PERF_EVENT_IOC_DISABLE: return change([](PmuOpenEvent& e) { switch_event(e, false); });
      case PERF_EVENT_IOC_RESET: return change(reset_event);
      default: break;
    }
    if (controlled.is_kernels) {
      // After this many samples the kernel switches a leader off, at a moment that is not known.
      if (request == PERF_EVENT_IOC_REFRESH)
        for_group(controlled.leader, [](PmuOpenEvent& e) { e.is_lost = !e.is_kernels; });
      return not_of_pmu;
    }
    switch (request) {
      case static_cast<u32>(PERF_EVENT_IOC_ID):
        return put(g[rdx], &controlled.id, sizeof controlled.id) == 0 ? 0 : -EFAULT;
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

void pmu_events_switched(Thread* t, bool is_on) {
  if (held_events == 0) return;
  const auto for_own = [&](auto f) {
    for_held([&](u32 event) {
      if (pmu_event(event).opener == t->index) f(event);
    });
  };
  bool holds = false;
  {
    PmuGuard guard;
    for_own([&](u32 event) { holds = holds || needs_others_held_for_group(t, pmu_event(event).leader); });
  }
  with_table(t, holds, [&]() -> s64 {
    for_own([](u32 event) { update_group_for_change(pmu_event(event).leader); });
    for_own([&](u32 event) {
      switch_event(pmu_event(event), is_on);
      pmu_event(event).runs = is_on;  // the kernel has done that
    });
    for_own([](u32 event) { switch_kernel_events(pmu_event(event).leader); });
    for_own([](u32 event) { show(event); });
    return 0;
  });
}

u32 pmu_event_at(const Thread* t, u64 number) {
  if (held_events == 0 || t->vfork_child != 0) return 0;
  PmuGuard guard;
  const u32 event = find_event(number);
  forget_number(number);
  return event != 0 && held[event] != 0 ? event : 0;
}

void pmu_event_duplicated(const Thread* t, u64 number) {
  const u32 event = pmu_event_at(t, number);
  if (event == 0) return;
  PmuGuard guard;
  held[event]++;
  if (number > pmu_table().highest_number) pmu_table().highest_number = number;
}

void pmu_event_closed(Thread* t, u32 event, u64 number) {
  if (event == 0) return;
  PmuGuard guard;
  forget_number(number);  // another thread may have used it meanwhile
  if (held[event] == 0 || --held[event] != 0) return;
  held_events--;
  let_go(t, event);
}

void pmu_events_close(Thread* t, u64 first, u64 last) {
  for (u64 n = first; held_events != 0 && n <= last && n <= pmu_table().highest_number; n++)
    pmu_event_closed(t, pmu_event_at(t, n), n);
}

void pmu_events_received() { may_have_events = true; }

}  // namespace tally::engine::guest
