// The folder of tally's own state, and the files in it: opened only where nobody else could have put them there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A folder that belongs to this user and that, with every folder above it, nobody else but root can change. Links are
/// followed only where this user or root made them, and never as the last name. Moves, never copies.
class StateFolder {
 public:
  /// Opens the folder, a path from the root on, as open_trusted_folder() does. Errors: cannot_measure, with the reason
  /// why it is not trusted.
  static Result<StateFolder> open(const std::string& path, bool make);

  /// The descriptor of the folder, to be used with openat.
  int fd() const { return folder_.get(); }

  /// The whole text of a regular file of this user's in the folder, of at most so many bytes. Never blocks. Nothing
  /// where there is none that can be trusted.
  std::optional<std::string> read(const std::string& name, std::uint64_t most_bytes) const;

  /// Writes the file as a whole, in place of another one of that name. Errors: cannot_write.
  Result<void> write(const std::string& name, std::string_view text) const;

 private:
  explicit StateFolder(Descriptor folder) : folder_(std::move(folder)) {}
  Descriptor folder_;
};

}  // namespace tally::linux
