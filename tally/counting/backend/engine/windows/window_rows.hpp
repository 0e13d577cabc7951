// The rows of windows, taken from the channel while programs run under the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// What the engine is told. `marks`: gets a row for each event that windows count.
channel::Windows windows_of(const Job& job, const Modelling& modelling, channel::Marks& marks);

/// A thread of the command that takes rows and hands them to the order's sink.
class WindowRows {
 public:
  /// `shared` and `job` must live as long. `started`: rows tell their time from there on. Throws std::system_error
  /// where there is no thread to be had.
  WindowRows(const Channel& shared, const Job& job, const Modelling& modelling, Nanoseconds started);
  WindowRows(const WindowRows&) = delete;
  WindowRows& operator=(const WindowRows&) = delete;
  /// As finish().
  ~WindowRows();

  /// The program of this thread (its number) was replaced: its last window is cut.
  void ended(std::uint32_t thread);

  /// Everything that is there was handed on; of threads that did not end their last window themselves, as a killed
  /// process does not, that is cut here. Engines that still run are told that nobody takes more.
  void finish();

  /// Threads whose windows started, and which then stopped, at an address. After finish().
  std::uint64_t started() const;
  std::uint64_t stopped() const;
  /// Rows that waited in a file and could not be read again. After finish().
  std::uint64_t lost() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tally::backend::engine
