// Prints a run of statements as text: each with the changes it made.
#pragma once

#include <string>
#include <vector>

#include "programs/lab/story.hpp"
#include "programs/lab/x86_statements.hpp"

namespace tally::lab {

/// Prints statements one by one. Needs breakpoints at their first instructions.
class ScriptStory {
 public:
  /// Does not print statements before `first`.
  ScriptStory(const Script& script, const Telling& telling, std::size_t first = 0)
      : script_(script), telling_(telling), first_(first) {}

  /// Returns the text to print now; empty while a statement runs.
  std::string hear(const Entry& entry, const Computer& machine);
  /// Returns the text for the last statement if the run ended in it.
  std::string finish(const Computer& machine);

 private:
  std::string close(const Computer& machine);

  const Script& script_;
  Telling telling_;
  std::size_t first_;
  int current_ = -1;
  std::vector<std::string> lines_;    // events of the current statement
  std::vector<CounterState> before_;  // counters at its start
};

}  // namespace tally::lab
