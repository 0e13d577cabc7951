// A thread that takes records from ring buffers as they fill.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/process/doorbell.hpp"

namespace tally::backend::perf {

/// Calls a function whenever one of the descriptors is readable, and at least every `patience_ms`.
class WindowReader {
 public:
  /// Errors: cannot_measure if no thread can be started.
  static Result<std::unique_ptr<WindowReader>> start(std::vector<int> descriptors, std::function<void()> take,
                                                     int patience_ms);
  WindowReader(const WindowReader&) = delete;
  WindowReader& operator=(const WindowReader&) = delete;
  ~WindowReader() { finish(); }

  /// After this there are no more calls.
  void finish();

 private:
  explicit WindowReader(linux::Doorbell end) : end_(std::move(end)) {}
  linux::Doorbell end_;
  std::thread thread_;
};

}  // namespace tally::backend::perf
