// Where results are written.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tally/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Takes descriptors 0 to 2 where tally was started without them, so that no file of tally's own becomes the program's
/// (or tally's) standard output. The program still finds them closed, and writing to them still fails. Call first.
void reserve_standard_descriptors();

/// Whether two paths lead to one ordinary file: what is written to one takes the place of the other's.
bool same_file(const std::string& one, const std::string& other);

/// A file, standard output or standard error that takes one text. Moves, never copies.
class Output {
 public:
  /// Opens `path` now, so that a wrong one is known before anything is measured; what it holds is kept until write().
  /// A file that was created for it and never written is removed again. Errors: cannot_write.
  static Result<Output> open_file(const std::string& path);

  /// The same, but write() adds to what the file holds; where that fails, the file is left as it was. Errors:
  /// cannot_write.
  static Result<Output> open_to_append(const std::string& path);
  static Output standard_output();
  static Output standard_error();

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  bool is_standard_error() const { return !owned_ && fd_ == 2; }

  /// Whether somebody sees it as it is written.
  bool is_terminal() const;

  /// Whether it is an ordinary file, beside which another one can lie.
  bool is_file() const;

  /// What the file holds now; empty for everything that is not an ordinary file. Errors: cannot_write, because it
  /// cannot be read: it is asked before something is added.
  Result<std::string> existing() const;

  /// Writes the text, in place of what a regular file held, and closes the file. Blocks until everything is taken.
  /// A file that somebody removed meanwhile, the measured program perhaps, is made again; not one to append to.
  /// Errors: cannot_write (the disk is full, the reader is gone): the message names the place and what was answered.
  Result<void> write(std::string_view text);

  /// Writes a piece of a text that comes in pieces: the first one in place of what a regular file held. Errors: as
  /// write().
  Result<void> add(std::string_view text);
  /// No piece comes after this. Closes the file. Errors: as write().
  Result<void> finish();

 private:
  static Result<Output> open(const std::string& path, bool append);
  Result<void> make_again();
  Result<void> write_all(std::string_view text);
  Output(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Descriptor owned_;
  int fd_ = -1;
  std::string name_;
  bool append_ = false;
  std::string path_;
  bool remove_unless_written_ = false;
  bool begun_ = false;
};

}  // namespace tally::linux
