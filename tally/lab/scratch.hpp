// What assemblers need: a folder for their files, and a program started.
#pragma once

#include <filesystem>
#include <string>

#include "tally/base/result.hpp"

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

/// What a shell command printed, on both streams, and how it ended.
struct Said {
  std::string text;
  int status = 0;  ///< as wait() gives it; -1: it did not start
  bool is_missing() const;
};
Said output_of(const std::string& command);

/// A path as a word of the shell.
std::string shell_path(const std::filesystem::path& path);

}  // namespace tally::lab
