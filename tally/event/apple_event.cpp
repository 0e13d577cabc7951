// Names of Apple's events.
#include <fmt/format.h>

#include "tally/event/apple_m1.hpp"
#include "tally/event/parsers.hpp"

namespace tally::event {
namespace {

// Without the PMU's name: spelled as there, for AMD has a RETIRED_UOPS; and "cycle" is a slip for cycles.
bool is_meant(const apple_m1::Line& line, std::string_view name) {
  const auto has = [&](std::string_view names) {
    return (" " + std::string(names) + " ").find(" " + std::string(name) + " ") != std::string::npos;
  };
  return name.find('_') != std::string_view::npos &&
         (name.starts_with("M1_PMU_PERFCTR_") || has(line.linux_name) || has(line.framework_name));
}

}  // namespace

Parsed parse_apple(std::string_view text) {
  constexpr std::string_view pmu = "apple_m1::";
  std::string_view rest = text;
  const bool named = rest.starts_with(pmu);
  if (named) rest.remove_prefix(pmu.size());
  const auto [base, letters] = take_apart(rest);
  const apple_m1::Line* line = apple_m1::find(base);
  if (!line || (!named && !is_meant(*line, base))) return std::nullopt;
  Mode mode = Mode::user;
  if (letters) {
    const auto asked = parse_modifiers(*letters, text);
    if (!asked) return fail(asked.error());
    mode = *asked;
  }
  Encoding encoding{Family::apple, "apple_m1", {}, line->code, 0, 0};
  return coded(text, fmt::format("{}{}", named ? pmu : "", base), std::move(encoding), mode);
}

}  // namespace tally::event
