// How many of a command's page faults are the engine's own: those at its addresses.
#pragma once

#include <map>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/engine/channel/channel.hpp"
#include "tally/linux/perf/fault_log.hpp"

namespace tally::backend::engine {

/// Where the page faults of each event were that the user asked for by name.
using FaultPlaces = std::map<event::Id, linux::FaultPlaces>;

/// The logs of these events; made before the program is started, by the thread that starts it. Those that the kernel
/// refuses are not there.
class FaultLogs {
 public:
  /// Where the user named no events nothing is followed: it takes descriptors and time.
  explicit FaultLogs(const Job& job);

  FaultPlaces finish();

 private:
  std::map<event::Id, linux::FaultLog> logs_;
};

/// What is said of a count of `counted` faults, of which `places` tells where they were. Pure.
std::string share_of_engine(const linux::FaultPlaces& places, std::int64_t counted, const channel::Records& records);

}  // namespace tally::backend::engine
