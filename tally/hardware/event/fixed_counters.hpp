// Events of Intel's fixed counters. Intel's tables name them with event code 0, which selects nothing on a programmable
// counter.
#pragma once

#include <cstdint>
#include <string_view>

#include "tally/hardware/event/encoding.hpp"

namespace tally::event {

/// An event that a fixed counter counts.
struct FixedEvent {
  std::string_view name;        ///< Intel's: "INST_RETIRED.ANY"
  std::uint8_t umask = 0;       ///< Intel's unit mask beside event code 0
  int counter = 0;              ///< the fixed counter
  std::uint64_t kernel_config;  ///< perf_event_attr.config for which the kernel chooses that counter
};

/// The event of a fixed counter that an Intel encoding stands for: event code 0 without conditions. Null for any other.
const FixedEvent* fixed_event(const Encoding& encoding);

/// The event of that name, with a dot or a colon, in any case. Null where there is none.
const FixedEvent* fixed_event(std::string_view name);

/// The config to open a counter with: that of the encoding, or the kernel's own for an event of a fixed counter.
std::uint64_t kernel_config(const Encoding& encoding);

}  // namespace tally::event
