// The kernel's generic events, with the numbers that perf_event_open(2) uses for them on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/generic_events.hpp"

namespace tally::event {

/// The kernel's number for a generic event; nothing if it has none.
std::optional<Encoding> kernel_number(Id id);

/// A generic event of the kernel.
struct KernelEvent {
  std::string name;  ///< perf's name: "bus-cycles", "L1-icache-load-misses"
  Encoding encoding;
};

/// The kernel's generic events that tally's table does not contain, not even as an alias.
const std::vector<KernelEvent>& other_kernel_events();

}  // namespace tally::event
