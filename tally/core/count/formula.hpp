// Formulas over counts: "1000 * branch-misses / instructions".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/count.hpp"

namespace tally {

/// An expression of numbers, event names, parentheses, and + - * / between spaces. Operators need the spaces because
/// names contain the same characters: branch-misses, cpu/event=0xc4/.
class Formula {
 public:
  /// Errors: bad_usage, with the position of the syntax error.
  static Result<Formula> parse(std::string_view text);

  /// The events that it uses, each once, in order of appearance.
  const std::vector<std::string>& names() const { return names_; }

  /// The same formula with other event names, in the order of names().
  Formula renamed(const std::vector<std::string>& names) const;

  /// The formula as text, with one space around every operator.
  std::string text() const;

  /// Its value for the counts of names(), with the worst trust among them. Absent if a count is absent or on a division
  /// by 0; the reason says which.
  Ratio evaluate(const std::vector<Count>& counts) const;

  bool operator==(const Formula&) const = default;

 private:
  friend class FormulaParser;

  // One step, in postfix order.
  struct Step {
    enum class Kind { number, name, plus, minus, times, divided, open } kind;
    double number = 0;
    std::size_t name = 0;
    std::string spelling;  // of a number
    bool operator==(const Step&) const = default;
  };

  std::vector<Step> steps_;
  std::vector<std::string> names_;
};

}  // namespace tally
