// Text that tally did not write itself, and the forms in which it may be printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally {

/// Bytes of a measured program, a file, a user or another tool: arguments, names of threads, symbols, paths, lines of
/// source. They may be anything: no UTF-8, line breaks, sequences that steer a terminal. The type has no conversion to
/// text and no formatter: one of its functions chooses the form. It keeps a view; the bytes must outlive it.
class ForeignText {
 public:
  explicit ForeignText(std::string_view bytes) : bytes_(bytes) {}

  /// For terminals and for formats in which a line break ends a record. Control characters, those of Unicode too, and
  /// those that change the direction of text become escapes such as \n, \x1b, \u202e; bytes that are no UTF-8 become
  /// U+FFFD. Backslashes stay as they are. What `in_line()` returned it returns again.
  std::string in_line() const;

  /// For text of several lines: as in_line(), but line breaks and tabs stay.
  std::string in_lines() const;

  /// For formats that write control characters in their own way, such as JSON and protobuf: only what is no UTF-8
  /// becomes U+FFFD.
  std::string utf8() const;

  /// Whether in_line() changes nothing. Does not allocate.
  bool is_plain() const;

 private:
  std::string_view bytes_;
};

}  // namespace tally
