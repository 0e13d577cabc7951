#include "tally/hardware/event/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/hardware/event/names_without_event.hpp"
#include "tally/hardware/event/parsers.hpp"
#include "tally/hardware/event/suggest.hpp"

namespace tally::event {
namespace {

// Whether the text states a mode.
bool has_own_mode(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return text.back() != '/';
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         text.find_first_not_of("uk", colon + 1) == std::string_view::npos;
}

// Appends the group's modifiers, or the usual mode, unless the event states its own.
std::string with_modifiers(const Item& item, Mode usual) {
  std::string modifiers = item.modifiers;
  if (modifiers.empty() && usual != Mode::user) modifiers = suffix(usual).substr(1);
  if (modifiers.empty() || has_own_mode(item.text)) return item.text;
  if (const auto id = find(item.text); id && !has_modes(definition(*id).kind)) return item.text;
  return item.text + (item.text.back() == '/' ? "" : ":") + modifiers;
}

// What to write instead of a mode after a software event.
std::string_view instead_of_modes(Id id) {
  switch (id) {
    case Id::page_faults:
      return "page-faults counts all page faults, page-faults:u those of the program's own accesses";
    case Id::context_switches:
    case Id::cpu_migrations:
    case Id::cgroup_switches:
      return "it happens in the kernel, so the count in user mode would be a false 0; omit the suffix";
    case Id::task_clock:
    case Id::cpu_clock: return "user_time and system_time are its parts";
    default: return "software events are not counted by mode: omit the suffix";
  }
}

bool same(const Event& a, const Event& b) {
  return a.id == b.id && a.mode == b.mode && a.encoding == b.encoding && a.label == b.label && a.group == b.group;
}

}  // namespace

EventName event_name(const Event& event) {
  const Definition& line = definition(event.id);
  std::string base = event.label.empty() ? std::string(line.name) : event.label;
  if (has_modes(line.kind) && !is_of_machine(event) && event.absent.empty()) return {std::move(base), event.mode};
  return split_event_name(base);
}

bool is_of_machine(const Event& event) { return event.encoding && !event.encoding->machine.empty(); }

bool is_clock(const Event& event) { return event.id == Id::task_clock || event.id == Id::cpu_clock; }

Unit unit_of(const Event& event) { return is_of_machine(event) ? event.encoding->unit : definition(event.id).unit; }

std::string name(const Event& event) { return event_name(event).text(); }

Event coded(std::string_view asked, std::string label, Encoding encoding, Mode mode) {
  Event event;
  event.id = counterpart(encoding).value_or(Id::code);
  event.mode = mode;
  event.asked = asked;
  event.encoding = std::move(encoding);
  event.label = std::move(label);
  return event;
}

std::string counted_as(const Event& event) {
  if (event.label.empty() || event.id == Id::code) return {};
  std::string start = fmt::format("{} is counted as {}", name(event), definition(event.id).name);
  const auto line = event.encoding ? known_code(*event.encoding) : std::nullopt;
  if (!line) return start;
  return fmt::format("{}: {}'s {} ({})", start, maker(event.encoding->family), line->name, code_text(*event.encoding));
}

Suffixed take_apart(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Parsed parse_generic(std::string_view text) {
  Event event;
  event.asked = text;
  // Tries the whole text first: page-faults:u is a name.
  if (const auto whole = find(text)) {
    event.id = *whole;
    return event;
  }
  const auto [base, letters] = take_apart(text);
  const auto id = find(base);
  if (!id) return std::nullopt;
  event.id = *id;
  const Definition& line = definition(*id);
  if (!has_modes(line.kind)) {
    return fail(Code::bad_usage,
                fmt::format("'{}' does not support a suffix, but has ':{}'", line.name, printable(*letters)),
                std::string(instead_of_modes(*id)));
  }
  const auto mode = parse_modifiers(*letters, text);
  if (!mode) return fail(mode.error());
  event.mode = *mode;
  return event;
}

namespace {

Result<Event> parse_by_source(std::string_view text, const Sources& sources) {
  // First, because one generic alias contains slashes: msr/tsc/.
  if (auto event = parse_generic(text)) return *std::move(event);
  if (auto event = parse_given_event(text, sources)) return *std::move(event);
  if (auto event = parse_device(text, sources)) return *std::move(event);
  if (auto event = parse_code(text, sources)) return *std::move(event);
  if (auto event = parse_kernel_generic(text)) return *std::move(event);
  if (auto event = parse_bare_device_event(text, sources)) return *std::move(event);
  if (auto event = parse_fixed_counter_event(text, sources)) return *std::move(event);
  if (auto event = parse_pfm(text, sources)) return *std::move(event);
  if (auto event = parse_apple(text)) return *std::move(event);
  if (sources.others) {
    if (auto event = parse_pfm_anywhere(text)) return *std::move(event);
  }
  return fail(unknown_event(text, sources));
}

}  // namespace

Result<Event> parse(std::string_view text, const Sources& sources) {
  auto event = parse_by_source(text, sources);
  if (event || !sources.keeps_missing || text.starts_with("PAPI_")) return event;
  const auto uncounted = name_without_event(text.substr(0, text.find('/')));
  if (!uncounted) return event;
  Event missing = coded(text, printable(text), {}, Mode::user);
  missing.absent = fmt::format("this machine lacks this event: {}; {}", uncounted->what, uncounted->instead);
  return missing;
}

Result<std::vector<Event>> parse_lists(const std::vector<std::string>& lists, const Sources& sources, Mode usual) {
  std::vector<Event> events;
  int groups = 0;
  for (const std::string& list : lists) {
    const auto items = split_list(list, groups);
    if (!items) return fail(items.error());
    for (const Item& item : *items) {
      auto event = parse(with_modifiers(item, usual), sources);
      if (!event) return fail(event.error());
      event->asked = item.text;
      event->group = item.group;
      groups = std::max(groups, item.group);
      const bool again =
          std::any_of(events.begin(), events.end(), [&](const Event& other) { return same(other, *event); });
      if (!again) events.push_back(*std::move(event));
    }
  }
  const bool none = std::all_of(events.begin(), events.end(), [](const Event& event) { return !event.absent.empty(); });
  if (none && !events.empty())
    if (const auto error = parse_by_source(events.front().asked, sources); !error) return fail(error.error());
  return events;
}

std::vector<Event> default_set() {
  std::vector<Event> events;
  for (const Definition& line : all()) {
    if (!line.in_default_set) continue;
    Event event;
    event.id = line.id;
    event.asked = name(event);
    events.push_back(event);
  }
  return events;
}

}  // namespace tally::event
