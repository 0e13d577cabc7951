// The one place that knows all backends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/backend/backend.hpp"
#include "tally/backend/simulation.hpp"
#include "tally/linux/machine/machine.hpp"

namespace tally::backend {

/// What has to be possible besides counting the events of a whole command.
struct Needs {
  bool attachment = false;                    ///< Request::attachment
  bool timing = false;                        ///< Request::timing
  bool processes = false;                     ///< Request::processes
  std::optional<Simulation> simulation = {};  ///< this machine is to be simulated, and no other counts; without it
                                              ///< the simulated PMU takes `host` where an event needs one
  /// What only the engine can do.
  enum class Engine { nothing, marks, bounds, int2e, int3, rdpmc } engine = Engine::nothing;
  /// Request::windows, and what ends them: the kernel's own events, or others.
  enum class Windows { none, by_kernel, by_others } windows = Windows::none;
  bool code = false;                                 ///< Request::on_code
  bool any() const { return attachment || timing; }  ///< of what cannot be done without; processes can
};

/// A backend, and what the user should know about the choice.
struct Choice {
  std::unique_ptr<Backend> backend;
  std::vector<std::string> notices;  ///< lines; empty where the user chose, or where there was nothing to choose
  std::vector<std::string> event_notes = {};  ///< how single events were understood: what was translated, what stands
                                              ///< for what; one line each
};

/// The names that `--backend` takes, "auto" first.
std::vector<std::string> backend_names();

/// The backend called `name`. "auto" takes the simulated PMU where an event needs a counter, and runs the program
/// natively where none does. Errors: bad_usage for an unknown name; cannot_measure for one that does not work here, and
/// where no event that is asked for can be counted.
Result<Choice> choose(const std::string& name, const std::vector<event::Event>& events, const linux::Machine& machine,
                      const Needs& needs = {});

/// What will come of an event that is asked for by itself, with the backend that "auto" takes for it.
Outlook outlook(const event::Event& event);

}  // namespace tally::backend
