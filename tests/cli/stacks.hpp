// Stacks as `tally profile --format folded` writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {

/// Functions from the outermost on, with the program's name first, and the count of the innermost.
struct FoldedStack {
  std::vector<std::string> names;
  std::int64_t count = 0;
  bool has(const std::string& name) const;
};

struct FoldedStacks {
  std::vector<FoldedStack> all;
  Finished finished;

  /// Stacks of the program with these arguments, by the engine.
  explicit FoldedStacks(const Words& command);
  std::int64_t total() const;
  /// The sum of the stacks that contain the function; or all of these functions.
  std::int64_t with_callees(const Words& names) const;
  /// The sum of the stacks that end in the function.
  std::int64_t own(const std::string& name) const;
};

}  // namespace tally::test
