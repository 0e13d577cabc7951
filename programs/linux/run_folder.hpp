// A directory in /run with a note of changes that tally made to the machine, for as long as they last.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Such a directory, locked. Only its owner changes the machine; child processes do not inherit the lock. It has one
/// note, which everybody may read. Can be moved, not copied.
class RunFolder {
 public:
  /// Makes the directory if needed, and waits until nobody else has locked it. Errors: cannot_measure, with the errno:
  /// EACCES unless root.
  static Result<RunFolder> enter(const std::string& path);

  RunFolder(RunFolder&&) = default;
  RunFolder& operator=(RunFolder&&) = delete;
  /// Removes the directory if it contains no note.
  ~RunFolder();

 private:
  RunFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Descriptor lock_;
};

/// Returns the note; empty if there is none.
std::string run_note(const std::string& folder);

/// Writes the note in one step: readers see the old one or the new one. Errors: cannot_measure.
Result<void> write_run_note(const std::string& folder, const std::string& text);

/// Removes the note.
void remove_run_note(const std::string& folder);

}  // namespace tally::linux
