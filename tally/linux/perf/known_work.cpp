#include "tally/linux/perf/known_work.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <cerrno>

#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr std::uint64_t turns = 500;
constexpr std::uint64_t instructions_per_turn = 2;

// The system calls around the loop add some, in user mode up to the entry into the kernel.
constexpr std::uint64_t margin_branches = 50;
constexpr std::uint64_t margin_instructions = 500;

void known_loop() {
  std::uint64_t left = turns;
#if defined(__x86_64__)
  asm volatile("1: decq %0\n jnz 1b" : "+r"(left) : : "cc");
#elif defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(left) : : "cc");
#else
  for (volatile std::uint64_t i = 0; i < left; i = i + 1) {
  }
#endif
}

// A PERF_TYPE_HARDWARE event goes to the PMU whose type is in the upper half (Linux 5.13, commit 55bcf6ef314a).
KnownWork count(std::uint64_t config, std::optional<std::uint32_t> pmu) {
  KnownWork work;
  const bool branches = config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
  work.event = branches ? "branches" : "instructions";
  work.least = branches ? turns : turns * instructions_per_turn;
  work.most = work.least + (branches ? margin_branches : margin_instructions);
  if (pmu) config |= std::uint64_t{*pmu} << 32;
  const PerfCounter counter = open_counter({perf_type_hardware, config, true});
  work.os_errno = counter.os_errno;
  if (!counter) return work;
  const auto before = counter.read();
  known_loop();
  const auto after = counter.read();
  if (!before || !after) return work;
  work.value =
      PerfValue{after->value - before->value, after->enabled - before->enabled, after->running - before->running};
  return work;
}

}  // namespace

KnownWork count_known_work(std::optional<std::uint32_t> pmu) {
  const KnownWork branches = count(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, pmu);
  const bool has_none = branches.os_errno == ENOENT || branches.os_errno == EOPNOTSUPP;
  return has_none ? count(PERF_COUNT_HW_INSTRUCTIONS, pmu) : branches;
}

std::string why_not_trusted(const KnownWork& work) {
  if (work.os_errno != 0) {
    // Does not name the event: one that is forbidden may not even exist.
    return fmt::format("the kernel does not let it count (perf_event_open: {})", errno_text(work.os_errno));
  }
  if (!work.value) return fmt::format("its counter of {} cannot be read", work.event);
  if (work.value->running.count() == 0) return "its counters never run: other programs use all of them";
  const std::uint64_t value = work.value->value;
  if (value >= work.least && value <= work.most) return {};
  return fmt::format("it counts wrongly: a loop of {} {} was {}", work.least, work.event, value);
}

}  // namespace tally::linux
