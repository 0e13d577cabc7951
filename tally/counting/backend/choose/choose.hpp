// The one place that knows all backends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/linux/machine/machine.hpp"

namespace tally::backend {

/// A backend, and what the user should know about the choice.
struct Choice {
  std::unique_ptr<Backend> backend;
  std::vector<std::string> notices;  ///< lines; empty where the user chose, or where there was nothing to choose
  std::vector<std::string> event_notes = {};  ///< how single events were understood: what was translated, what stands
                                              ///< for what; one line each
};

/// The names that `--backend` takes, "auto" first.
std::vector<std::string> backend_names();

/// Whether `--backend NAME` runs programs under the engine.
bool is_engine(std::string_view name);

/// The backend called `name`; for "auto" the first in order of preference that refuses nothing. `simulation`: the
/// machine that is to be modelled; without one the engine takes this machine where an event needs one. Errors:
/// bad_usage for an unknown name; the backend's refusal; cannot_measure where no event of the order can be counted.
Result<Choice> choose(const std::string& name, const CountOrder& order, const linux::Machine& machine,
                      const std::optional<Simulation>& simulation = {});
Result<Choice> choose(const std::string& name, const RegionOrder& order, const linux::Machine& machine,
                      const std::optional<Simulation>& simulation = {});
/// Its events need not be those of its triggers: both are looked at.
Result<Choice> choose(const std::string& name, const WindowOrder& order, const linux::Machine& machine,
                      const std::optional<Simulation>& simulation = {});
Result<Choice> choose(const std::string& name, const ProfileOrder& order, const linux::Machine& machine,
                      const std::optional<Simulation>& simulation = {});

/// The same for these events of a whole command.
Result<Choice> choose(const std::string& name, const std::vector<event::Event>& events, const linux::Machine& machine,
                      const std::optional<Simulation>& simulation = {});

/// What will come of an event that is asked for by itself, with the backend that "auto" takes for it.
Outlook outlook(const event::Event& event);

}  // namespace tally::backend
