// Windows in, text out, row by row: the formats that `tally sample` writes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/format.hpp"
#include "tally/output/result/windows.hpp"

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

/// A format of windows.
struct WindowFormat : Format {
  /// `terminal`: columns of the terminal that shows the rows; 0: none does.
  std::unique_ptr<WindowWriter> (*make)(std::size_t terminal) = nullptr;
  /// Whether these events (in the order asked) have a place in it. Null where any will do. Errors:
  /// bad_usage with what is missing.
  Result<void> (*fits)(const std::vector<EventName>& events) = nullptr;
  /// What its rows do not say, as a JSON object in one line: it stands in a file beside them. Null where they say all.
  std::string (*describe)(const result::WindowsHead& head) = nullptr;
  bool has_locations = false;  ///< it has room for the function and the line of an address
};

/// All forms, the default first.
std::span<const WindowFormat> window_formats();

/// One aligned line a window: the program's name is its process, and a trigger is named where there are several. Where
/// `terminal` has fewer columns than a line, columns are narrower, and the last ones are in further lines.
std::unique_ptr<WindowWriter> make_window_table(std::size_t terminal = 0);
/// RFC 4180: a header, and a row for each window.
std::unique_ptr<WindowWriter> make_window_csv();
/// One object a line; the first one is the head.
std::unique_ptr<WindowWriter> make_window_lines();
/// The seven columns of HPCTool's sampling mode.
std::unique_ptr<WindowWriter> make_window_hpctool();
/// The compact file, which `tally export` reads.
std::unique_ptr<WindowWriter> make_window_binary();

/// windows_description(), and which event is in which column of HPCTool.
std::string hpctool_windows_description(const result::WindowsHead& head);

/// What was measured, as a JSON object in one line: the first line of JSON Lines, and what stands beside rows that have
/// no place for it.
std::string windows_description(const result::WindowsHead& head);

/// The trust of a row: the least of what its counts have.
Trust trust_of(const result::WindowsHead& head);

}  // namespace tally::report
