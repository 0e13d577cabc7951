// Writes the rows of windows.
#pragma once

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "tally/linux/files/output_file.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/tools/command/terminal_output.hpp"

namespace tally::windows {

/// Formats rows as they arrive and writes them in blocks, at the latest after 400 ms; from a failure on, as text, to
/// standard error.
class WindowRows {
 public:
  WindowRows(const output::WindowFormat& format, linux::Output output)
      : writer_(format.make(command::terminal_columns(output))),
        output_(std::move(output)),
        has_fallback_(!format.is_binary && !output_.is_standard_error()) {}

  void begin(const result::WindowsHead& head) {
    writer_->begin(head, text_);
    begun_ = true;
    flush();
  }
  void row(const result::Window& window) {
    const std::lock_guard lock(mutex_);
    // Not earlier: tally starts the program by fork().
    if (!idle_.joinable()) idle_ = std::jthread([this](const std::stop_token& end) { flush_when_idle(end); });
    writer_->row(window, text_);
    constexpr std::size_t block_bytes = 1 << 16;
    if (text_.size() >= block_bytes || Clock::now() - flushed_ >= longest_wait) flush();
  }
  bool reader_left() const {
    const std::lock_guard lock(mutex_);
    return !written_ && written_.error().os_errno == EPIPE;
  }
  /// As WindowWriter::describe().
  std::string describe(const result::WindowsHead& head) const { return writer_->describe(head); }
  /// `head`: as at the end. Errors: cannot_write, from linux::Output.
  Result<void> finish(const result::WindowsHead& head) {
    const std::lock_guard lock(mutex_);
    if (begun_) writer_->end(head, text_);
    flush();
    return written_ ? output_.finish() : written_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds longest_wait{200};  // of a reader: `-o - | head`

  /// A program that waits has no next row.
  void flush_when_idle(const std::stop_token& end) {
    std::unique_lock lock(mutex_);
    while (!end.stop_requested()) {
      ended_.wait_for(lock, end, longest_wait, [] { return false; });
      if (!text_.empty() && Clock::now() - flushed_ >= longest_wait) flush();
    }
  }

  void flush() {
    flushed_ = Clock::now();
    if (written_) written_ = output_.add(text_);
    if (!written_ && has_fallback_ && written_.error().os_errno != EPIPE) {
      written_.error().hint = "the rows from there on are on standard error";
      (void)linux::Output::standard_error().write(text_);
    }
    text_.clear();
  }

  std::unique_ptr<output::WindowWriter> writer_;
  linux::Output output_;
  std::string text_;
  Clock::time_point flushed_ = {};
  bool begun_ = false;
  bool has_fallback_;  // rows that cannot be written go to standard error
  Result<void> written_ = {};
  mutable std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread idle_;  // the last member: it uses the others
};

}  // namespace tally::windows
