// Collects path hashes of threads from rows of windows.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tally/counting/backend/backend.hpp"

namespace tally::backend::engine {

/// Most hashes that are kept of a thread. When there are more, every second one is dropped, and the interval doubles.
inline constexpr std::size_t path_hash_limit = 1024;

class ThreadPaths {
 public:
  explicit ThreadPaths(const PathSettings& settings) : settings_(settings) {}

  /// Returns the same order for the windows that it collects from. It must outlive that order.
  Order windows(const Order& order);

  /// Moves the paths to the outcome, in the order of the threads' starts.
  void take(Outcome& outcome);

 private:
  struct Collected {
    result::ThreadPath path;
    std::uint32_t process = 0;
    std::uint64_t windows = 0;
  };
  void add(const result::Window& window);
  void add_read(const WindowRead& read);
  void record(const result::Window& window, std::uint64_t number);
  std::uint32_t number_of(const result::CodeFile& file);
  RecordedPath::Step step_at(const std::optional<WindowRead::Location>& place);

  const PathSettings& settings_;
  std::multimap<std::uint32_t, Collected> threads_;  // by series: a record may be used again
  std::uint32_t last_file_ = 0;
};

}  // namespace tally::backend::engine
