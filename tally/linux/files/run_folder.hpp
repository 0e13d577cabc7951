// A folder of /run, in which what was changed on the machine is written down for as long as it is changed.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Such a folder, with one file in it that everybody may read. Who has it is the only one that changes anything; a
/// process that is made meanwhile does not have it. Moves, never copies.
class RunFolder {
 public:
  /// Makes the folder if need be, and waits until nobody else has it. Errors: cannot_measure, with the errno: EACCES to
  /// everybody but root.
  static Result<RunFolder> enter(const std::string& path);

  RunFolder(RunFolder&&) = default;
  RunFolder& operator=(RunFolder&&) = delete;
  /// Removes the folder, where nothing is written down in it any more.
  ~RunFolder();

 private:
  RunFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Descriptor lock_;
};

/// The file of such a folder: what it holds; empty where there is none.
std::string run_note(const std::string& folder);

/// Writes it as a whole: who reads it at the same time sees it as it was, or as it is. Errors: cannot_measure.
Result<void> write_run_note(const std::string& folder, const std::string& text);

/// Removes it.
void remove_run_note(const std::string& folder);

}  // namespace tally::linux
