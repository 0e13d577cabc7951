#include "tally/engine/guest/pmu_events.hpp"

#include <asm/ioctls.h>

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/pmu_attributes.hpp"
#include "tally/engine/guest/pmu_branches.hpp"
#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_elsewhere.hpp"
#include "tally/engine/guest/pmu_groups.hpp"
#include "tally/engine/guest/pmu_overflows.hpp"
#include "tally/engine/guest/pmu_pages.hpp"
#include "tally/engine/guest/pmu_records.hpp"
#include "tally/engine/guest/pmu_rings.hpp"
#include "tally/engine/guest/pmu_values.hpp"
#include "tally/engine/guest/pmu_wakeups.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/window_probes.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 no_number = ~u64{0};

s64 read_values(u32 event, u64 to, u64 bytes) {
  u64 values[value_limit];
  const s64 n = values_of(event, values, bytes < sizeof values ? bytes : sizeof values);
  return n <= 0 || put(to, values, static_cast<u64>(n)) == 0 ? n : -EFAULT;
}

void note_lack(u32 lack) { __atomic_or_fetch(&records().header().pmu_lacks, lack, __ATOMIC_RELAXED); }

/// An event that a program wants to open.
struct WantedEvent {
  perf_event_attr attr;
  u32 of;  // the thread
  s32 cpu;
  s32 group;
  u64 flags;
  bool counts_nothing;

  bool has_group() const { return group != -1 && !(flags & PERF_FLAG_FD_NO_GROUP); }
};

/// Whether the group that this event leads can have another one.
bool can_join(const WantedEvent& wanted, u32 leader) {
  const PmuOpenEvent& e = pmu_event(leader);
  const bool has_clock = has_flag(e, Flag::use_clock);
  return e.leader == leader && e.of == wanted.of && e.cpu == wanted.cpu &&
         has_clock == (wanted.attr.use_clockid != 0) && (!has_clock || e.sampling.clock == wanted.attr.clockid) &&
         (e.inherits != 0) == (wanted.attr.inherit != 0) && !wanted.attr.pinned && !wanted.attr.exclusive;
}

/// Adds an event whose descriptor was just created, and closes that without memory. `leader`: 0 if it has a group of
/// its own. Returns 0 without memory.
u32 enter_event(const WantedEvent& wanted, u64 number, u64 identity, u32 leader) {
  remove_left(current());
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
  e.nothing = wanted.counts_nothing;
  e.begins_at_exec = wanted.attr.enable_on_exec;
  e.ends_at_exec = wanted.attr.remove_on_exec;
  channel::PmuSampling& sampling = e.sampling;
  constexpr u32 flags_at = 40;
  copy(&sampling.flags, reinterpret_cast<const u8*>(&wanted.attr) + flags_at, sizeof sampling.flags);
  sampling.content = wanted.attr.sample_type;
  sampling.period = wanted.attr.sample_period;
  sampling.branches = wanted.attr.branch_sample_type;
  sampling.user_registers = wanted.attr.sample_regs_user;
  sampling.registers = wanted.attr.sample_regs_intr;
  sampling.stack_bytes = wanted.attr.sample_stack_user;
  sampling.wakeup = wanted.attr.wakeup_events;
  sampling.clock = wanted.attr.clockid;
  sampling.most_callers = wanted.attr.sample_max_stack;
  sampling.trap_data = wanted.attr.sig_data;
  if (number > pmu_table().highest_number) pmu_table().highest_number = number;
  return event;
}

/// Whether a descriptor is an event of the kernel, which may be another process's.
bool is_kernel_event(u64 number) {
  u64 id = 0;
  return !failed(kernel(SYS_ioctl, number, PERF_EVENT_IOC_ID, reinterpret_cast<u64>(&id)));
}

/// The group for copy_attributes().
s32 asked_group(s32 group) {
  if (group == -1 || !pmu_is_used()) return group;
  PmuGuard guard;
  return find_event(static_cast<u64>(group)) != 0 ? -1 : group;
}

