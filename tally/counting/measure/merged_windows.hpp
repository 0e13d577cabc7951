// Windows of processes, joined of those of their threads. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tally/output/result/windows.hpp"

namespace tally::measure {

/// Threads run side by side: nobody knows the order of their instructions, and a counter that they shared would be most
/// of what they do. So each counts parts of a window, and a window of the process are parts in the order in which they
/// ended, until it is full. What it counts is exactly what these parts did; a part that ended in it may have begun
/// before it.
class MergedWindows {
 public:
  using Emit = std::function<void(const result::Window&)>;

  /// What threads are to count to, for windows of `every`: an eighth, rounded up.
  static std::uint64_t part_of(std::uint64_t every) { return (every + 7) / 8; }

  explicit MergedWindows(std::uint64_t every) : every_(static_cast<std::int64_t>(every)) {}

  /// A part of a thread, whose parts come in any order among those of others. What it points to is not needed
  /// afterwards. Memory: 64 bytes and 8 for each count.
  void add(const result::Window& part);

  /// All have come. Windows of a process in their order; the thread, processor and address are those of its last part.
  /// What is left at its end is a window without a trigger.
  void finish(const Emit& emit);

 private:
  struct Part {
    std::int64_t time_ns, length, lost;
    std::uint64_t address;
    std::size_t counts;  // where they lie
    std::int32_t thread, cpu;
    bool partial;
  };
  struct Process {
    std::vector<Part> parts;
    std::vector<std::int64_t> counts;
    std::size_t width = 0;  // counts of a part
  };
  void join(const std::string& program, std::int64_t pid, Process& process, const Emit& emit);

  std::int64_t every_;
  std::map<std::pair<std::int64_t, std::string>, Process> processes_;
  std::uint32_t series_ = 0;
};

}  // namespace tally::measure
