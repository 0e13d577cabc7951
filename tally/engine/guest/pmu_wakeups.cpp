#include "tally/engine/guest/pmu_wakeups.hpp"

#include <fcntl.h>
#include <linux/un.h>
#include <poll.h>

#include "tally/engine/context.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/pending.hpp"
#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_events.hpp"
#include "tally/engine/guest/pmu_rings.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 unix_family = 1, datagrams = 2, close_on_exec_bit = 02000000, no_wait = 0x40;

/// The kernel names such a socket by a zero byte and five hexadecimal digits.
constexpr u32 name_digits = 5;
struct SocketName {
  u16 family = unix_family;
  char name[1 + name_digits] = {};
};

/// Messages to a descriptor.
constexpr char data_message = 'd', end_message = 'e';

void send(const PmuOpenEvent& e, u64 from, char message) {
  SocketName to;
  for (u32 i = 0; i < name_digits; i++)
    to.name[1 + i] = "0123456789abcdef"[(e.sampling.address - 1) >> 4 * (name_digits - 1 - i) & 15];
  kernel(SYS_sendto, from, reinterpret_cast<u64>(&message), 1, no_wait, reinterpret_cast<u64>(&to), sizeof to);
}

/// Takes the messages of a descriptor. After the last one it only reports that it has ended.
bool take_messages(u64 number) {
  char message = 0;
  bool any = false;
  while (kernel(SYS_recvfrom, number, reinterpret_cast<u64>(&message), 1, no_wait) == 1) {
    any = true;
    if (message == end_message) kernel(SYS_shutdown, number, 2 /* SHUT_RDWR */);
  }
  return any;
}

/// A siginfo as the kernel fills it for descriptors.
struct DescriptorInfo {
  s32 signal, error, code, pad;
  s64 band;
  s32 number;
  u8 rest[128 - 28];
};

bool is_thread_here(s32 tid) {
  Guard guard(threads_lock);
  for (const Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == current()->process && o->tid == tid) return true;
  return false;
}

void send_signal(const PmuOpenEvent& e, bool is_last) {
  constexpr s32 by_kernel = 0x80, has_input = 1, hangs_up = 6;
  constexpr s64 input_band = POLLIN | POLLRDNORM, last_band = POLLHUP | POLLERR;
  DescriptorInfo info{};
  info.signal = signal_of(e);
  info.code = e.sampling.signal == 0 ? by_kernel : is_last ? hangs_up : has_input;
  if (e.sampling.signal != 0) {
    info.band = is_last ? last_band : input_band;
    info.number = e.sampling.number;
  }
  const u64 signal = static_cast<u64>(info.signal), to = static_cast<u64>(s64{e.sampling.owner});
  const u64 own = static_cast<u64>(kernel(SYS_getpid)), at = reinterpret_cast<u64>(&info);
  if (to == 0) return;  // none
  // The kernel refuses such information for another thread.
  if (e.sampling.owner != current()->tid && is_thread_here(e.sampling.owner))
    disguise_event(info.signal, reinterpret_cast<u8*>(&info));
  switch (e.sampling.owner_kind) {
    case F_OWNER_TID:
      if (failed(kernel(SYS_rt_tgsigqueueinfo, own, to, signal, at))) kernel(SYS_tkill, to, signal);
      return;
    case F_OWNER_PID:
      if (failed(kernel(SYS_rt_sigqueueinfo, to, signal, at))) kernel(SYS_kill, to, signal);
      return;
    default: kernel(SYS_kill, -to, signal);
  }
}

bool has_unread_records(const PmuOpenEvent& e) {
  const perf_event_mmap_page* const page = ring_of(e);
  return page != nullptr && __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) != page->data_head;
}

/// A descriptor stays readable until the program has read the records.
void take_what_was_read() {
  if (held_events == 0) return;
  PmuGuard guard;
  for_held([](u32 event) {
    PmuOpenEvent& e = pmu_event(event);
    const s64 number = e.sampling.address != 0 ? number_of(e) : -1;
    if (number >= 0 && take_messages(static_cast<u64>(number)) && has_unread_records(e))
      send(e, static_cast<u64>(number), data_message);
  });
}

void take_reported(u64 polled, u64 n) {
  pollfd entry;
  for (u64 i = 0; i < n && get(&entry, polled + i * sizeof entry, sizeof entry) == 0; i++) {
    if (!(entry.revents & POLLIN) || entry.fd < 0) continue;
    PmuGuard guard;
    const u32 event = find_event(static_cast<u64>(entry.fd));
    if (event != 0 && pmu_event(event).sampling.address != 0) take_messages(static_cast<u64>(entry.fd));
  }
}

}  // namespace

