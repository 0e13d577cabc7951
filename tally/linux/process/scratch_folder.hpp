// A temporary directory for generated programs.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A new directory that only this user can access; removed with its content. Can be moved, not copied.
class ScratchFolder {
 public:
  /// Creates it in $TMPDIR, or /tmp. Errors: cannot_measure.
  static Result<ScratchFolder> make();
  /// Creates it in another directory, after removing those that processes of this user left there when they were
  /// killed. Errors: cannot_measure.
  static Result<ScratchFolder> make_in(const std::string& directory);

  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)), lock_(std::move(other.lock_)) {
    other.path_.clear();
  }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  ScratchFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Descriptor lock_;  // while this process lives
};

/// Writes a new file into such a directory. Errors: cannot_write.
Result<void> write_scratch_file(const std::string& path, std::string_view text);

/// Creates a directory and its missing parents. Errors: cannot_write.
Result<void> make_folder(const std::string& path);

/// Writes a file that everybody may execute, replacing another one of that name. Errors: cannot_write.
Result<void> write_program(const std::string& path, std::string_view bytes);

}  // namespace tally::linux
