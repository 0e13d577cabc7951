#include "tally/engine/guest/pmu_descriptors.hpp"

#include <linux/perf_event.h>
#include <sys/stat.h>

#include "tally/engine/guest/descriptor_numbers.hpp"

namespace tally::engine::guest {

u32* held;
u32 held_events;
bool may_have_events;

namespace {

/// The events that the first numbers refer to, as found before; 0: not known.
u32 known_events[256];

}  // namespace

bool can_hold() {
  if (held == nullptr) held = reinterpret_cast<u32*>(try_reserve(channel::pmu_open_limit * sizeof *held, read_write));
  return held != nullptr && map_pmu_table();
}

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

}  // namespace tally::engine::guest
