#include "tally/output/data/perf_values.hpp"

#include <fmt/format.h>
#include "tally/core/base/unit_names.hpp"

namespace tally::output {
namespace {

// perf prints its two clocks in milliseconds, and other times in nanoseconds.
bool is_in_milliseconds(const result::EventCount& one) {
  return one.name.base == "task-clock" || one.name.base == "cpu-clock";
}

}  // namespace

std::string perf_unit(const result::EventCount& one) {
  if (is_in_milliseconds(one)) return "msec";
  return one.unit == Unit::events ? "" : unit_name(one.unit);
}

std::string perf_value(const result::EventCount& one) {
  if (!one.count.value) return "<not counted>";
  if (!is_in_milliseconds(one)) return std::to_string(*one.count.value);
  return fmt::format("{}.{:06}", *one.count.value / 1'000'000, *one.count.value % 1'000'000);
}

std::string perf_name(const result::EventCount& one) {
  if (one.event.empty()) return one.name.text();
  if (!one.name.mode || states_mode(one.event)) return one.event;
  const std::string_view mode = suffix(*one.name.mode);
  return one.event + std::string(one.event.ends_with('/') ? mode.substr(1) : mode);
}

}  // namespace tally::output
