// `tally rdpmc`: lets every program execute the instruction rdpmc, on counters that the kernel has allocated.
//
// A daemon owns the counters and sets the kernel's switch. The switch's previous value is saved first, so that it can
// be restored when the daemon ends or was killed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "programs/rdpmc/state.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::rdpmc {

/// A PMU's current switch; no value if this user may not read it.
struct Switch {
  std::string pmu;
  std::optional<std::int64_t> value;
  bool operator==(const Switch&) const = default;
};

/// Why the counters cannot be read if the kernel reports no PMU.
inline constexpr const char* no_counters =
    "the kernel reports no PMU for this processor (no `cpu` in /sys/bus/event_source/devices): there is no counter to "
    "read";

/// The current state of switches and daemon.
struct RdpmcStatus {
  std::vector<Switch> switches;      ///< none without a PMU
  std::optional<State> held;         ///< by a running daemon
  std::optional<State> left;         ///< by a killed daemon: not yet restored, because this user may not
  std::vector<std::string> notices;  ///< what was or could not be restored, and doubts about events
  bool operator==(const RdpmcStatus&) const = default;
};

/// Counts an event on a processor; tests replace it.
using Pin = std::function<Result<linux::PinnedCounter>(const linux::PerfEvent& event, int processor)>;

/// The current state of the machine whose files are below `root`. Restores what a killed daemon left. Errors:
/// cannot_measure with the reason if the architecture has no such switch.
Result<RdpmcStatus> status(const std::string& root = "/");

/// Starts a daemon that lets every program read these events on every processor until it is stopped. Errors: those of
/// status(); cannot_measure without a PMU, if it is already on, if this user may not, or if an event gets no counter on
/// one of the processors. Changes nothing on errors.
Result<RdpmcStatus> on(const std::vector<event::Event>& events, const std::string& root = "/",
                       const Pin& pin = linux::pin_counter);

/// Stops the daemon, which restores the previous state; does nothing without one. Errors: those of status();
/// cannot_measure if this user may not.
Result<RdpmcStatus> off(const std::string& root = "/");

}  // namespace tally::rdpmc
