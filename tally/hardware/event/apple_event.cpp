// Parses the names of Apple's events.
#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/parsers.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::event {
namespace {

using AppleEvent = pmu::apple::Event;

bool has_word(std::string_view words, std::string_view name) {
  const auto all = split(words, ' ');
  return std::any_of(all.begin(), all.end(), [&](const std::string& word) { return !word.empty() && word == name; });
}

bool has_name(const AppleEvent& event, std::string_view name) {
  return has_word(event.linux_name, name) || has_word(event.framework_name, name);
}

// Finds an event by Linux's name, with or without its prefix, or by the framework's. Case matters: AMD has a
// RETIRED_UOPS.
const AppleEvent* find_by_name(std::string_view name) {
  constexpr std::string_view prefix = "M1_PMU_PERFCTR_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto all = pmu::apple::events();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const AppleEvent& event) { return has_name(event, name); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

Parsed parse_apple(std::string_view text) {
  constexpr std::string_view prefix = "apple_m1::";
  std::string_view rest = text;
  const bool named = rest.starts_with(prefix);
  if (named) rest.remove_prefix(prefix.size());
  const auto [base, letters] = take_apart(rest);
  const AppleEvent* event = find_by_name(base);
  if (!event) return std::nullopt;
  Mode mode = Mode::user;
  if (letters) {
    const auto asked = parse_modifiers(*letters, text);
    if (!asked) return fail(asked.error());
    mode = *asked;
  }
  Encoding encoding{Family::apple, "apple_m1", {}, event->code, 0, 0};
  return coded(text, fmt::format("{}{}", named ? prefix : "", base), std::move(encoding), mode);
}

}  // namespace tally::event
