// A folder for programs that are executed and then forgotten.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// A new folder in $TMPDIR, or /tmp, that only this user may enter; removed with what was written into it. Moves, never
/// copies.
class ScratchFolder {
 public:
  /// Errors: cannot_measure.
  static Result<ScratchFolder> make();

  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Writes a new file into such a folder. Errors: cannot_write.
Result<void> write_scratch_file(const std::string& path, std::string_view text);

/// Makes a folder, and those that it lies in, where they are not there yet. Errors: cannot_write.
Result<void> make_folder(const std::string& path);

/// Writes a file that everybody may execute, in place of another one of that name. Errors: cannot_write.
Result<void> write_program(const std::string& path, std::string_view bytes);

}  // namespace tally::linux
