// Formats of windows, which `tally sample` writes row by row.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::output {

/// Writes the windows of one measurement. Appends everything to a text, which the caller may take away at any time.
class WindowWriter {
 public:
  virtual ~WindowWriter() = default;
  virtual void begin(const result::WindowsHead& head, std::string& to) = 0;
  virtual void row(const result::Window& window, std::string& to) = 0;
  /// `head`: as at the end, when it is known what was not counted.
  virtual void end(const result::WindowsHead& /*head*/, std::string& /*to*/) {}
  /// The measurement as a JSON object in one line, with what the rows so far lack. `head`: as at the end.
  virtual std::string describe(const result::WindowsHead& head) const;
};

/// A format of windows.
struct WindowFormat : Format {
  /// `terminal`: columns of the terminal; 0: no terminal.
  std::unique_ptr<WindowWriter> (*make)(std::size_t terminal) = nullptr;
  /// Checks whether the format can represent these events (in requested order). Null if it supports any. Errors:
  /// bad_usage with what is missing.
  Result<void> (*fits)(const std::vector<EventName>& events) = nullptr;
  bool needs_description = false;  ///< rows lack information: WindowWriter::describe() is for a file next to them
  bool has_locations = false;      ///< it supports the function and line of an address
};

/// All formats, the default first.
std::span<const WindowFormat> window_formats();

/// One aligned line per window: the program's name identifies the process, and triggers are named if there are several.
/// If `terminal` has fewer columns than a line, columns are narrower, and the last ones are in further lines.
std::unique_ptr<WindowWriter> make_window_table(std::size_t terminal = 0);
/// A bar for each window and event, then the largest count and the sum of each event, for each thread. Written at the
/// end. Events that do not fit in the terminal are left out, with a line that names them.
std::unique_ptr<WindowWriter> make_window_chart(std::size_t terminal = 0);
/// RFC 4180: a header, and one row per window.
std::unique_ptr<WindowWriter> make_window_csv();
/// The same, compressed by gzip.
std::unique_ptr<WindowWriter> make_window_csv_gz();
/// One object per line: the head, without the trust of events that have rows; the windows; the whole head.
std::unique_ptr<WindowWriter> make_window_lines();
/// The seven columns of HPCTool's sampling mode.
std::unique_ptr<WindowWriter> make_window_hpctool();

/// The measurement as a JSON object in one line: the last line of JSON Lines, and the description of rows that cannot
/// contain it.
std::string windows_description(const result::WindowsHead& head);

/// The trust of a row that is not partial: the lowest of its counts; absent if it has none.
Trust trust_of(const result::WindowsHead& head);

}  // namespace tally::output
