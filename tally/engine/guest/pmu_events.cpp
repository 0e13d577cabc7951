#include "tally/engine/guest/pmu_events.hpp"

#include <linux/perf_event.h>
#include <sys/stat.h>

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/pmu_attributes.hpp"
#include "tally/engine/guest/pmu_table.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {
namespace {

constexpr u16 counter_bits = 48;
constexpr u64 with_lost = 16;  // PERF_FORMAT_LOST, since Linux 6.0

/// How many descriptors of each event this process has; null: it has opened none.
u32* held;
u32 held_events;
/// Bit of `held`: the event does not count this process as a holder, because it is about to execute another program.
constexpr u32 is_let_go = 1u << 31;

bool can_hold() {
  if (held == nullptr) held = reinterpret_cast<u32*>(try_reserve(channel::pmu_open_limit * sizeof *held, read_write));
  return held != nullptr && map_pmu_table();
}

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
  if (r != -ENOTSOCK || pmu_table().kernel_events == 0 || kernel(SYS_fstat, number, reinterpret_cast<u64>(&s)) != 0 ||
      (s.st_mode & S_IFMT) != 0 ||
      failed(kernel(SYS_ioctl, number, PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&identity))))
    return 0;
  return identity | of_kernel;
}

/// Whether this process may have a descriptor of an event.
bool may_have_events;

/// The events that the first numbers refer to, as found before; 0: not known.
u32 known_events[256];

u32 find_event(u64 number) {
  if (!pmu_is_used()) return 0;
  const bool can_be_known = number < sizeof known_events / sizeof *known_events && numbers_are_followed(current());
  if (can_be_known && known_events[number] != 0) return known_events[number];
  const u64 identity = identity_of(number);
  const u32 event = identity != 0 ? find_pmu_event(identity) : 0;
  if (can_be_known && event != 0 && held != nullptr && held[event] != 0) known_events[number] = event;
  return event;
}

void forget_number(u64 number) {
  if (number < sizeof known_events / sizeof *known_events) known_events[number] = 0;
}

/// Returns a descriptor of a kernel's event, or -1.
s64 number_of(PmuOpenEvent& e) {
  const auto refers_to_it = [&](u64 number) {
    const u32 event = find_event(number);
    return event != 0 && &pmu_event(event) == &e;
  };
  if (refers_to_it(e.number)) return static_cast<s64>(e.number);
  for (u64 n = 0; n <= pmu_table().highest_number; n++)
    if (refers_to_it(n)) return static_cast<s64>(e.number = n);
  return -1;
}

