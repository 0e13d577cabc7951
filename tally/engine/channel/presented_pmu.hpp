/// The PMU that programs find (Settings::pmu): the events that perf_event_open(2) opens, with what they count.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/event_fields.hpp"

namespace tally::channel {

/// An event as a program selects it.
struct PmuEvent {
  uint32_t type;  ///< perf_event_attr.type
  uint64_t config;
  int8_t weight[field_count];  ///< its count is the sum of the fields, each times its weight
};
inline constexpr uint32_t pmu_event_limit = 48;

/// Programs find no PMU if it has no events.
struct PresentedPmu {
  uint32_t event_count;
  PmuEvent event[pmu_event_limit];

  bool any() const { return event_count != 0; }
};

}  // namespace tally::channel
