// The options of `stat` and `report` for the output file and format, and the writer of the results.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::report {

/// The options as given.
struct ResultOptions {
  std::string format;  ///< empty: chosen by the output's name, else the command's default
  std::optional<std::string> separator;
  std::string output;       ///< empty: the command's default stream
  std::string description;  ///< file for the JSON description; empty: next to the output, if the format needs one
  bool append = false;
  bool perf_json = false;  ///< -j
  output::Style style;
};

/// Adds the options to a command's page. `usual`: its default format; `stream`: its default output.
void add_result_options(command::Page& page, ResultOptions& options, const std::string& usual,
                        const std::string& stream);

/// The output of results. It is opened and checked before anything is measured.
class Destination {
 public:
  /// `format` and `stream`: the command's defaults. Errors: bad_usage for options that cannot be combined, and for a
  /// file that --append cannot extend; cannot_write.
  static Result<Destination> open(const ResultOptions& options, const std::string& format, linux::Output stream);

  const output::StatFormat& format() const { return *format_; }
  /// Whether the output is only for people.
  bool is_for_people() const { return format_->is_for_people; }

  /// Whether intervals are printed as they end: on a stream, in a format that supports it.
  bool is_live() const { return stream_ && format_->live; }

  /// Whether it is a standard stream.
  bool is_stream() const { return stream_; }

  /// Columns of the terminal that shows it; 0: none.
  std::size_t terminal() const { return style_.terminal; }

  /// Prints text on its stream, before or after the results. Errors: cannot_write.
  Result<void> print(std::string_view text) { return output_.add(text); }

  /// Prints an interval now; the output at the end omits it. Errors: cannot_write.
  Result<void> print_interval(const result::Interval& interval);

  /// Writes all results, one after the other. If that fails, reports it and prints the results to standard error as a
  /// table, unless standard error is what failed, so that no measurement is lost. Returns tally's exit code.
  int write(std::span<const result::Stat> stats);

 private:
  Destination(const output::StatFormat& format, output::Style style, linux::Output output)
      : format_(&format), style_(std::move(style)), output_(std::move(output)) {}

  Result<void> continue_file();
  Result<std::string> whole_text(std::span<const result::Stat> stats);
  Result<std::string> text(std::span<const result::Stat> stats) const;
  Result<void> open_description(const ResultOptions& options);
  Result<void> write_description(std::span<const result::Stat> stats);

  const output::StatFormat* format_;
  output::Style style_;
  linux::Output output_;
  std::string appends_to_;  // the file that --append extends
  bool stream_ = false;     // the output is standard output or error
  std::optional<linux::Output> description_;
  bool description_in_lines_ = false;
  std::string before_;  // a line break before the text, if the file does not end with one
};

}  // namespace tally::report