/// Switches the kernel's events of a group on or off. The kernel does not know of a leader that is not its own.
void switch_kernel_events(u32 leader) {
  const bool is_kernels = pmu_event(leader).is_kernels, is_on = pmu_event(leader).is_on;
  for_group(leader, [&](PmuOpenEvent& e) {
    const bool runs = e.is_on && (is_kernels || is_on);
    if (!e.is_kernels || runs == (e.runs != 0)) return;
    e.runs = runs;
    if (const s64 number = number_of(e); number >= 0)
      kernel(SYS_ioctl, static_cast<u64>(number), runs ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  });
}

/// Whether the engine counts events of this group.
bool has_own_events(u32 leader) {
  bool has = false;
  for_group(leader, [&](const PmuOpenEvent& e) { has = has || !e.is_kernels; });
  return has;
}

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

/// The pages of this process that show events, as the engine has them mapped.
struct MappedPage {
  u32 event;
  perf_event_mmap_page* page;
};
constexpr u32 page_limit = 1 << 16;
Growing<MappedPage> mapped_pages;

/// Writes the state of an event to its pages. For the caller, a counter that counts it is its index in the table.
void show(u32 event) {
  for (u32 i = 0; i < mapped_pages.size; i++) {
    if (mapped_pages[i].event != event) continue;
    perf_event_mmap_page& page = *mapped_pages[i].page;
    s64 offset = 0;
    const bool has_counter = counter_offset(event, current()->index, offset);
    __atomic_add_fetch(&page.lock, 1, __ATOMIC_SEQ_CST);
    page.index = has_counter ? event + 1 : 0;
    page.offset = has_counter ? offset : count_of(pmu_event(event));
    page.time_enabled = page.time_running = enabled_ns_of(pmu_event(event));
    page.cap_user_rdpmc = 1;
    __atomic_add_fetch(&page.lock, 1, __ATOMIC_SEQ_CST);
  }
}

void show_group(u32 leader) {
  if (mapped_pages.size == 0) return;
  for_group(leader, [](const PmuOpenEvent& e) { show(static_cast<u32>(&e - pmu_table().event)); });
}

/// The event is about to be removed: its pages show the last state.
void end_pages(u32 event) {
  for (u32 i = 0; i < mapped_pages.size; i++) {
    if (mapped_pages[i].event != event) continue;
    mapped_pages[i].page->index = 0;
    mapped_pages[i].page->offset = count_of(pmu_event(event));
    unreserve(reinterpret_cast<u64>(mapped_pages[i].page), page_bytes);
    mapped_pages[i--] = mapped_pages[--mapped_pages.size];
  }
}

/// Makes the memory of a mapping of `bytes`, and shows the event in it. Returns a descriptor of it, or an error.
s64 make_page(u32 event, u64 bytes) {
  if (mapped_pages.data == nullptr && !mapped_pages.try_init_in_steps(page_limit)) return -ENOMEM;
  const u64 at = mapped_pages.full() ? 0 : try_reserve(page_bytes, PROT_NONE);
  if (at == 0) return -ENOMEM;
  const s64 file = kernel(SYS_memfd_create, reinterpret_cast<u64>("[perf_event]"), 1 /* MFD_CLOEXEC */);
  if (failed(file) || failed(kernel(SYS_ftruncate, static_cast<u64>(file), bytes)) ||
      failed(kernel(SYS_mmap, at, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, static_cast<u64>(file),
                    0))) {
    unreserve(at, page_bytes);
    return -ENOMEM;
  }
  kernel(SYS_madvise, at, page_bytes, MADV_DONTFORK);
  auto* const page = reinterpret_cast<perf_event_mmap_page*>(at);
  page->cap_bit0_is_deprecated = 1;
  page->size = static_cast<u32>(reinterpret_cast<u64>(&page->__reserved) - at);
  page->pmc_width = counter_bits;
  page->data_offset = page_bytes;
  page->data_size = bytes - page_bytes;
  mapped_pages.add({event, page});
  show(event);
  return file;
}

/// Calls `f` while the table is locked, and with the other threads held if it says so. Returns its result, or EBUSY.
template <class F>
s64 with_table(Thread* t, bool holds, F f) {
  if (!holds) {
    PmuGuard guard;
    return f();
  }
  take_turn(t);
  s64 r = -EBUSY;
  if (!leaving() && hold_others(t)) {
    PmuGuard guard;
    r = f();
  }
  give_turn(t);
  return r;
}

/// The counts of a group that the engine has no event of are the kernel's.
bool needs_others_held_for_group(const Thread* t, u32 leader) {
  if (!has_own_events(leader)) return false;
  bool needs = false;
  for_group(leader, [&](const PmuOpenEvent& e) {
    needs = needs || needs_others_held(t, static_cast<u32>(&e - pmu_table().event));
  });
  return needs;
}

/// Returns false if the count of one of them is not known.
bool update_group(u32 leader, Update why) {
  bool needs_times = why == Update::to_change;
  constexpr u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  for_group(leader, [&](const PmuOpenEvent& e) { needs_times = needs_times || (e.read_format & times) != 0; });
  PmuValues values(needs_times);
  bool is_known = true;
  for_group(leader, [&](const PmuOpenEvent& e) {
    is_known = update_event(static_cast<u32>(&e - pmu_table().event), values, why) && is_known;
  });
  return is_known;
}

/// Before a group is switched or reset.
void update_group_for_change(u32 leader) {
  if (!update_group(leader, Update::to_change)) for_group(leader, [](PmuOpenEvent& e) { e.is_lost = !e.is_kernels; });
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

/// The others of a leader's group are groups of their own after it, and count if they are on. What those of another
/// thread of this memory have executed until now is not known: the thread runs.
void dissolve_group(Thread* t, u32 leader) {
  const bool was_on = pmu_event(leader).is_on;
  PmuValues values;
  for (u32 at = pmu_event(leader).next_member, next = 0; at != 0; at = next) {
    PmuOpenEvent& e = pmu_event(at);
    next = e.next_member;
    if ((needs_others_held(t, at) || !update_event(at, values, Update::to_change)) && e.is_on && !was_on) e.is_lost = 1;
    e.next_member = 0;
    e.leader = e.last_member = at;
    switch_kernel_events(at);
    show_group(at);
  }
  pmu_event(leader).next_member = 0;
  pmu_event(leader).last_member = leader;
}

/// A process has closed its last descriptor of an event, or ends.
void let_go(Thread* t, u32 event) {
  PmuOpenEvent& e = pmu_event(event);
  end_pages(event);
  if (--e.holders != 0) return;
  if (e.leader == event)
    dissolve_group(t, event);
  else
    leave_group(event);
  if (e.is_kernels) pmu_table().kernel_events--;
  remove_pmu_event(event);
}

/// Calls `f` with each event of which this process has descriptors.
template <class F>
void for_held(F f) {
  const u32 n = held_events;
  for (u32 event = 1, found = 0; found < n && event <= pmu_table().events; event++) {
    if (held[event] == 0) continue;
    found++;
    f(event);
  }
}

/// Values of PmuCounting::expects.
s32 of_child(u32 process) { return -static_cast<s32>(process); }
s32 of_thread(const Thread* t) { return -static_cast<s32>(channel::process_limit + t->index); }
s32 of_own_program() { return static_cast<s32>(kernel(SYS_getpid)); }

template <class F>
void for_expecting(s32 expected, F f) {
  for (u32 at = 1; at <= pmu_table().countings; at++)
    if (PmuCounting& c = pmu_table().counting[at]; c.event != 0 && c.expects == expected) f(at, c);
}

/// Adds what events will count of a new thread, or of that of a new process.
void inherit_events(const Thread* parent, bool is_thread, s32 expected) {
  for_countings_of(parent->index, [&](u32, const PmuCounting& of_parent) {
    const PmuOpenEvent& e = pmu_event(of_parent.event);
    const u32 at = e.inherits && (is_thread || !e.only_threads) ? add_counting(of_parent.event) : 0;
    if (at == 0) return;
    PmuCounting& c = pmu_table().counting[at];
    c.expects = expected;
    c.is_inherited = 1;
    c.is_on = of_parent.is_on;
    c.begins_at_exec = of_parent.begins_at_exec;
  });
}

void begin_expected(const Thread* t, s32 expected) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_expecting(expected, [&](u32 at, const PmuCounting&) { move_counting(at, t->index, values); });
}

/// Calls `f` with the index of each thing that is counted of a process.
template <class F>
void for_process(u32 process, F f) {
  for (u32 at = 1; at <= pmu_table().countings; at++)
    if (const u32 of = pmu_table().counting[at].thread; of != 0 && records().thread(of).process == process) f(at);
}

/// An event is on because its thread executes a program; so are the kernel's events that it leads.
void begin_at_exec(u32 event) {
  pmu_event(event).is_on = 1;
  if (pmu_event(event).leader != event) return;
  for_group(event, [](PmuOpenEvent& e) { e.runs = e.is_on; });
}

/// The last update for this thread.
void update_for_end(u32 counting, PmuValues& values) {
  if (!update_counting(counting, values)) pmu_event(pmu_table().counting[counting].event).is_lost = 1;
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

void pmu_events_before_thread(const Thread* t, const Thread* child) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  inherit_events(t, child->process == t->process, of_thread(child));
}

void pmu_events_of_failed_thread(const Thread* child) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_expecting(of_thread(child), [](u32 at, const PmuCounting&) { end_counting_of(at); });
}

