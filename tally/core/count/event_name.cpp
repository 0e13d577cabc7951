#include "tally/core/count/event_name.hpp"

namespace tally {

std::string_view suffix(Mode mode) {
  switch (mode) {
    case Mode::kernel: return ":k";
    case Mode::both: return ":uk";
    case Mode::user: break;
  }
  return ":u";
}

std::string EventName::text() const { return mode ? base + std::string(suffix(*mode)) : base; }

EventName split_event_name(std::string_view text) {
  for (const Mode mode : {Mode::both, Mode::user, Mode::kernel}) {
    const std::string_view ending = suffix(mode);
    if (text.size() > ending.size() && text.ends_with(ending))
      return {std::string(text.substr(0, text.size() - ending.size())), mode};
  }
  return {std::string(text), std::nullopt};
}

bool states_mode(std::string_view asked) {
  const std::size_t end = asked.find_last_of(":/");
  return end != std::string_view::npos && end + 1 < asked.size() &&
         asked.find_first_not_of("uk", end + 1) == std::string_view::npos;
}

}  // namespace tally
