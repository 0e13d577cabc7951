// Joins the windows of threads into windows of their process. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tally/output/result/windows_result.hpp"

namespace tally::measure {

/// Threads run in parallel: the order of their instructions is unknown, and a shared counter would dominate their cost.
/// So each thread counts parts of a window. A window of the process consists of parts in the order in which they ended,
/// until it is full. It counts exactly what these parts did; a part that ended in it may have started before it.
class MergedWindows {
 public:
  using Emit = std::function<void(const result::Window&)>;

  /// Returns the trigger of threads for windows of `every`: an eighth, rounded up.
  static std::uint64_t part_of(std::uint64_t every) { return (every + 7) / 8; }

  explicit MergedWindows(std::uint64_t every) : every_(static_cast<std::int64_t>(every)) {}

  /// Adds a part of a thread. The parts of each thread come in order, those of different threads in any order. Copies
  /// what it needs. Memory: 64 bytes, and 8 for each count.
  void add(const result::Window& part);

  /// Emits the windows of each process in order, with the thread, CPU and address of their last part. The rest at its
  /// end is a window without a trigger.
  void finish(const Emit& emit);

 private:
  struct Part {
    std::int64_t time_ns, length, lost;
    std::uint64_t address;
    std::size_t counts;  // index of its counts
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
