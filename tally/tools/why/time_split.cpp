#include "tally/tools/why/time_split.hpp"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/proportion.hpp"
#include "tally/linux/process/start_state.hpp"
#include "tally/tools/why/sampled_cycles.hpp"

namespace tally::why {
namespace {

constexpr std::int64_t enough_samples = 1000;
constexpr int most_runs = 10;

std::string milliseconds(double nanoseconds) { return fmt::format("{:.2f} ms", std::abs(nanoseconds) / 1e6); }

// The time between two ticks of the kernel's clock.
Nanoseconds tick() {
  timespec time{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &time) != 0) return std::chrono::milliseconds(10);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

TimeSplit split_of(std::int64_t in_user, std::int64_t all, std::string by) {
  const double share = all > 0 ? static_cast<double>(in_user) / static_cast<double>(all) : 0;
  const ShareInterval interval = share_interval(share, static_cast<double>(all));
  return {share, interval.low, interval.high, std::move(by)};
}

std::optional<TimeSplit> sampled_split(const measure::StatOptions& options, linux::Signals& signals) {
  std::int64_t in_user = 0, all = 0;
  int runs = 0;
  const auto held = linux::OtherStartState::hold(linux::start_state());
  if (!held) return std::nullopt;
  for (; runs < most_runs && all < enough_samples; ++runs) {
    const auto sampled = sampled_run(options, signals);
    if (!sampled || sampled->sampling.front().user_only) return std::nullopt;
    for (std::size_t i = 0; i < sampled->rows.size(); ++i) {
      const std::int64_t samples = sampled->samples[i * sampled->event_count()];
      const bool is_kernel =
          sampled->objects[sampled->functions[sampled->rows[i].function].object].name == result::kernel_code;
      all += samples;
      if (!is_kernel) in_user += samples;
    }
    if (all == 0) return std::nullopt;
  }
  return split_of(in_user, all,
                  fmt::format("{} of {}", plural(all, "sample", "samples"),
                              runs == 1 ? "another native run" : fmt::format("{} other native runs", runs)));
}

TimeSplit split_of_ticks(Nanoseconds user, Nanoseconds system) {
  const std::int64_t ticks = (user + system) / tick();
  const double share =
      user.count() == 0 ? 0 : static_cast<double>(user.count()) / static_cast<double>((user + system).count());
  return split_of(std::llround(share * static_cast<double>(ticks)), ticks,
                  fmt::format("{} of the kernel's clock", plural(ticks, "tick", "ticks")));
}

Count part_of(Nanoseconds processor_time, const TimeSplit& split, bool is_user, const std::string& basis) {
  const auto time = static_cast<double>(processor_time.count());
  const double share = is_user ? split.user : 1 - split.user;
  const double low = is_user ? split.low : 1 - split.high, high = is_user ? split.high : 1 - split.low;
  Count count;
  count.value = std::llround(time * share);
  count.source = Source::wait4;
  count.trust = Trust::estimated;
  const double error = share > 0 ? 100 * std::max(high - share, share - low) / share : 100;
  std::string by = split.by;
  if (error < 100)
    count.error_percent = error;
  else
    by += fmt::format(": {} to {}", milliseconds(time * low), milliseconds(time * high));
  count.reason = fmt::format("{}part of {} in user and kernel mode together, which is exact, by {}; from a native run",
                             basis, milliseconds(time), by);
  return count;
}

}  // namespace tally::why
