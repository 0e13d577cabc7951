// Writes results to a file or a standard stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/files/new_file.hpp"

namespace tally::linux {

/// Opens descriptors 0 to 2 if tally was started without them, so that no file of tally becomes standard output of the
/// program (or of tally). The program still finds them closed, and writing to them still fails. Call this first.
void reserve_standard_descriptors();

/// Whether two paths lead to one regular file, or will once it exists: writing to one replaces the content of the
/// other.
bool same_file(const std::string& one, const std::string& other);

/// A file, standard output or standard error that takes one text. A regular file is replaced in one step when the text
/// is complete and on disk; until then, and on failure, it keeps its content. If it cannot be replaced (its directory
/// is not writable, it has other names, it is a standard stream of this process), its space is reserved before it is
/// overwritten. Can be moved, not copied.
class Output {
 public:
  /// Opens `path` now, so that an invalid one is reported before anything is measured. Errors: cannot_write.
  static Result<Output> open_file(const std::string& path);

  /// The same, but write() appends; on failure the file keeps its content. A file that this call created is removed if
  /// nothing is written. Errors: cannot_write.
  static Result<Output> open_to_append(const std::string& path);
  /// The same two for a name that the user did not give: never writes to the target of a link. Errors: cannot_write.
  static Result<Output> open_derived(const std::string& path, bool append = false);
  /// Standard output for `-`, standard error for an empty path, else open_file(). Errors: cannot_write.
  static Result<Output> open_file_or_stream(const std::string& path);
  static Output standard_output();
  static Output standard_error();

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  bool is_standard_error() const { return !owned_ && !new_file_ && fd_ == 2; }

  /// Whether it is a terminal, where a user sees text as it is written.
  bool is_terminal() const;

  /// Whether it is a regular file, which can have another one next to it.
  bool is_file() const;

  /// Locks the file until it is closed; waits while another process has it locked. Does nothing unless it is a regular
  /// file. Errors: cannot_write, if a signal asks tally to end meanwhile.
  Result<void> lock() const;

  /// Reads the current content of the file to append to; empty unless it is a regular file. Call it before anything is
  /// added. Errors: cannot_write, if it cannot be read.
  Result<std::string> existing() const;

  /// Truncates the file to append to. Errors: cannot_write.
  Result<void> cut(std::size_t bytes);

  /// Writes the text, replacing the content of a regular file, and closes it. Blocks until all of it is written.
  /// Errors: cannot_write (the disk is full, the reader has closed its end); the message names the file and the
  /// system's error.
  Result<void> write(std::string_view text);

  /// Writes part of a text. If the text replaces an earlier one, nobody sees it before finish() or publish(); otherwise
  /// each part is visible at once. Errors: those of write().
  Result<void> add(std::string_view text);
  /// Replaces the content of a regular file by what was added so far; from now on each part is visible at once. Errors:
  /// those of write().
  Result<void> publish();
  /// Ends the text: publishes it and closes the file. Errors: those of write().
  Result<void> finish();

 private:
  static Result<Output> open(const std::string& path, bool append, bool derived = false);
  static Result<Output> open_in_place(const std::string& path, bool append, bool derived);
  Result<void> make_again(std::string_view text);
  Result<void> show();
  Result<void> overwrite(std::string_view text);
  Result<void> write_all(std::string_view text);
  Result<void> close();
  tl::unexpected<Error> failure() const;
  Output(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Descriptor owned_;
  std::optional<NewFile> new_file_;  // the replacement of a regular file
  int fd_ = -1;
  std::string name_;
  bool append_ = false;
  std::string path_;
  bool remove_unless_written_ = false;
  bool is_first_ = false;  // there is no earlier text to lose
  bool begun_ = false;
};

}  // namespace tally::linux
