// Chooses the backend for an order: the only file that depends on all backends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/linux/machine/host_machine.hpp"

namespace tally::backend {

/// A backend, and notes for the user about the choice.
struct Choice {
  std::unique_ptr<Backend> backend;
  std::vector<std::string> notices;  ///< lines; empty if the user named the backend, or there was no choice
  std::vector<std::string> event_notes =
      {};  ///< how single events were interpreted: translated codes, substituted events; one line each
};

/// Returns the names that `--backend` accepts, "auto" first.
std::vector<std::string> backend_names();

/// Returns the traits of the backend that `--backend NAME` selects, without a model; default ones for other names.
Traits traits_of(std::string_view name);

/// Returns the backend called `name`; for "auto" the first in order of preference that does not refuse the order.
/// `simulation`: the machine to model; without it the engine models this machine if an event needs a model. Errors:
/// bad_usage for an unknown name; the backend's refusal; cannot_measure if no event of the order can be counted, with
/// those of triggers.
Result<Choice> choose(const std::string& name, const Order& order, const linux::HostMachine& machine,
                      const std::optional<Simulation>& simulation = {});

/// Returns the outlook of a single event with the backend that "auto" chooses for it.
Outlook outlook(const event::Event& event);

}  // namespace tally::backend
