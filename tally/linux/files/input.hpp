// Files of others that the user named, and standard input, as a program that runs several times finds it.
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

/// Where standard input stood when it was looked at.
class Input {
 public:
  /// Looks at standard input. It may be closed.
  static Input look();

  /// Takes a file back to where it stood, so that the next run reads the same. Does nothing for everything else.
  void rewind() const;

  /// "a pipe" or "a socket" where each run reads on after the one before it, and nothing can be done about that; empty
  /// for files, terminals, devices, and where it is closed.
  const std::string& stream() const { return stream_; }

 private:
  std::optional<long> place_;
  std::string stream_;
};

/// More than any file that tally reads as a whole.
inline constexpr std::uint64_t most_input_bytes = std::uint64_t{4} << 30;

/// The whole text of a file of others: a regular file, a pipe, or a terminal. Ends with an error where a signal asks
/// tally to end (is_interrupted()), and where there are more than `most_bytes`. Errors: bad_usage, for it is a file
/// that the user named; the message ends with the system's words.
Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes = most_input_bytes);

/// The same of a file that nobody named, such as one beside a file that the user named: a regular file and nothing
/// else, which is opened without waiting. Errors: as read_file().
Result<std::string> read_regular_file(const std::string& path, std::uint64_t most_bytes = most_input_bytes);

/// A file of others that is read in parts. Moves, never copies.
class InputFile {
 public:
  /// Refuses what is no regular file, no pipe and no terminal: a device may have no end. Errors: bad_usage, as of
  /// read_file().
  static Result<InputFile> open(const std::string& path);
  /// Refuses everything but regular files. Errors: the same.
  static Result<InputFile> open_regular(const std::string& path);

  /// The next bytes, as many as there is room for at most: how many; 0 at the end. Errors: the same.
  Result<std::size_t> read(std::span<char> to);

  /// Its bytes, where it is a regular file that has a size; else 0.
  std::uint64_t size() const;

 private:
  InputFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
};

}  // namespace tally::linux
