#include "tally/core/count/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally {

// A shunting-yard parser: an operator stays on the stack until an operator arrives that does not bind tighter.
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<Formula> parse() {
    for (auto word = next(); !word.empty(); word = next()) {
      if (const auto taken = take(word); !taken) return fail(taken.error());
    }
    if (wants_value_) return wrong(text_.empty() ? "it is empty" : "something is missing at its end");
    while (!waiting_.empty()) {
      if (waiting_.back() == Kind::open) return wrong("a ')' is missing");
      release();
    }
    return std::move(formula_);
  }

 private:
  using Kind = Formula::Step::Kind;

  tl::unexpected<Error> wrong(const std::string& what) const {
    return fail(Code::bad_usage, fmt::format("'{}' is not a formula: {}", printable(text_), what),
                "a formula consists of event names, numbers, parentheses, and + - * /, with spaces around - and / "
                "after a name: "
                "1000 * branch-misses / instructions");
  }

  // The next word: a parenthesis, an operator, a number or a name. Empty at the end. Names contain '-' and '/'.
  std::string_view next() {
    position_ = std::min(text_.find_first_not_of(' ', position_), text_.size());
    const std::string_view rest = text_.substr(position_);
    std::size_t length = std::min(rest.find_first_of(starts_with_digit(rest) ? " ()*+-/" : " ()*+"), rest.size());
    const bool has_exponent = length > 1 && (rest[length - 1] == 'e' || rest[length - 1] == 'E');
    if (starts_with_digit(rest) && has_exponent && length < rest.size() && (rest[length] == '+' || rest[length] == '-'))
      length = std::min(rest.find_first_of(" ()*+-/", length + 1), rest.size());
    if (!rest.empty() && (length == 0 || operator_of(rest.substr(0, 1)))) length = 1;
    position_ += length;
    return rest.substr(0, length);
  }

  static bool starts_with_digit(std::string_view word) {
    return !word.empty() && (word.front() == '.' || (word.front() >= '0' && word.front() <= '9'));
  }

  static std::optional<Kind> operator_of(std::string_view word) {
    if (word == "+") return Kind::plus;
    if (word == "-") return Kind::minus;
    if (word == "*") return Kind::times;
    if (word == "/") return Kind::divided;
    return std::nullopt;
  }

  static int rank(Kind kind) {
    if (kind == Kind::open) return 0;
    return kind == Kind::plus || kind == Kind::minus ? 1 : 2;
  }

  Result<void> take(std::string_view word) {
    if (word == "(") {
      if (!wants_value_) return wrong("an operator is missing before '('");
      waiting_.push_back(Kind::open);
      return {};
    }
    if (word == ")") return close();
    const auto kind = operator_of(word);
    if (kind && wants_value_) return wrong(fmt::format("a value is missing before '{}'", word));
    if (!kind && !wants_value_) return wrong(fmt::format("an operator is missing before '{}'", printable(word)));
    wants_value_ = kind.has_value();
    if (!kind) return value(word);
    while (!waiting_.empty() && rank(waiting_.back()) >= rank(*kind)) release();
    waiting_.push_back(*kind);
    return {};
  }

  Result<void> close() {
    if (wants_value_) return wrong("something is missing before ')'");
    while (!waiting_.empty() && waiting_.back() != Kind::open) release();
    if (waiting_.empty()) return wrong("a '(' is missing");
    waiting_.pop_back();
    return {};
  }

  Result<void> value(std::string_view word) {
    if (!starts_with_digit(word)) {
      // The event of a PMU contains two: cpu/event=0xc0/.
      const bool is_odd = std::count(word.begin(), word.end(), '/') % 2 == 1;
      if (is_odd && word.ends_with('/')) return wrong("something is missing after its '/'");
      if (is_odd) return wrong(fmt::format("'{}' has a single '/': put spaces around a division", printable(word)));
      const auto found = std::find(formula_.names_.begin(), formula_.names_.end(), word);
      const auto index = static_cast<std::size_t>(found - formula_.names_.begin());
      if (found == formula_.names_.end()) formula_.names_.emplace_back(word);
      formula_.steps_.push_back({Kind::name, 0, index, {}});
      return {};
    }
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) {
      return wrong(fmt::format("'{}' is not a number", printable(word)));
    }
    formula_.steps_.push_back({Kind::number, number, 0, std::string(word)});
    return {};
  }

  void release() {
    formula_.steps_.push_back({waiting_.back(), 0, 0, {}});
    waiting_.pop_back();
  }

  std::string_view text_;
  std::size_t position_ = 0;
  bool wants_value_ = true;
  std::vector<Kind> waiting_;
  Formula formula_;
};

namespace {

// A subexpression while text() rebuilds the formula.
struct Part {
  std::string text;
  int rank = 3;  // precedence of its weakest operator; 3 without one
  double value = 0;
};

std::string in_parentheses_if(bool needed, const std::string& text) { return needed ? "(" + text + ")" : text; }

}  // namespace

Result<Formula> Formula::parse(std::string_view text) { return FormulaParser(text).parse(); }

Formula Formula::renamed(const std::vector<std::string>& names) const {
  Formula other = *this;
  other.names_ = names;
  return other;
}

std::string Formula::text() const {
  std::vector<Part> stack;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::number || step.kind == Step::Kind::name) {
      stack.push_back({step.kind == Step::Kind::number ? step.spelling : names_[step.name], 3, 0});
      continue;
    }
    const Part right = std::move(stack.back());
    stack.pop_back();
    const Part left = std::move(stack.back());
    stack.pop_back();
    const auto kind = static_cast<std::size_t>(step.kind) - static_cast<std::size_t>(Step::Kind::plus);
    const int rank = kind < 2 ? 1 : 2;
    stack.push_back({fmt::format("{} {} {}", in_parentheses_if(left.rank < rank, left.text), "+-*/"[kind],
                                 in_parentheses_if(right.rank <= rank, right.text)),
                     rank, 0});
  }
  return stack.empty() ? "" : stack.back().text;
}

Ratio Formula::evaluate(const std::vector<Count>& counts) const {
  Ratio result;
  result.trust = Trust::exact;
  std::vector<std::string> missing;
  std::vector<std::string> reasons;
  std::vector<std::string> models;
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  };
  for (const Count& count : counts) {
    result.trust = worst(result.trust, count.trust);
    add(count.value ? reasons : missing, count.reason);
    add(models, count.model);
  }
  result.model = join(models, ", ");
  result.reason = join(result.trust == Trust::absent ? missing : reasons, "; ");
  if (result.trust == Trust::absent) return result;

  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::number) stack.push_back(step.number);
    if (step.kind == Step::Kind::name) stack.push_back(static_cast<double>(*counts[step.name].value));
    if (step.kind == Step::Kind::number || step.kind == Step::Kind::name) continue;
    const double right = stack.back();
    stack.pop_back();
    double& left = stack.back();
    if (step.kind == Step::Kind::plus) left += right;
    if (step.kind == Step::Kind::minus) left -= right;
    if (step.kind == Step::Kind::times) left *= right;
    if (step.kind == Step::Kind::divided && right == 0) {
      return {std::nullopt, Trust::absent, "division by 0 in " + text(), {}};
    }
    if (step.kind == Step::Kind::divided) left /= right;
  }
  result.value = stack.back();
  return result;
}

}  // namespace tally
