// The directory of tally's own state, and its files: opened only if nobody else can have put them there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A directory that belongs to this user and that, with every directory above it, only this user and root can change.
/// Links are followed only if this user or root made them, and never as the last name. Can be moved, not copied.
class StateFolder {
 public:
  /// Opens the directory with open_trusted_folder(); `path` is absolute. Errors: cannot_measure, with the reason.
  static Result<StateFolder> open(const std::string& path, bool make);

  /// Returns the descriptor of the directory, for openat.
  int fd() const { return folder_.get(); }

  /// Reads a whole regular file of this user in the directory, of at most `most_bytes`. Never blocks. Nothing if there
  /// is none that can be trusted.
  std::optional<std::string> read(const std::string& name, std::uint64_t most_bytes) const;

  /// Writes the file in one step, replacing another one of that name. Errors: cannot_write.
  Result<void> write(const std::string& name, std::string_view text) const;

 private:
  explicit StateFolder(Descriptor folder) : folder_(std::move(folder)) {}
  Descriptor folder_;
};

}  // namespace tally::linux
