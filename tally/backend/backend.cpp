#include "tally/backend/backend.hpp"

#include <utility>

namespace tally::backend {

EventCount event_count(const event::Event& event, Count count) {
  return {event.asked, event::name(event), event::definition(event.id).unit, std::move(count)};
}

}  // namespace tally::backend
