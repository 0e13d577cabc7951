// Takes the rows of windows from the channel while programs run under the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// Returns the engine's settings for an order of windows. Adds to `marks` a row for each event that windows count.
channel::Windows windows_of(const Order& order, const Modelling& modelling, channel::Marks& marks);

/// A thread of the command that takes rows and passes them to the order's sink.
class WindowRows {
 public:
  /// `shared` and `order` must outlive it. `started`: the time that rows are relative to. Throws std::system_error if
  /// the thread cannot be started.
  WindowRows(const Channel& shared, const Order& order, const Modelling& modelling, Nanoseconds started);
  WindowRows(const WindowRows&) = delete;
  WindowRows& operator=(const WindowRows&) = delete;
  /// Calls finish().
  ~WindowRows();

  /// Call it when the program of this thread (its index) was replaced: cuts its last window.
  void ended(std::uint32_t thread);

  /// Passes everything to the sink, and cuts the last windows of threads that did not end them, such as those of a
  /// killed process. Makes running engines stop.
  void finish();

  /// Return how many threads started windows at an address, and then stopped at one. After finish().
  std::uint64_t started() const;
  std::uint64_t stopped() const;
  /// Returns how many rows were in a file and could not be read again. After finish().
  std::uint64_t lost() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tally::backend::engine
