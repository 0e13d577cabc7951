// What `tally` prints without arguments on a terminal: what it counts on this machine, what to try, where to read more.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"

namespace tally::cli {

/// What the text depends on.
struct FirstContact {
  enum class Counting { by_pmu, by_engine, by_kernel, nothing };
  Counting counting = Counting::nothing;
  std::string why;     ///< the notice about the backend; with a PMU its name and processor
  std::string readme;  ///< the path of the installed README.md; empty if it is not found
};

/// Describes this machine. Cost: a few milliseconds.
FirstContact read_first_contact();

/// Interprets the backend that `auto` chose for the default events on this machine.
FirstContact first_contact_of(const Result<backend::Choice>& choice, const linux::HostMachine& machine);

/// The same for a backend with these traits, and the notices about its choice.
FirstContact first_contact_of(const backend::Traits& traits, const std::vector<std::string>& notices,
                              const linux::HostMachine& machine);

/// Five lines.
std::string first_contact_text(const FirstContact& contact);

}  // namespace tally::cli
