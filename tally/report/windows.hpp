// Windows in, text out, row by row: the forms that `tally sample` writes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tally/base/result.hpp"
#include "tally/result/windows.hpp"

namespace tally::report {

/// Writes the windows of one measurement. Everything is added to the end of a text, which the caller takes away as it
/// likes.
class WindowWriter {
 public:
  virtual ~WindowWriter() = default;
  virtual void begin(const result::WindowsHead& head, std::string& to) = 0;
  virtual void row(const result::Window& window, std::string& to) = 0;
  virtual void end(std::string& /*to*/) {}
};

/// A form of writing windows.
struct WindowFormat {
  std::string_view name;  ///< what `--format` calls it
  std::string_view what;  ///< for the help
  std::unique_ptr<WindowWriter> (*make)() = nullptr;
  /// Whether these events (full names, in the order asked) have a place in it. Null where any will do. Errors:
  /// bad_usage with what is missing.
  Result<void> (*fits)(const std::vector<std::string>& events) = nullptr;
  /// What its rows do not say, as a JSON object in one line: it stands in a file beside them. Null where they say all.
  std::string (*describe)(const result::WindowsHead& head) = nullptr;
  std::string_view suffix = {};  ///< the end of a file's name by which it is known; empty: none
  bool tells_places = false;     ///< it has room for the function and the line of an address
};

/// All forms, the default first.
std::span<const WindowFormat> window_formats();

/// What was measured, as a JSON object in one line: the first line of JSON Lines, and what stands beside rows that have
/// no place for it.
std::string windows_description(const result::WindowsHead& head);

/// The form of this name, or, where that is empty, the one that the output's name asks for, else `usual`. Null for an
/// unknown name.
const WindowFormat* window_format(std::string_view name, std::string_view output, std::string_view usual);

/// The trust of a row: the least of what its counts have.
Trust trust_of(const result::WindowsHead& head);

}  // namespace tally::report
