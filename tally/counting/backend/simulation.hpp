// What of a machine is simulated, and which events that gives.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/result.hpp"
#include "tally/engine/machines/machine.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::backend {

/// How much is modelled (docs/design/simulator.md).
enum class Precision { fast, full };

/// A machine, and how it is simulated.
struct Simulation {
  machine::MachineModel machine;
  Precision precision = Precision::fast;
  bool prefetch = false;  ///< the machine's prefetchers work
  bool own_llc = false;   ///< each thread has a last level of its own, instead of one for all threads of a process
  /// Threads of tally's own that carry caches, TLBs and TAGE, beside the program; 0: the program's threads do it
  /// themselves. None given: one for each processor, 0 where there is only one. The counts are the same.
  std::optional<unsigned> workers = {};
  bool each = false;      ///< for tests: the plain models see every access
  bool compared = false;  ///< for tests: both ways are gone, and a notice says whether they agree

  /// "haswell, fast": as it stands beside what is said of several models.
  std::string name() const;
};

/// The machine that `--model` names: one of machine::names(), or a file where there is a slash in it. Errors: those of
/// machine::named() and machine::from_file().
Result<machine::MachineModel> machine_of(const std::string& model);

/// Parts of the simulation that an event needs.
struct Needed {
  bool branches = false, l1i = false, l1d = false, lower = false, tlbs = false, core = false;
  bool any() const { return branches || l1i || l1d || lower || tlbs || core; }
  /// In `full` cycles are those of TLBs, too.
  bool tlbs_in(Precision precision) const { return tlbs || (core && precision == Precision::full); }
};

/// What an event needs; nothing where no model gives it.
Needed needed_by(event::Id id);

/// Whose word a count of this event is: "gshare, fast", "haswell caches, fast".
std::string model_of(event::Id id, const Simulation& simulation);

/// Whether it counts what comes to the last level.
bool is_of_last_level(event::Id id);

/// Why this simulation has no count of an event that is some model's; empty where it has.
std::string why_not_modelled(event::Id id, const Simulation& simulation);

/// "haswell (Intel Xeon …), fast: L1D 32 KiB …; no prefetch": one line.
std::string describe(const Simulation& simulation, const Needed& needed);

}  // namespace tally::backend