/// Whether the engine can take such samples.
bool can_be_sampled(const WantedEvent& wanted, u32 row) {
  const perf_event_attr& attr = wanted.attr;
  if ((attr.sample_type & ~known_content) != 0 || attr.aux_output) return false;
  // The threads of this memory whose counts a sample would contain run.
  if (attr.inherit && (attr.sample_type & PERF_SAMPLE_READ) != 0) return false;
  if (is_modelled(settings().pmu.event[row]) && attr.precise_ip != 0) {
    note_lack(channel::pmu_lacks_precise);
    return false;
  }
  if (settings().pmu.event[row].is_cycles && settings().pmu.event[row].cycles_weight != 1) return false;
  if ((attr.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 && !can_record_branches(attr.branch_sample_type)) return false;
  if (can_overflow(row)) return true;
  if (own_records.countdowns == channel::window_trigger_limit && !instrument::windows_on())
    note_lack(channel::pmu_lacks_countdown);
  return false;
}

bool is_led_by_samples(const WantedEvent& wanted) {
  if (!wanted.has_group() || !pmu_is_used()) return false;
  PmuGuard guard;
  const u32 leader = find_event(static_cast<u64>(wanted.group));
  return leader != 0 && pmu_event(leader).sampling.period != 0;
}

s64 add_event(const WantedEvent& wanted, u32 row) {
  u32 leader = 0;
  if (wanted.group != -1) {
    leader = find_event(static_cast<u64>(wanted.group));
    if (leader == 0) return is_kernel_event(static_cast<u64>(wanted.group)) ? -EINVAL : -EBADF;
    if (!wanted.has_group()) leader = 0;
  }
  if (leader != 0 && !can_join(wanted, leader)) return -EINVAL;
  const channel::PmuEvent& kind = settings().pmu.event[row];
  if (kind.is_metric && (leader == 0 || pmu_event(leader).is_kernels || pmu_event(leader).sampling.period != 0 ||
                         !leads_metrics(settings().pmu.event[pmu_event(leader).row])))
    return -EINVAL;
  constexpr u64 unix_family = 1, stream = 1, close_on_exec = 02000000;
  const bool samples = wanted.attr.sample_period != 0, closes = (wanted.flags & PERF_FLAG_FD_CLOEXEC) != 0;
  // It may share the ring of a leader that has samples. Other sockets poll as an event without a ring: POLLHUP.
  const bool has_records = samples || (wanted.attr.sample_type & ~u64{PERF_SAMPLE_IDENTIFIER}) != 0;
  u32 address = 0;
  const s64 number = has_records ? make_waited_socket(closes, address)
                                 : kernel(SYS_socket, unix_family, stream | (closes ? close_on_exec : 0), 0);
  if (failed(number)) return number;
  const u32 event = enter_event(wanted, static_cast<u64>(number), identity_of(static_cast<u64>(number)), leader);
  if (event == 0) return -ENOMEM;
  note_lack(channel::pmu_opened);
  PmuOpenEvent& e = pmu_event(event);
  e.row = row;
  e.sampling.address = address;
  constexpr u64 above_ids_of_kernel = u64{1} << 32;
  e.id = above_ids_of_kernel + ++pmu_table().ids;
  if (const u32 counting = add_counting(event); counting != 0) {
    Thread* const here = thread_here(wanted.of);
    if (here != nullptr) settle_overflows(here);  // what it has executed so far is not the new event's
    PmuValues values;
    move_counting(counting, wanted.of, values);
    pmu_table().counting[counting].begins_at_exec = wanted.attr.enable_on_exec;
    set_period(pmu_table().counting[counting],
               wanted.attr.freq ? first_period(row, wanted.attr.sample_freq) : wanted.attr.sample_period);
    if (here == current())
      roam(here);
    else if (here != nullptr)
      arm_overflows(here);
    else if (samples || pmu_table().counting[counting].begins)
      change_elsewhere(pmu_table().counting[counting]);
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
  const bool is_clock = wanted.attr.type == PERF_TYPE_SOFTWARE && wanted.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
  if (is_clock && wanted.attr.sample_period != 0 && (records().header().pmu_lacks & channel::pmu_lacks_cycles) != 0)
    note_lack(channel::pmu_samples_clock);
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
  bool is_kernels = type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE && type != PERF_TYPE_RAW;
  if (is_kernels) {
    clear(&attr, sizeof attr);
    if (get(&attr, g[rdi], PERF_ATTR_SIZE_VER0) != 0 || attr.size > page_bytes ||
        (attr.size > PERF_ATTR_SIZE_VER0 && get(&attr, g[rdi], attr.size < sizeof attr ? attr.size : sizeof attr) != 0))
      return not_of_pmu;
  }
  // An event of the kernel that counts nothing, for the records of other events (perf record -D).
  const bool is_dummy = type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
  const NamedThread named = thread_named(t, pid);
  wanted.of = named.thread;
  is_kernels = is_kernels && !(is_dummy && named.thread != 0);
  const s64 wrong =
      is_kernels ? 0 : copy_attributes(g[rdi], pid, wanted.cpu, asked_group(wanted.group), wanted.flags, attr);
  if (wrong != 0) return wrong;
  if (is_kernels && (named.thread == 0 || type == PERF_TYPE_BREAKPOINT || !can_hold())) return not_of_pmu;
  if (is_kernels) return with_table(t, false, [&] { return add_kernel_event(t, wanted); });
  if (named.thread == 0) return named.error;
  if (is_invalid(attr)) return -EINVAL;
  wanted.counts_nothing = is_dummy || attr.exclude_user || attr.exclude_host;
  const u32 row = is_dummy ? 0 : row_of(attr);
  if (row == no_row) {
    const bool samples_cycles =
        attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES && attr.sample_period != 0;
    if (can_be_modelled(attr)) note_lack(samples_cycles ? channel::pmu_lacks_cycles : channel::pmu_lacks_model);
    return -ENOENT;
  }
  const channel::PmuEvent& kind = settings().pmu.event[row];
  if (attr.sample_period == 0 ? attr.precise_ip != 0 : kind.is_metric != 0) return -EINVAL;
  const bool overflows = attr.sample_period != 0 && !wanted.counts_nothing;
  // As of a PMU that raises no interrupts.
  if (overflows && !can_be_sampled(wanted, row)) return -EOPNOTSUPP;
  if (attr.sample_period == 0 && wanted.cpu != -1 && !is_led_by_samples(wanted) &&
      residence_of(wanted.of, wanted.cpu) == Residence::both)
    return -EOPNOTSUPP;
  if (!can_hold()) return -ENOMEM;
  if (overflows && thread_here(wanted.of) != nullptr)
    if (const s64 error = begin_overflows(t, row, attr.sample_type & PERF_SAMPLE_BRANCH_STACK); error != 0)
      return error;
  return with_table(t, named.is_others, [&] { return add_event(wanted, row); });
}

s64 read_pmu_event(Thread* t) {
  const u64* const g = t->gpr;
  if (g[rax] == SYS_read) return with_known_event(t, g[rdi], [&](u32 at) { return read_values(at, g[rsi], g[rdx]); });
  if (g[rax] != SYS_readv) return not_of_pmu;
  return with_known_event(t, g[rdi], [&](u32 at) -> s64 {
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

namespace {

/// Whether the kernel refuses a frequency.
bool is_too_frequent(u64 frequency) {
  perf_event_attr attr;
  clear(&attr, sizeof attr);
  attr.size = sizeof attr;
  attr.freq = attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sample_freq = frequency;
  const s64 error = ask_kernel(reinterpret_cast<u8*>(&attr), 0, -1, -1, 0);
  return (error == not_of_pmu ? check_attributes(attr) : error) == -EINVAL;
}

s64 change_period(PmuOpenEvent& e, u64 from) {
  u64 period = 0;
  if (get(&period, from, sizeof period) != 0) return -EFAULT;
  const bool is_frequency = has_flag(e, Flag::frequency);
  if (e.sampling.period == 0 || period == 0 || (is_frequency ? is_too_frequent(period) : period >> 63 != 0))
    return -EINVAL;
  if (!are_known(e.leader)) return -EOPNOTSUPP;
  update_group_for_change(e.leader);
  e.sampling.period = period;
  if (!is_frequency) for_countings(e, [&](u32, PmuCounting& c) { set_period(c, period); });
  group_has_changed(e.leader);
  return 0;
}

}  // namespace

s64 control_pmu_event(Thread* t) {
  const u64* const g = t->gpr;
  const u32 request = static_cast<u32>(g[rsi]);
  const auto control = [&](u32 event) -> s64 {
    PmuOpenEvent& controlled = pmu_event(event);
    const auto change = [&](auto f) -> s64 {
      if (!are_known(controlled.leader)) return -EOPNOTSUPP;
      update_group_for_change(controlled.leader);
      if ((g[rdx] & PERF_IOC_FLAG_GROUP) != 0)
        for_group(controlled.leader, f);
      else
        f(controlled);
      // A reset does not change what is counted down.
      if (request == PERF_EVENT_IOC_RESET)
        show_group(controlled.leader);
      else
        group_has_changed(controlled.leader);
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
      const u32 to = request == PERF_EVENT_IOC_SET_OUTPUT ? find_event(g[rdx] & 0xffffffff) : 0;
      if (to == 0 || pmu_event(to).is_kernels) return not_of_pmu;
      note_lack(channel::pmu_lacks_shared_ring);
      return -EINVAL;
    }
    switch (request) {
      case static_cast<u32>(PERF_EVENT_IOC_ID):
        return put(g[rdx], &controlled.id, sizeof controlled.id) == 0 ? 0 : -EFAULT;
      case PERF_EVENT_IOC_SET_OUTPUT: {
        const bool is_own = g[rdx] == no_number;
        const u32 to = is_own ? 0 : find_event(g[rdx] & 0xffffffff);
        if (!is_own && to == 0 && !is_kernel_event(g[rdx])) return -EBADF;
        if (!is_own && (to == 0 || pmu_event(to).is_kernels)) note_lack(channel::pmu_lacks_shared_ring);
        return (is_own || to != 0) && redirect(event, to) ? 0 : -EINVAL;
      }
      case PERF_EVENT_IOC_PAUSE_OUTPUT:
        if (controlled.sampling.ring == 0) return -EINVAL;
        controlled.sampling.is_paused = g[rdx] != 0;
        return 0;
      case PERF_EVENT_IOC_REFRESH:
        if (controlled.inherits || controlled.sampling.period == 0) return -EINVAL;
        return change([&](PmuOpenEvent& e) {
          if (&e != &controlled) return;
          e.sampling.until_off += static_cast<u32>(g[rdx]);
          switch_event(e, true);
        });
      case static_cast<u32>(PERF_EVENT_IOC_PERIOD): return change_period(controlled, g[rdx]);
      case static_cast<u32>(PERF_EVENT_IOC_SET_FILTER):
      case static_cast<u32>(PERF_EVENT_IOC_QUERY_BPF):
      case PERF_EVENT_IOC_SET_BPF: return -EINVAL;
      case static_cast<u32>(PERF_EVENT_IOC_MODIFY_ATTRIBUTES): return -EOPNOTSUPP;
      case FIOCLEX:
      case FIONCLEX:
      case FIONBIO:
      case FIOASYNC: return not_of_pmu;  // of any file
      default: return -ENOTTY;
    }
  };
  // The requests up to this one switch, reset or sample what is counted.
  constexpr u32 numbers = 0xff, last = PERF_EVENT_IOC_PERIOD & numbers;
  return (request & numbers) <= last ? with_known_event(t, g[rdi], control) : with_event(t, g[rdi], control);
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
    for_own([](u32 event) { group_has_changed(pmu_event(event).leader); });
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
  {
    PmuGuard guard;
    forget_number(number);  // another thread may have used it meanwhile
    if (!is_last_hold(event)) return;
    const PmuOpenEvent& e = pmu_event(event);
    if (e.leader != event || e.holders != 1 || !needs_others_held_for_group(t, event)) return let_go(t, event);
  }
  const auto let_go_now = [&]() -> s64 {
    let_go(t, event);
    return 0;
  };
  if (with_table(t, true, let_go_now) != 0) with_table(t, false, let_go_now);
}

void pmu_events_close(Thread* t, u64 first, u64 last) {
  for (u64 n = first; held_events != 0 && n <= last && n <= pmu_table().highest_number; n++)
    pmu_event_closed(t, pmu_event_at(t, n), n);
}

void pmu_events_received() { may_have_events = true; }

}  // namespace tally::engine::guest
