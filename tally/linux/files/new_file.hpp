// A file that replaces another one only when it is complete.
#pragma once

#include <sys/types.h>

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A file in a directory, without a name until publish(). Can be moved, not copied.
class NewFile {
 public:
  NewFile() = default;
  /// Makes the file in `folder` (a descriptor, which is duplicated; O_PATH is enough). `name` is its later name, `mode`
  /// is restricted by the umask. If the file system cannot make unnamed files, it has a name that ends with ".part"
  /// until then. Errors: cannot_write, with the errno.
  static Result<NewFile> make(int folder, const std::string& name, mode_t mode);

  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  /// Removes the file if it was not published.
  ~NewFile();

  /// The descriptor to write to.
  int fd() const { return file_.get(); }
  bool is_published() const { return published_; }

  /// Syncs the file to disk and gives it its name, replacing another file of that name; readers of the name see either
  /// the old file or the new one. The descriptor stays open. Errors: cannot_write, with the errno.
  Result<void> publish();

 private:
  NewFile(Descriptor folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}
  Result<void> give_passing_name();

  Descriptor folder_, file_;
  std::string name_;
  std::string passing_;  // temporary name until it is published; empty: no name
  bool published_ = false;
};

/// Syncs what was written to a descriptor, if it has a disk. Returns false on failure: see errno.
bool put_on_disk(int fd);

}  // namespace tally::linux
