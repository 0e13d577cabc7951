// Reads files that the user named, and rewinds standard input for programs that run several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// The position of standard input at the time of look().
class Input {
 public:
  /// Reads the position of standard input, which may be closed.
  static Input read_position();

  /// Moves a file back to that position, so that the next run reads the same. Does nothing if it is no file.
  void rewind() const;

  /// "a pipe" or "a socket" if each run continues to read after the previous one, which tally cannot change; empty for
  /// files, terminals and devices, and if it is closed.
  const std::string& stream() const { return stream_; }

 private:
  std::optional<long> place_;
  std::string stream_;
};

/// Larger than any file that tally reads as a whole.
inline constexpr std::uint64_t most_input_bytes = std::uint64_t{4} << 30;

/// Reads a whole file that the user named: a regular file, a pipe or a terminal. Fails if a signal asks tally to end
/// (is_interrupted()), or if it has more than `most_bytes`. Errors: bad_usage; the message ends with the system's
/// words.
Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes = most_input_bytes);

/// The same for a file that the user did not name, such as one next to a named file: only a regular file, opened
/// without waiting. Errors: those of read_file().
Result<std::string> read_regular_file(const std::string& path, std::uint64_t most_bytes = most_input_bytes);

/// A file of others, read in parts. Can be moved, not copied.
class InputFile {
 public:
  /// Refuses anything but a regular file, a pipe or a terminal: a device may have no end. Errors: bad_usage, as for
  /// read_file().
  static Result<InputFile> open(const std::string& path);
  /// Refuses anything but a regular file. Errors: the same.
  static Result<InputFile> open_regular(const std::string& path);

  /// Reads the next bytes, at most as many as `to` has room for. Returns how many; 0 at the end. Errors: the same.
  Result<std::size_t> read(std::span<char> to);

  /// Returns the size in bytes of a regular file; else 0.
  std::uint64_t size() const;

 private:
  InputFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
};

}  // namespace tally::linux
