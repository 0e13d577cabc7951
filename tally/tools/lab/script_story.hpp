// A run of statements as people read it: each with what it changed.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/lab/statements.hpp"
#include "tally/tools/lab/story.hpp"

namespace tally::lab {

/// Tells statements one by one. Breakpoints stand at their first instructions.
class ScriptStory {
 public:
  /// Those before `first` are passed over in silence.
  ScriptStory(const Script& script, const Telling& telling, std::size_t first = 0)
      : script_(script), telling_(telling), first_(first) {}

  /// What is to be printed now; empty while a statement runs.
  std::string hear(const Entry& entry, const Computer& machine);
  /// The last statement, where the run broke off in it.
  std::string finish(const Computer& machine);

 private:
  std::string close(const Computer& machine);

  const Script& script_;
  Telling telling_;
  std::size_t first_;
  int current_ = -1;
  std::vector<std::string> lines_;    // what happened in the current statement
  std::vector<CounterState> before_;  // counters when it began
};

}  // namespace tally::lab
