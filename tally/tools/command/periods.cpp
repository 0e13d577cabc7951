#include "tally/tools/command/periods.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::command {
namespace {

// Converts "1ms" to nanoseconds. Returns no value if the text has no time unit.
std::optional<std::string> nanoseconds_of(std::string_view text) {
  for (const auto& [unit, zeros] : {std::pair{"ns", ""}, {"us", "000"}, {"ms", "000000"}, {"s", "000000000"}})
    if (text.ends_with(unit)) return std::string(text.substr(0, text.size() - std::string_view(unit).size())) + zeros;
  return std::nullopt;
}

}  // namespace

Result<Period> period_of(const std::string& text, std::string_view option) {
  const auto time = nanoseconds_of(text);
  const std::string number_text = time.value_or(text);
  std::string_view digits = number_text;
  std::uint64_t unit = 1;
  if (!digits.empty()) {
    switch (digits.back()) {
      case 'k': unit = 1'000; break;
      case 'M': unit = 1'000'000; break;
      case 'G': unit = 1'000'000'000; break;
      default: break;
    }
    if (unit > 1) digits.remove_suffix(1);
  }
  constexpr std::int64_t most = std::int64_t{1} << 50;
  const auto number = parse_integer(digits);
  if (number && *number >= 1 && *number <= most / static_cast<std::int64_t>(unit))
    return Period{static_cast<std::uint64_t>(*number) * unit, time.has_value()};
  return fail(Code::bad_usage, fmt::format("{} {} is not a number of events", option, printable(text)),
              "use 1 to 2^50, such as 50000, 50k or 2M, or a time such as 1ms");
}

Result<void> check_period(const Period& period, const event::Event& event, const std::string& option) {
  if (period.is_time && !event::is_clock(event))
    return fail(Code::bad_usage,
                fmt::format("{} is a time, but {} does not count time", printable(option), printable(event.asked)),
                "task-clock and cpu-clock count time");
  // kernel/events/core.c, perf_swevent_init_hrtimer: the kernel replaces a shorter period by this one.
  constexpr std::uint64_t least_ns = 10'000;
  if (event::is_clock(event) && period.number < least_ns)
    return fail(Code::bad_usage, fmt::format("{} is shorter than the kernel's timers allow", printable(option)),
                "the minimum is 10us");
  return {};
}

}  // namespace tally::command
