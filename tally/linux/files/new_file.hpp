// A file that takes the place of another one only when it is complete.
#pragma once

#include <sys/types.h>

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A file without a name in a folder, until publish() gives it one. Moves, never copies.
class NewFile {
 public:
  NewFile() = default;
  /// Makes the file in `folder` (a descriptor that is duplicated; it may be opened with O_PATH); `name` is what it will
  /// be called there. `mode` is narrowed by the umask. Where the file system knows no files without a name, it has one
  /// that ends with ".part" until then. Errors: cannot_write, with the errno.
  static Result<NewFile> make(int folder, const std::string& name, mode_t mode);

  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  /// Removes what was not published.
  ~NewFile();

  /// The descriptor to write to.
  int fd() const { return file_.get(); }
  bool is_published() const { return published_; }

  /// Puts the content on the disk and gives the file its name, in place of another file of that name; who reads that
  /// name sees the old file or the new one. The descriptor stays open. Errors: cannot_write, with the errno.
  Result<void> publish();

 private:
  NewFile(Descriptor folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}
  Result<void> give_passing_name();

  Descriptor folder_, file_;
  std::string name_;
  std::string passing_;  // its name until it is published; empty: it has none
  bool published_ = false;
};

/// Puts what was written to a descriptor on the disk; what has no disk has nothing to do. False: it was not taken, see
/// errno.
bool put_on_disk(int fd);

}  // namespace tally::linux
