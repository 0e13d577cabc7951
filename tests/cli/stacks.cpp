#include "tests/cli/stacks.hpp"

#include <algorithm>
#include <sstream>

namespace tally::test {

bool FoldedStack::has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

FoldedStacks::FoldedStacks(const Words& command) {
  const TemporaryFile file("stacks.folded");
  finished =
      tally(with({"profile", "-q", "--backend", "engine", "-e", "instructions", "-o", file.path(), "--"}, command));
  std::istringstream lines(file.content().value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.rfind(' ');
    FoldedStack made;
    made.count = std::stoll(line.substr(blank + 1));
    std::istringstream names(line.substr(0, blank));
    for (std::string name; std::getline(names, name, ';');) made.names.push_back(name);
    all.push_back(std::move(made));
  }
}

std::int64_t FoldedStacks::total() const {
  std::int64_t sum = 0;
  for (const FoldedStack& stack : all) sum += stack.count;
  return sum;
}

std::int64_t FoldedStacks::with_callees(const Words& names) const {
  std::int64_t sum = 0;
  for (const FoldedStack& stack : all)
    if (std::all_of(names.begin(), names.end(), [&](const std::string& name) { return stack.has(name); }))
      sum += stack.count;
  return sum;
}

std::int64_t FoldedStacks::own(const std::string& name) const {
  std::int64_t sum = 0;
  for (const FoldedStack& stack : all)
    if (stack.names.back() == name) sum += stack.count;
  return sum;
}

}  // namespace tally::test
