// An entry in the list of backends to choose from (choose/candidates.inc), and when to choose it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/linux/machine/host_machine.hpp"

namespace tally::backend {

/// One entry of the list. A backend may have several entries, for different uses.
struct Candidate {
  enum class ChoiceRule {
    if_enough,  ///< by `--backend auto`, if it counts the whole order; otherwise it is not mentioned
    automatic,  ///< by `--backend auto`
    by_name,    ///< by `--backend NAME`
    always,     ///< by both
    last,       ///< by `--backend auto`, whatever it can count: no better backend comes after it
  };
  const char* name;  ///< its name after `--backend`
  ChoiceRule when;
  /// Creates the backend. `simulation`: the machine to model; a backend without models ignores it.
  std::unique_ptr<Backend> (*make)(const linux::HostMachine& machine, const std::optional<Simulation>& simulation);
  /// Returns notes for the user when `--backend auto` chooses it after others in the list; `why`: why none of those was
  /// chosen. Null: no notes.
  std::vector<std::string> (*notices)(const linux::HostMachine& machine, const std::string& why);

  bool is_automatic() const { return when != ChoiceRule::by_name; }
  bool is_by_name() const { return when == ChoiceRule::by_name || when == ChoiceRule::always; }
};

}  // namespace tally::backend
