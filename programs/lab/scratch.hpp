// Helpers for assemblers: a temporary directory, and running a program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::lab {

/// A directory that is removed with its owner.
struct Folder {
  std::filesystem::path path;
  Folder() = default;
  explicit Folder(std::filesystem::path where) : path(std::move(where)) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
};

/// Creates a directory in the temporary directory. Errors: cannot_measure.
Result<std::filesystem::path> new_folder();

std::string read_file(const std::filesystem::path& path);

/// The output of a program on both streams, and its exit status.
struct ToolOutput {
  std::string text;
  int status = 0;            ///< exit code; -1: it did not start
  bool is_missing = false;   ///< no program with that name was found
  bool was_stopped = false;  ///< by a signal that asks tally to end
};
/// Runs a program, found through PATH, until its end or until a signal is noted (linux::noted_signal()).
ToolOutput output_of(const std::vector<std::string>& command);

}  // namespace tally::lab
