// Reports how many of a command's page faults are the engine's own: those at its addresses.
#pragma once

#include <map>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/engine/channel/channel.hpp"
#include "tally/linux/perf/fault_log.hpp"

namespace tally::backend::engine {

/// The addresses of the page faults of each requested event.
using FaultPlaces = std::map<event::Id, linux::FaultPlaces>;

/// The fault logs of the requested events. The thread that starts the program creates them before. Logs that the kernel
/// refuses are missing.
class FaultLogs {
 public:
  /// Opens no logs if the user named no events, because they cost descriptors and time.
  explicit FaultLogs(const Order& order);

  FaultPlaces finish();

 private:
  std::map<event::Id, linux::FaultLog> logs_;
};

/// Returns a note for a count of `counted` faults at these addresses. Pure.
std::string share_of_engine(const linux::FaultPlaces& places, std::int64_t counted, const channel::Records& records);

}  // namespace tally::backend::engine
