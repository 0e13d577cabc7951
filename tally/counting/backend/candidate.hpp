// A backend on the list from which one is chosen (choose/candidates.inc), and when it is taken.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/linux/machine/machine.hpp"

namespace tally::backend {

/// One entry of the list. A backend may have several, for several uses.
struct Candidate {
  enum class When {
    if_enough,  ///< by `--backend auto`, where it counts all of an order; else nobody hears of it
    automatic,  ///< by auto
    by_name,    ///< by `--backend NAME`
    always,     ///< by both
    last,       ///< by auto, whatever it counts: nothing better comes after it
  };
  const char* name;  ///< as `--backend` calls it
  When when;
  /// `simulation`: the machine that is to be modelled; a backend without models ignores it.
  std::unique_ptr<Backend> (*make)(const linux::Machine& machine, const std::optional<Simulation>& simulation);
  /// What the user should know where auto takes it after others on the list; `why`: why it takes none of those. Null
  /// for nothing.
  std::vector<std::string> (*notices)(const linux::Machine& machine, const std::string& why);

  bool is_automatic() const { return when != When::by_name; }
  bool is_by_name() const { return when == When::by_name || when == When::always; }
};

}  // namespace tally::backend
