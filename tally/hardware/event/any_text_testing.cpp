#include "tally/hardware/event/any_text_testing.hpp"

#include <cstdio>
#include <cstdlib>

#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/explain_event.hpp"

namespace tally::event {
namespace {

void must(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "%s: '%.*s'\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

// A machine without files, because sysfs has separate tests. Searching fifty tables for an unknown word is slow, so
// only one text in sixteen does it.
Sources sources(std::string_view text) { return {"/nowhere", "hsw", text.size() % 16 == 0}; }

void check_error(const Error& error, std::string_view text) {
  must(error.code == Code::bad_usage, "an error of the text is bad usage", text);
  must(!error.message.empty(), "an error has words", text);
  must(error.message.size() < 1000 + 4 * text.size(), "an error is short", text);
}

void check_event(const Event& event, std::string_view text, const Sources& from) {
  must(!name(event).empty(), "an event has a name", text);
  must(event.id != Id::code || event.encoding.has_value(), "an event that has no name has an encoding", text);
  // A term name=… sets a user-defined name, which cannot be parsed again.
  if (event.label.find('/') == std::string::npos && event.asked.find("name=") != std::string::npos) return;
  const auto again = parse(name(event), from);
  must(again.has_value(), "an event's name is understood", name(event));
  must(again->id == event.id && again->mode == event.mode && again->encoding == event.encoding,
       "an event's name is that event", name(event));
}

}  // namespace

void check_any_text(std::string_view text) {
  const Sources from = sources(text);
  const auto events = parse_lists({std::string(text)}, from);
  if (!events) return check_error(events.error(), text);
  must(!events->empty(), "a list without errors has events", text);
  for (const Event& event : *events) {
    check_event(event, text, from);
    must(!explain(event).event.asked.empty(), "an event can be explained", text);
  }
}

}  // namespace tally::event
