// Reads lines from a prompt.
#pragma once

#include <optional>
#include <string>

#include "programs/register/pmu/model.hpp"

namespace tally::lab {

/// A prompt, with history and completion of statements, registers and fields if it was built with libedit.
class Prompt {
 public:
  /// `registers`: the names for completion.
  explicit Prompt(const pmu::Model& registers);
  /// Returns the next line; nothing at the end of the input.
  std::optional<std::string> read();
};

}  // namespace tally::lab
