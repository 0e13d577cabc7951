// All windows of a file in memory: the input of HTML pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tally/output/result/windows_result.hpp"

namespace tally::result {

/// The windows of one thread of one program as columns; see Window for their meaning.
struct WindowSeries {
  std::uint32_t series = 0;
  std::string program;
  std::int64_t pid = 0, tid = 0;
  std::vector<std::int64_t> numbers, times, lengths, cpus, addresses, triggers, lost,
      partial;                                    ///< trigger −1: the thread's end
  std::vector<std::uint32_t> functions, lines;    ///< of the addresses: indices in Windows::words; empty if unnamed
  std::vector<std::vector<std::int64_t>> counts;  ///< of each event that could be counted: see WindowsHead::places
  std::vector<double>
      points;  ///< of each row phase::projected_dimensions coordinates: the code that it executed; empty if unknown
  std::size_t rows() const { return numbers.size(); }
  bool operator==(const WindowSeries&) const = default;
};

/// The content of a file of windows.
struct Windows {
  WindowsHead head;
  std::vector<WindowSeries> series;    ///< in the order of their first windows in the file
  std::vector<std::string> words{};    ///< names of functions and lines; the first is empty
  bool incomplete = false;             ///< the file was cut off or is damaged: only windows before that are here
  std::vector<std::string> notices{};  ///< notices for the reader about the file
  std::size_t rows() const {
    std::size_t sum = 0;
    for (const WindowSeries& one : series) sum += one.rows();
    return sum;
  }
};

/// Visits all windows in the order in which they ended, which keeps the order of each thread.
void visit_by_time(const Windows& windows, const std::function<void(const Window&)>& visit);

/// Collects windows by series.
class WindowsCollector {
 public:
  explicit WindowsCollector(WindowsHead head);
  void add(const Window& window);
  Windows take() { return std::move(windows_); }
  WindowsHead& head() { return windows_.head; }

 private:
  Windows windows_;
  std::uint32_t word(std::string_view text);

  std::map<std::uint32_t, std::size_t> places_;
  std::map<std::string, std::uint32_t, std::less<>> words_;
  std::size_t counts_ = 0;
};

}  // namespace tally::result