void pmu_events_of_thread(const Thread* t) { begin_expected(t, of_thread(t)); }

void pmu_events_before_fork(const Thread* t, u32 process) {
  if (!settings().pmu.any()) return;
  lock_pmu_table();
  inherit_events(t, false, of_child(process));
  for_held([](u32 event) { pmu_event(event).holders++; });
}

void pmu_events_after_fork(Thread* t, u32 process, bool has_failed) {
  if (!settings().pmu.any()) return;
  if (has_failed) {
    for_expecting(of_child(process), [](u32 at, const PmuCounting&) { end_counting_of(at); });
    for_held([&](u32 event) { let_go(t, event); });
  }
  unlock_pmu_table();
}

void pmu_events_of_child(const Thread* t, u32 process) {
  mapped_pages.size = 0;
  begin_expected(t, of_child(process));
}

void pmu_events_of_thread_end(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_countings_of(t->index, [&](u32 at, const PmuCounting&) { update_for_end(at, values); });
  for_countings_of(t->index, [](u32 at, const PmuCounting& c) {
    const u32 event = c.event;
    end_counting_of(at);
    show(event);
  });
}

void pmu_events_of_process_end(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_process(t->process, [&](u32 at) { update_for_end(at, values); });
  for_process(t->process, [](u32 at) { end_counting_of(at); });
  for_held([&](u32 event) { let_go(t, event); });
}

void pmu_events_before_exec(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_countings_of(t->index, [&](u32 at, PmuCounting& c) {
    update_for_end(at, values);
    c.expects = of_own_program();
  });
  if (t->vfork_child != 0) return;
  for_held([&](u32 event) {
    if (pmu_event(event).holders == 1) return;
    pmu_event(event).holders--;
    held[event] |= is_let_go;
  });
}

void pmu_events_before_native_exec(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_countings_of(t->index, [](u32, const PmuCounting& c) { pmu_event(c.event).is_lost++; });
}

void pmu_events_after_failed_exec(Thread* t, bool was_native) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_countings_of(t->index, [&](u32, PmuCounting& c) {
    c.expects = 0;
    pmu_event(c.event).is_lost -= was_native;
  });
  if (t->vfork_child != 0) return;
  for_held([&](u32 event) {
    if (!(held[event] & is_let_go)) return;
    held[event] &= ~is_let_go;
    pmu_event(event).holders++;
  });
}

void pmu_events_received() { may_have_events = true; }

void pmu_events_of_program(const Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for (u64 n = 0; !may_have_events && n <= pmu_table().highest_number; n++) may_have_events = find_event(n) != 0;
  PmuValues values;
  for_expecting(of_own_program(), [&](u32 at, PmuCounting& c) {
    PmuOpenEvent& e = pmu_event(c.event);
    if (e.of == c.thread) e.of = t->index;
    move_counting(at, t->index, values);
    if (c.begins_at_exec) {
      c.is_on = 1;
      if (!c.is_inherited) begin_at_exec(c.event);
      c.begins_at_exec = 0;
    }
    if (e.ends_at_exec) end_counting_of(at);
  });
}

void pmu_events_of_native(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_process(t->process, [](u32 at) { pmu_event(pmu_table().counting[at].event).is_lost = 1; });
}

}  // namespace tally::engine::guest
