// Stacks as `tally profile --format folded` writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {

/// Functions from the outermost on, the program's name first, and what was counted by the innermost.
struct FoldedStack {
  std::vector<std::string> names;
  std::int64_t count = 0;
  bool has(const std::string& name) const;
};

struct FoldedStacks {
  std::vector<FoldedStack> all;
  Finished finished;

  /// Of the program with these arguments, by the engine.
  explicit FoldedStacks(const Words& command);
  std::int64_t total() const;
  /// Of the stacks that have the function; or all of these functions.
  std::int64_t with_callees(const Words& names) const;
  /// Of the stacks that end in the function.
  std::int64_t own(const std::string& name) const;
};

}  // namespace tally::test
