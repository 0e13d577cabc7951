// Lets every program execute the instruction rdpmc, on counters that the kernel has handed out: `tally rdpmc`.
//
// A process that stays owns the counters and has set the kernel's switch. What the switch said before is written down
// before it is changed; so what was changed is put back when that process ends, or is found dead.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tally/hardware/event/event.hpp"
#include "tally/tools/tuning/rdpmc/state.hpp"

namespace tally::rdpmc {

/// A PMU's switch now; no value where this user may not read it.
struct Switch {
  std::string pmu;
  std::optional<std::int64_t> value;
  bool operator==(const Switch&) const = default;
};

/// How things stand.
struct Standing {
  std::vector<Switch> switches;
  std::optional<State> held;         ///< by a process that lives
  std::optional<State> left;         ///< by one that was killed: not put back yet, as this user may not
  std::vector<std::string> notices;  ///< what was put back, what could not be, what is to be believed less
  bool operator==(const Standing&) const = default;
};

/// How an event is counted on a processor; tests give their own.
using Pin = std::function<Result<linux::PinnedCounter>(const linux::PerfEvent& event, int processor)>;

/// How things stand on the machine whose files lie under `root`. What a killed process left is put back. Errors:
/// cannot_measure where the machine has no such switch, with the reason.
Result<Standing> status(const std::string& root = "/");

/// Leaves a process after that lets every program read these events on every processor until it is told to end.
/// Errors: those of status(); cannot_measure where it is on already, where this user may not, and where an event finds
/// no counter on one of the processors: nothing is changed then.
Result<Standing> on(const std::vector<event::Event>& events, const std::string& root = "/",
                    const Pin& pin = linux::pin_counter);

/// Ends that process, which puts back what was before; nothing where there is none. Errors: those of status();
/// cannot_measure where this user may not.
Result<Standing> off(const std::string& root = "/");

}  // namespace tally::rdpmc
