// Standard input, as a program that runs several times finds it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tally/base/result.hpp"
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

/// The whole text of a file. Errors: bad_usage, for it is a file that the user named; the message ends with the
/// system's words.
Result<std::string> read_file(const std::string& path);

/// A file that is read piece by piece. Moves, never copies.
class InputFile {
 public:
  /// Errors: bad_usage, as of read_file().
  static Result<InputFile> open(const std::string& path);

  /// The next bytes, as many as there is room for at most: how many; 0 at the end. Errors: the same.
  Result<std::size_t> read(std::span<char> to);

 private:
  InputFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
};

}  // namespace tally::linux