s64 make_waited_socket(u64 close_on_exec, u32& address) {
  const s64 number = kernel(SYS_socket, unix_family, datagrams | (close_on_exec != 0 ? close_on_exec_bit : 0), 0);
  if (failed(number)) return number;
  SocketName name;
  u32 bytes = sizeof name;
  if (failed(kernel(SYS_bind, static_cast<u64>(number), reinterpret_cast<u64>(&name), sizeof name.family)) ||
      failed(kernel(SYS_getsockname, static_cast<u64>(number), reinterpret_cast<u64>(&name),
                    reinterpret_cast<u64>(&bytes)))) {
    kernel(SYS_close, static_cast<u64>(number));
    return -ENOMEM;
  }
  address = 0;
  for (u32 i = 0; i < name_digits; i++) {
    const u32 digit = static_cast<u8>(name.name[1 + i]);
    address = address << 4 | (digit >= 'a' ? digit - 'a' + 10 : digit - '0');
  }
  address++;
  return number;
}

void wake(PmuOpenEvent& e, Wakeup why) {
  if (e.sampling.address != 0) {
    const s64 own = is_held(e) ? number_of(e) : -1;
    const s64 from = own >= 0 ? own : kernel(SYS_socket, unix_family, datagrams | close_on_exec_bit, 0);
    if (own >= 0) take_messages(static_cast<u64>(own));
    if (!failed(from)) send(e, static_cast<u64>(from), why == Wakeup::end ? end_message : data_message);
    if (own < 0 && !failed(from)) kernel(SYS_close, static_cast<u64>(from));
  }
  if (e.sampling.is_asynchronous != 0 && why != Wakeup::end) send_signal(e, why == Wakeup::last);
}

s32 signal_of(const PmuOpenEvent& e) {
  constexpr s32 sigio = 29;
  if (e.sampling.is_asynchronous == 0) return 0;
  return e.sampling.signal != 0 ? e.sampling.signal : sigio;
}

void send_trap(const Thread* t, const PmuOpenEvent& e) {
  constexpr s32 of_counter = 6;  // TRAP_PERF
  struct {
    s32 signal, error, code, pad;
    u64 address, data;
    u32 type, flags;
    u8 rest[128 - 40];
  } info{};
  info.signal = sigtrap;
  info.code = of_counter;
  info.data = e.sampling.trap_data;
  info.type = settings().pmu.event[e.row].type;
  info.flags = t->mask >> (sigtrap - 1) & 1;  // TRAP_PERF_FLAG_ASYNC: it is blocked
  send_to_self(sigtrap, reinterpret_cast<const u8*>(&info));
}

s64 wait_for_events(Thread* t, s64 (*make)(Thread*)) {
  if (!may_have_events || !pmu_is_used()) return make(t);
  const u64 number = t->gpr[rax], polled = t->gpr[rdi], n = t->gpr[rsi];
  const bool is_poll = number == SYS_poll || number == SYS_ppoll;
  if (!is_poll) take_what_was_read();
  const s64 r = make(t);
  if (is_poll && r > 0) take_reported(polled, n);
  return r;
}

s64 control_waited(Thread* t) {
  const u64* const g = t->gpr;
  struct {
    s32 kind, number;
  } owner{};
  if (held_events == 0) return not_of_pmu;
  PmuGuard guard;
  const u32 event = find_event(g[rdi]);
  if (event == 0 || pmu_event(event).sampling.address == 0) return not_of_pmu;
  channel::PmuSampling& sampling = pmu_event(event).sampling;
  switch (g[rsi]) {
    case F_SETFL: {
      // The kernel would send a signal for each message, too.
      sampling.is_asynchronous = (g[rdx] & O_ASYNC) != 0;
      sampling.number = static_cast<s32>(g[rdi]);
      return kernel(SYS_fcntl, g[rdi], F_SETFL, g[rdx] & ~static_cast<u64>(O_ASYNC));
    }
    case F_GETFL: {
      const s64 flags = kernel(SYS_fcntl, g[rdi], F_GETFL, 0);
      return failed(flags) || sampling.is_asynchronous == 0 ? flags : flags | O_ASYNC;
    }
    case F_SETOWN:
    case F_SETOWN_EX:
    case F_SETSIG: break;
    default: return not_of_pmu;
  }
  const s64 r = kernel(SYS_fcntl, g[rdi], g[rsi], g[rdx]);
  if (failed(r)) return r;
  if (g[rsi] == F_SETSIG) {
    sampling.signal = static_cast<s32>(g[rdx]);
  } else if (const s32 named = static_cast<s32>(g[rdx]); g[rsi] == F_SETOWN && named >= 0) {
    // The kernel finds the process of any thread, but reports only first threads.
    sampling.owner_kind = F_OWNER_PID;
    sampling.owner = named;
  } else if (!failed(kernel(SYS_fcntl, g[rdi], F_GETOWN_EX, reinterpret_cast<u64>(&owner)))) {
    sampling.owner_kind = owner.kind;
    sampling.owner = owner.number;
  }
  return r;
}

}  // namespace tally::engine::guest
