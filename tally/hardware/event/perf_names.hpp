// The kernel's generic events: the numbers that perf_event_open(2) has for them on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/table.hpp"

namespace tally::event {

/// The kernel's own number for an event of the table; nothing where it has none.
std::optional<Encoding> kernel_number(Id id);

/// One of the kernel's generic events.
struct KernelEvent {
  std::string name;  ///< perf's: "bus-cycles", "L1-icache-load-misses"
  Encoding encoding;
};

/// Those that are neither in the table nor another name of it.
const std::vector<KernelEvent>& other_kernel_events();

}  // namespace tally::event
