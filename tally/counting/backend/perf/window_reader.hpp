// Takes records from rings as they fill, in a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/process/doorbell.hpp"

namespace tally::backend::perf {

/// Calls a function whenever one of the descriptors is readable, and from time to time.
class WindowReader {
 public:
  /// Errors: cannot_measure where there is no thread to be had.
  static Result<std::unique_ptr<WindowReader>> start(std::vector<int> descriptors, std::function<void()> take,
                                                     int patience_ms);
  WindowReader(const WindowReader&) = delete;
  WindowReader& operator=(const WindowReader&) = delete;
  ~WindowReader() { finish(); }

  /// No call comes after this.
  void finish();

 private:
  explicit WindowReader(linux::Doorbell end) : end_(std::move(end)) {}
  linux::Doorbell end_;
  std::thread thread_;
};

}  // namespace tally::backend::perf
