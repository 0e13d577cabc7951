// A program whose counts are known, and its parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "programs/workload/workload.hpp"

namespace tally::verify {

/// A program and its parameters.
struct Trial {
  const workload::Workload* workload = nullptr;
  workload::Parameters parameters;

  std::string label() const { return workload::label(*workload, parameters); }
  workload::Counts known() const { return workload->expected(parameters); }
  bool operator==(const Trial&) const = default;
};

/// The program with this name and its default parameters; `workload` is null if there is none.
Trial usual(std::string_view name);

/// Whether this architecture has the program.
bool has(std::string_view name);

/// The program and parameters of a file name that tally verify wrote; empty for other files.
std::optional<Trial> trial_of(const std::string& path);

}  // namespace tally::verify
