// Where results are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/files/new_file.hpp"

namespace tally::linux {

/// Takes descriptors 0 to 2 where tally was started without them, so that no file of tally's own becomes the program's
/// (or tally's) standard output. The program still finds them closed, and writing to them still fails. Call first.
void reserve_standard_descriptors();

/// Whether two paths lead to one ordinary file, or will where there is none yet: what is written to one takes the place
/// of the other's.
bool same_file(const std::string& one, const std::string& other);

/// A file, standard output or standard error that takes one text. An ordinary file is replaced in one step when the
/// text is complete and on the disk: until then, and where that fails, it is what it was. Where it cannot be replaced
/// (its folder is not to be written, it has other names, it is a standard stream of this process) its space is reserved
/// before it is overwritten. Moves, never copies.
class Output {
 public:
  /// Opens `path` now, so that a wrong one is known before anything is measured. Errors: cannot_write.
  static Result<Output> open_file(const std::string& path);

  /// The same, but write() adds to what the file holds; where that fails, the file is left as it was. A file that was
  /// created for it and never written is removed again. Errors: cannot_write.
  static Result<Output> open_to_append(const std::string& path);
  static Output standard_output();
  static Output standard_error();

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  bool is_standard_error() const { return !owned_ && !new_file_ && fd_ == 2; }

  /// Whether somebody sees it as it is written.
  bool is_terminal() const;

  /// Whether it is an ordinary file, beside which another one can lie.
  bool is_file() const;

  /// Waits until no other process adds to the file, and keeps others waiting until it is closed. Does nothing for what
  /// is not an ordinary file. Errors: cannot_write, where a signal asks tally to end meanwhile.
  Result<void> lock() const;

  /// What the file to append to holds now; empty for everything that is not an ordinary file. Errors: cannot_write,
  /// because it cannot be read: it is asked before something is added.
  Result<std::string> existing() const;

  /// Leaves this many bytes of the file to append to. Errors: cannot_write.
  Result<void> cut(std::size_t bytes);

  /// Writes the text, in place of what a regular file held, and closes the file. Blocks until everything is taken.
  /// Errors: cannot_write (the disk is full, the reader is gone): the message names the place and what was answered.
  Result<void> write(std::string_view text);

  /// Writes a part of a text that comes in parts. Where it takes the place of an earlier one nobody sees it before
  /// finish() or publish(); else every part is seen as it is added. Errors: as write().
  Result<void> add(std::string_view text);
  /// Shows what was added so far in place of what a regular file held, and from now on every part as it is added.
  /// Errors: as write().
  Result<void> publish();
  /// No part comes after this. Shows the text and closes the file. Errors: as write().
  Result<void> finish();

 private:
  static Result<Output> open(const std::string& path, bool append);
  static Result<Output> open_in_place(const std::string& path, bool append);
  Result<void> make_again(std::string_view text);
  Result<void> show();
  Result<void> overwrite(std::string_view text);
  Result<void> write_all(std::string_view text);
  Result<void> close();
  tl::unexpected<Error> failure() const;
  Output(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Descriptor owned_;
  std::optional<NewFile> new_file_;  // what takes the place of a regular file
  int fd_ = -1;
  std::string name_;
  bool append_ = false;
  std::string path_;
  bool remove_unless_written_ = false;
  bool is_first_ = false;  // there is no earlier text that could be lost
  bool begun_ = false;
};

}  // namespace tally::linux
