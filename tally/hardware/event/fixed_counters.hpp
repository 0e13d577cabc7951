// The events of Intel's fixed counters. Intel's tables give them event code 0, which selects nothing on a programmable
// counter.
#pragma once

#include <cstdint>
#include <string_view>

#include "tally/hardware/event/encoding.hpp"

namespace tally::event {

/// An event of a fixed counter.
struct FixedEvent {
  std::string_view name;        ///< Intel's: "INST_RETIRED.ANY"
  std::uint8_t umask = 0;       ///< Intel's unit mask for event code 0
  int counter = 0;              ///< index of the fixed counter
  std::uint64_t kernel_config;  ///< perf_event_attr.config that makes the kernel choose that counter
};

/// The fixed-counter event of an Intel encoding with event code 0 and no conditions; null for any other.
const FixedEvent* fixed_event(const Encoding& encoding);

/// Finds an event by name, with a dot or a colon, ignoring case; null if unknown.
const FixedEvent* fixed_event(std::string_view name);

/// The config to open a counter with: the kernel's config for an event of a fixed counter, else the encoding's.
std::uint64_t kernel_config(const Encoding& encoding);

}  // namespace tally::event
