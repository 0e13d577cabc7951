// ForeignText: text from outside tally, and the forms in which it may be printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally {

/// Bytes from a measured program, a file, a user or another tool: arguments, thread names, symbols, paths, source
/// lines. They may contain invalid UTF-8, line breaks and terminal escape sequences. The type has no conversion to text
/// and no formatter; the caller chooses the form with one of its functions. It is a view: the bytes must outlive it.
class ForeignText {
 public:
  explicit ForeignText(std::string_view bytes) : bytes_(bytes) {}

  /// The form for terminals and for formats in which a line break ends a record. Control characters (including those of
  /// Unicode) and characters that change the direction of text become escapes such as \n, \x1b, \u202e. Invalid UTF-8
  /// bytes become U+FFFD. Backslashes stay unchanged. Applying it to its own result changes nothing.
  std::string in_line() const;

  /// The form for text of several lines: like in_line(), but line breaks and tabs stay.
  std::string in_lines() const;

  /// The form for formats that escape control characters themselves, such as JSON and protobuf: only invalid UTF-8
  /// becomes U+FFFD.
  std::string utf8() const;

  /// Whether in_line() changes nothing. Does not allocate.
  bool is_plain() const;

 private:
  std::string_view bytes_;
};

}  // namespace tally
