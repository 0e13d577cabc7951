#include "tally/engine/guest/pmu_values.hpp"

#include <linux/perf_event.h>

#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_events.hpp"
#include "tally/engine/guest/pmu_groups.hpp"

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

/// An event of the group that has its times: those of the kernel's events are not known.
const PmuOpenEvent& timed_event(u32 leader) {
  u32 at = leader;
  while (pmu_event(at).is_kernels && pmu_event(at).next_member != 0) at = pmu_event(at).next_member;
  return pmu_event(at);
}

}  // namespace

s64 values_of(u32 event, u64* to, u64 bytes, bool in_sample) {
  PmuOpenEvent& read = pmu_event(event);
  const u64 format = read.read_format;
  u64 n = 0;
  const auto give = [&](u64 value) { to[n++] = value; };
  const auto give_rest = [&](const PmuOpenEvent& e) {
    if (format & PERF_FORMAT_ID) give(e.id);
    if (format & with_lost) give(e.sampling.lost_ever);
  };
  const auto give_times = [&](const PmuOpenEvent& e) {
    const u64 ns = enabled_ns_of(e);
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) give(ns);
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) give(ns);
  };
  const bool is_group = (format & PERF_FORMAT_GROUP) != 0;
  if (read.is_kernels && !(is_group && has_own_events(read.leader))) return not_of_pmu;
  u64 members = 0;
  bool is_lost = read.is_lost || !update_group(read.leader, Update::to_read);
  const auto include = [&](PmuOpenEvent& e) {
    members++;
    is_lost = is_lost || e.is_lost || (e.roams && !in_sample) || (e.is_kernels && !read_kernel_event(e));
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
  if (is_group) {
    give(members);
    give_times(timed_event(read.leader));
    for_group(read.leader, [&](const PmuOpenEvent& e) {
      give(static_cast<u64>(count_of(e)));
      give_rest(e);
    });
  } else {
    give(static_cast<u64>(count_of(read)));
    give_times(read);
    give_rest(read);
  }
  return static_cast<s64>(n * 8);
}

}  // namespace tally::engine::guest
