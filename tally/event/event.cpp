#include "tally/event/event.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/base/text.hpp"

namespace tally::event {
namespace {

tl::unexpected<Error> unknown(std::string_view text) {
  std::vector<std::string> names;
  for (const Definition& line : all()) names.emplace_back(line.name);
  const auto near = nearest(text, names);
  const std::string hint =
      near.empty() ? "the events are: " + join(names, ", ") : "did you mean " + join(near, ", ") + "?";
  return fail(Code::bad_usage, fmt::format("unknown event '{}'", printable(text)), hint);
}

}  // namespace

std::string name(const Event& event) {
  const Definition& line = definition(event.id);
  std::string text(line.name);
  if (has_modes(line.kind)) text += event.mode == Mode::kernel ? ":k" : ":u";
  return text;
}

Result<Event> parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view base = text.substr(0, colon);
  const auto lines = all();
  const auto line = std::find_if(lines.begin(), lines.end(), [&](const Definition& one) { return one.name == base; });
  if (line == lines.end()) return unknown(base);
  Event event{line->id, Mode::user, std::string(text)};
  if (colon == std::string_view::npos) return event;

  const std::string_view suffix = text.substr(colon + 1);
  if (!has_modes(line->kind)) {
    return fail(Code::bad_usage, fmt::format("'{}' takes no suffix, it got '{}'", base, printable(text.substr(colon))),
                "software events are counted as a whole");
  }
  if (suffix == "k") event.mode = Mode::kernel;
  if (suffix != "u" && suffix != "k") {
    return fail(Code::bad_usage, fmt::format("unknown suffix '{}' of '{}'", printable(text.substr(colon)), base),
                "':u' counts user mode, ':k' the kernel");
  }
  return event;
}

Result<std::vector<Event>> parse_lists(const std::vector<std::string>& lists) {
  std::vector<Event> events;
  for (const std::string& list : lists) {
    for (const std::string& text : split(list, ',')) {
      const std::string word = trimmed(text);
      if (word.empty()) {
        return fail(Code::bad_usage, fmt::format("an event's name is missing in '{}'", printable(list)),
                    "separate names with one comma: -e instructions,loads");
      }
      auto event = parse(word);
      if (!event) return fail(event.error());
      const bool again = std::any_of(events.begin(), events.end(), [&](const Event& other) {
        return other.id == event->id && other.mode == event->mode;
      });
      if (!again) events.push_back(*event);
    }
  }
  return events;
}

std::vector<Event> default_set() {
  std::vector<Event> events;
  for (const Definition& line : all()) {
    if (!line.in_default_set) continue;
    Event event{line.id, Mode::user, {}};
    event.asked = name(event);
    events.push_back(event);
  }
  return events;
}

}  // namespace tally::event
