// What assemblers need: a folder for their files, and a program started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::lab {

/// A folder that is gone with its owner.
struct Folder {
  std::filesystem::path path;
  Folder() = default;
  explicit Folder(std::filesystem::path where) : path(std::move(where)) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
};

/// A new folder among the temporary files. Errors: cannot_measure.
Result<std::filesystem::path> new_folder();

std::string read_file(const std::filesystem::path& path);

/// What a program printed, on both streams, and how it ended.
struct Said {
  std::string text;
  int status = 0;            ///< its exit code; -1: it did not start
  bool is_missing = false;   ///< there is no program of that name
  bool was_stopped = false;  ///< by a signal that asks tally to end
};
/// Runs it, found through PATH, until its end or until a signal is noted (linux::noted_signal()).
Said output_of(const std::vector<std::string>& command);

}  // namespace tally::lab
