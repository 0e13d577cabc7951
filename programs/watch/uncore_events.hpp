// Uncore events: memory controllers, energy and the uncore clock, with the kernel's names in sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "programs/watch/machine_reading.hpp"
#include "programs/watch/watched_machine.hpp"

namespace tally::watch {

/// An uncore event on one processor of a socket, ready to be opened.
struct AroundEvent {
  Counted counts = Counted::read_bytes;
  int socket = 0;
  int processor = 0;
  std::uint32_t type = 0;
  std::uint64_t config = 0, config1 = 0, config2 = 0;
  double scale = 1;  ///< to bytes, joules or clocks
  std::string name;  ///< "uncore_imc_0/cas_count_read/"
};

/// Returns all uncore events in the machine's sysfs. Cost: some small files per uncore PMU.
std::vector<AroundEvent> around_events(const WatchedMachine& machine);

/// Sets the source of READ, WRITE, CPU, DIMM, LLCRDMISSLAT and UncFREQ, or why it is missing. `opened`: the counts that
/// are available; `refused`: the reason for those that are not.
void report_neighbours(WatchedMachine& machine, const std::set<Counted>& opened, std::optional<std::size_t> refused);

}  // namespace tally::watch
