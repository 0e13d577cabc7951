// Lines that somebody types.
#pragma once

#include <optional>
#include <string>

#include "tally/hardware/pmu/model.hpp"

namespace tally::lab {

/// A prompt: with history and completion of statements, registers and fields where libedit was there at build.
class Prompt {
 public:
  /// `registers`: those whose names are completed.
  explicit Prompt(const pmu::Model& registers);
  /// The next line; nothing at the end of the input.
  std::optional<std::string> read();
};

}  // namespace tally::lab
