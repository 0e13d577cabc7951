#include "programs/callgrind/valgrind_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tally/core/base/text.hpp"

namespace tally::callgrind {
namespace {

class Summary {
 public:
  Summary(const std::vector<NamedCount>& counts, bool wide) : counts_(counts), wide_(wide) {}

  std::vector<std::string> lines() {
    total_width_ = width(of("Ir"));
    lines_.push_back(fmt::format("I   refs:      {}", thousands(of("Ir"))));
    if (has("I1mr")) add_caches();
    if (has("Bc")) add_branches();
    return std::move(lines_);
  }

 private:
  bool has(std::string_view name) const {
    return std::any_of(counts_.begin(), counts_.end(), [&](const NamedCount& one) { return one.name == name; });
  }
  std::int64_t of(std::string_view name) const {
    for (const NamedCount& one : counts_)
      if (one.name == name) return one.count;
    return 0;
  }
  static std::size_t width(std::int64_t count) { return thousands(count).size(); }

  void add(const char* label, std::int64_t count) {
    lines_.push_back(fmt::format("{:<15}{:>{}}", label, thousands(count), total_width_));
  }

  static double percent(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  }

  /// A count that is the sum of two.
  void add(const char* label, std::int64_t one, const char* first, std::int64_t other, const char* second) {
    lines_.push_back(fmt::format("{:<15}{:>{}}  ({:>{}} {} + {:>{}} {})", label, thousands(one + other), total_width_,
                                 thousands(one), first_width_, first, thousands(other), second_width_, second));
  }

  /// The share of both sums, and of each. `between`, `after`: the spaces that align it with the counts above.
  void add_rates(const char* label, std::int64_t one, std::int64_t of_one, std::int64_t other, std::int64_t of_other,
                 const char* between, const char* after) {
    lines_.push_back(fmt::format("{:<15}{:>{}.1f}% ({:>{}.1f}%{}+ {:>{}.1f}%{})", label,
                                 percent(one + other, of_one + of_other), total_width_, percent(one, of_one),
                                 first_width_, between, percent(other, of_other), second_width_, after));
  }

  void add_caches() {
    const std::int64_t instructions = of("Ir"), loads = of("Dr"), stores = of("Dw");
    add("I1  misses:", of("I1mr"));
    add("LLi misses:", of("ILmr"));
    for (const auto& [label, misses] : {std::pair{"I1  miss rate:", "I1mr"}, {"LLi miss rate:", "ILmr"}})
      lines_.push_back(fmt::format("{:<15}{:>{}.2f}%", label, percent(of(misses), instructions), total_width_));
    lines_.emplace_back();
    first_width_ = width(loads);
    second_width_ = width(stores);
    const char* const read = wide_ ? "rd  " : "rd";
    const char* const between = wide_ ? "     " : "   ";
    add("D   refs:", loads, read, stores, "wr");
    add("D1  misses:", of("D1mr"), read, of("D1mw"), "wr");
    add("LLd misses:", of("DLmr"), read, of("DLmw"), "wr");
    add_rates("D1  miss rate:", of("D1mr"), loads, of("D1mw"), stores, between, "  ");
    add_rates("LLd miss rate:", of("DLmr"), loads, of("DLmw"), stores, between, "  ");
    lines_.emplace_back();
    add("LL refs:", of("I1mr") + of("D1mr"), read, of("D1mw"), "wr");
    add("LL misses:", of("ILmr") + of("DLmr"), read, of("DLmw"), "wr");
    add_rates("LL miss rate:", of("ILmr") + of("DLmr"), instructions + loads, of("DLmw"), stores, between, "  ");
  }

  void add_branches() {
    lines_.emplace_back();
    if (!has("I1mr") || wide_) {
      first_width_ = width(of("Bc"));
      second_width_ = width(of("Bi"));
    }
    add("Branches:", of("Bc"), "cond", of("Bi"), "ind");
    add("Mispredicts:", of("Bcm"), "cond", of("Bim"), "ind");
    add_rates("Mispred rate:", of("Bcm"), of("Bc"), of("Bim"), of("Bi"), "     ", "   ");
  }

  const std::vector<NamedCount>& counts_;
  const bool wide_;
  std::size_t total_width_ = 0, first_width_ = 0, second_width_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::string log_lines(std::int64_t process, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("=={}== {}\n", process, printable(line));
  return text;
}

std::string log_warning(std::int64_t process, const std::string& text) {
  return fmt::format("--{}-- warning: {}\n", process, printable(text));
}

std::vector<std::string> collected_lines(const std::vector<NamedCount>& counts) {
  std::string names = "Events    :", values = "Collected :";
  for (const NamedCount& one : counts) {
    names += " " + one.name;
    values += fmt::format(" {}", one.count);
  }
  return {names, values};
}

std::vector<std::string> summary_lines(const std::vector<NamedCount>& counts, bool wide) {
  return Summary(counts, wide).lines();
}

}  // namespace tally::callgrind
