// Events around the cores: memory controllers, energy, the uncore's clock, as the kernel names them in sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tally/tools/watch/machine.hpp"
#include "tally/tools/watch/reading.hpp"

namespace tally::watch {

/// One of them on one processor of a socket, ready to be opened.
struct AroundEvent {
  Counted counts = Counted::read_bytes;
  int socket = 0;
  int processor = 0;
  std::uint32_t type = 0;
  std::uint64_t config = 0, config1 = 0, config2 = 0;
  double scale = 1;  ///< to bytes, joules, clocks
  std::string name;  ///< "uncore_imc_0/cas_count_read/"
};

/// All that the machine's sysfs names. Cost: some small files for each PMU around the cores.
std::vector<AroundEvent> around_events(const Machine& machine);

/// Says of READ, WRITE, CPU, DIMM, LLCRDMISSLAT and UncFREQ where they come from or why they have no source: `opened`
/// is what counts, `refused` why something does not.
void report_neighbours(Machine& machine, const std::set<Counted>& opened, std::optional<std::size_t> refused);

}  // namespace tally::watch
