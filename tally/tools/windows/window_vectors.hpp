// Writes the basic-block vectors of windows to files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::windows {

/// Writes vectors in SimPoint's format (output/data/simpoint.hpp). Each thread of each program gets a file of its
/// own, because the format cannot hold two.
class WindowVectors {
 public:
  /// Opens the first file now. Errors: those of linux::Output::open_file().
  static Result<WindowVectors> open(const std::string& path);

  void row(const result::Window& window);
  /// Errors: the first cannot_write of linux::Output.
  Result<void> finish();
  std::size_t files() const { return files_.size(); }
  /// The warning that some lines are longer than SimPoint can read; empty if none is.
  std::string too_long() const;

 private:
  struct File {
    linux::Output output;
    std::string text;
  };
  WindowVectors(std::string path, linux::Output first) : path_(std::move(path)), first_(std::move(first)) {}
  File* file_of(const result::Window& window);
  void flush(File& file);

  std::string path_;
  std::optional<linux::Output> first_;
  std::map<std::uint32_t, File> files_;  // by series
  Result<void> written_ = {};
  std::size_t too_long_ = 0;    // number of such lines
  std::string first_too_long_;  // the window of the first one
};

}  // namespace tally::windows
