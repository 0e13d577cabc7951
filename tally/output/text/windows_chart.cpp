// A chart of windows for the terminal: a bar for each window and event.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/kit/grid.hpp"

namespace tally::output {
namespace {

constexpr std::size_t usual_columns = 80;  // without a terminal

/// What the chart shows of a thread.
struct ThreadWindows {
  std::string program;
  std::int64_t tid = 0;
  std::vector<std::uint64_t> numbers;
  std::vector<std::vector<std::int64_t>> counts;  ///< of each window, those of the events that could be counted
};

class WindowChart : public WindowWriter {
 public:
  explicit WindowChart(std::size_t terminal) : columns_(prose_width(usual_columns, terminal)) {}

  void begin(const result::WindowsHead& head, std::string&) override {
    for (std::size_t i = 0; i < head.events.size(); ++i) {
      (head.places[i] ? names_ : absent_).push_back(head.events[i].name.text());
      if (head.places[i]) indices_.push_back(*head.places[i]);
    }
  }

  void row(const result::Window& window, std::string&) override {
    ThreadWindows& thread = threads_[window.series];
    thread.program = window.program;
    thread.tid = window.tid;
    thread.numbers.push_back(window.number);
    std::vector<std::int64_t>& counts = thread.counts.emplace_back();
    for (const std::size_t index : indices_) counts.push_back(window.counts[index]);
  }

  void end(const result::WindowsHead& /*head*/, std::string& to) override {
    for (const auto& [series, thread] : threads_) {
      if (threads_.size() > 1) to += fmt::format("{} {}:\n", printable(thread.program), thread.tid);
      add(thread, to);
    }
    if (!absent_.empty()) to += prose_line(fmt::format("absent: {}", join(absent_, ", ")), columns_);
  }

 private:
  void add(const ThreadWindows& thread, std::string& to) const {
    std::vector<std::int64_t> most(names_.size(), 0), sum(names_.size(), 0);
    for (const auto& counts : thread.counts) {
      for (std::size_t e = 0; e < counts.size(); ++e) {
        most[e] = std::max(most[e], counts[e]);
        sum[e] += counts[e];
      }
    }
    std::size_t widest = 0;
    for (const std::int64_t value : sum) widest = std::max(widest, display_width(thousands(value)));
    // The number of a window, and two columns before each bar.
    constexpr std::size_t first = 7, gap = 2;
    const std::size_t room = columns_ - std::min(columns_, first);
    const std::size_t shown =
        std::clamp<std::size_t>(room / (widest + gap), 1, std::max<std::size_t>(names_.size(), 1));
    const std::size_t bar = std::max(room / shown - gap, widest);
    const auto line = [&](std::string_view first, const std::vector<std::string>& cells) {
      std::string text = fmt::format(" {:>6}", first);
      for (const std::string& cell : cells)
        text += "  " + cell + std::string(bar - std::min(bar, display_width(cell)), ' ');
      text.erase(text.find_last_not_of(' ') + 1);
      to += text + "\n";
    };
    std::vector<std::string> cells;
    for (std::size_t e = 0; e < names_.size() && e < shown; ++e) cells.push_back(shortened_cell(names_[e], bar));
    line("window", cells);
    for (std::size_t i = 0; i < thread.counts.size(); ++i) {
      cells.clear();
      for (std::size_t e = 0; e < names_.size() && e < shown; ++e)
        cells.emplace_back(length_of(thread.counts[i][e], most[e], bar), '#');
      line(std::to_string(thread.numbers[i]), cells);
    }
    for (const auto& [label, values] : {std::pair("most", &most), std::pair("sum", &sum)}) {
      cells.clear();
      for (std::size_t e = 0; e < names_.size() && e < shown; ++e) cells.push_back(thousands((*values)[e]));
      line(label, cells);
    }
    if (shown < names_.size())
      to += prose_line(fmt::format("left out: {}; a wider terminal or a file shows them",
                                   join({names_.begin() + static_cast<std::ptrdiff_t>(shown), names_.end()}, ", ")),
                       columns_);
  }

  /// A count that is not 0 has a bar.
  static std::size_t length_of(std::int64_t count, std::int64_t most, std::size_t bar) {
    if (count <= 0 || most <= 0) return 0;
    const double share = static_cast<double>(count) / static_cast<double>(most);
    return std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(bar) + 0.5));
  }

  std::size_t columns_;
  std::vector<std::string> names_, absent_;
  std::vector<std::size_t> indices_;  ///< in Window::counts
  std::map<std::uint32_t, ThreadWindows> threads_;
};

}  // namespace

std::unique_ptr<WindowWriter> make_window_chart(std::size_t terminal) {
  return std::make_unique<WindowChart>(terminal);
}

}  // namespace tally::output
