// All windows of a file in memory: what a page of them is made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tally/output/result/windows.hpp"

namespace tally::result {

/// The windows of one thread of one program, column by column; Window has the words.
struct WindowSeries {
  std::uint32_t series = 0;
  std::string program;
  std::int64_t pid = 0, tid = 0;
  std::vector<std::int64_t> numbers, times, lengths, cpus, addresses, triggers, lost, partial;  ///< trigger −1: the end
  std::vector<std::uint32_t> functions, lines;  ///< of the addresses: numbers in Windows::words; empty where not named
  std::vector<std::vector<std::int64_t>> counts;  ///< of each event that could be counted: WindowsHead::places
  std::vector<double> points;  ///< of each row, so many one after the other: which code it ran; empty where not known
  std::size_t rows() const { return numbers.size(); }
  bool operator==(const WindowSeries&) const = default;
};

/// What a file of windows holds.
struct Windows {
  WindowsHead head;
  std::vector<WindowSeries> series;    ///< in the order of their first windows in the file
  std::vector<std::string> words{};    ///< names of functions and lines; the first is empty
  bool incomplete = false;             ///< the file was cut off, or is damaged: what stands before that is here
  std::vector<std::string> notices{};  ///< what the reader should know about the file
  std::size_t rows() const {
    std::size_t sum = 0;
    for (const WindowSeries& one : series) sum += one.rows();
    return sum;
  }
};

/// Visits all windows in the order in which they ended; those of a thread in their order.
void visit_by_time(const Windows& windows, const std::function<void(const Window&)>& visit);

/// Puts windows where they belong.
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
