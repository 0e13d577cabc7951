// The choice of a machine to model, and the events that its models provide.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/result.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::backend {

/// How much detail the models have (docs/design/simulator.md).
enum class Precision { fast, full };

/// A machine, and how to model it.
struct Simulation {
  machines::MachineModel machine;
  Precision precision = Precision::fast;
  bool prefetch = false;  ///< model the machine's prefetchers
  bool own_llc = false;   ///< each thread has a last level of its own, instead of one for all threads of a process
  /// Threads of tally that run the models of caches, TLBs and predictors next to the program; 0: the program's threads
  /// run them. Nothing: one for each CPU, or 0 if there is only one. The counts are the same.
  std::optional<unsigned> workers = {};
  bool each = false;      ///< for tests: the plain models see every access
  bool compared = false;  ///< for tests: run both ways, and report in a notice whether they agree

  /// Returns "haswell, fast": how notes about several models name it.
  std::string name() const;
};

/// Returns the machine that `--model` names: one of machines::names(), or a file if the name contains a slash. Errors:
/// those of machines::named() and machines::from_file().
Result<machines::MachineModel> machine_of(const std::string& model);

/// The models that an event needs.
struct NeededModels {
  bool branches = false, l1i = false, l1d = false, lower = false, tlbs = false, core = false;
  bool any() const { return branches || l1i || l1d || lower || tlbs || core; }
};

/// Returns the models that an event needs; none if no model provides it.
NeededModels needed_by(event::Id id);

/// Whether the event is known for whole programs and by instruction, but not at marks: cycles of one cause.
bool is_cause_of_cycles(event::Id id);
inline constexpr const char* causes_only_in_profiles =
    "the causes of cycles are known for the whole program and in profiles only";

/// Returns which model a count of this event comes from: "TAGE, fast", "haswell caches, fast". For cycles also their
/// error, if it was measured for this model: "host (zen4 core), fast; mean error 19 % (20 programs)".
std::string model_of(event::Id id, const Simulation& simulation);

/// Returns where the error of this model's cycles was measured, and the errors; or that it was not measured.
std::string describe_error(const Simulation& simulation);

/// Whether the event counts accesses to the last level.
bool is_of_last_level(event::Id id);

/// Returns why this simulation has no count of an event that models provide; empty if it has one.
std::string why_not_modelled(event::Id id, const Simulation& simulation);

/// Returns one line for the user: "haswell (Intel Xeon …), fast: L1D 32 KiB …; no prefetch".
std::string describe(const Simulation& simulation, const NeededModels& needed);

}  // namespace tally::backend
