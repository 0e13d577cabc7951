// Where results go and in which format: the options for it, which `stat` and `export` share, and what is done with
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/output/formats/stat_format.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::cli {

class Page;

/// What the user said about it.
struct ResultOptions {
  std::string format;  ///< empty: by the name of the output, else the command's own
  std::optional<std::string> separator;
  std::string output;  ///< empty: the command's own stream
  std::string
      description;  ///< file of the JSON object that stands beside; empty: beside the output, where it needs one
  bool append = false;
  report::Style style;
};

/// Adds the options to a command's page. `usual` is its format, `stream` where results go without -o.
void add_result_options(Page& page, ResultOptions& options, const std::string& usual, const std::string& stream);

/// Where results will be written: everything is open and has been checked before anything is measured.
class Destination {
 public:
  /// `format` and `stream` are what the command takes where the user says nothing. Errors: bad_usage for options that
  /// do not go together, and a file that --append does not fit; cannot_write.
  static Result<Destination> open(const ResultOptions& options, const std::string& format, linux::Output stream);

  const report::StatFormat& format() const { return *format_; }
  /// Whether what is written is for people alone.
  bool is_for_people() const { return format_->name == "table"; }

  /// Whether intervals are told while they go on: on a stream, in a form that has a way to.
  bool is_live() const { return stream_ && format_->live; }

  /// Tells one interval now; what is written at the end leaves it out. False where nobody takes it.
  bool tell(const result::Interval& interval);

  /// Writes all results, one after the other. Where that fails it is told, and the results are shown on standard error
  /// as a table, unless that is what failed: what was measured is not lost. Returns tally's exit code.
  int write(const std::vector<result::Stat>& stats);

 private:
  Destination(const report::StatFormat& format, report::Style style, linux::Output output)
      : format_(&format), style_(std::move(style)), output_(std::move(output)) {}

  Result<void> go_on();
  Result<std::string> whole_text(const std::vector<result::Stat>& stats);
  Result<std::string> text(const std::vector<result::Stat>& stats) const;
  Result<void> open_description(const ResultOptions& options);
  Result<void> write_description(const std::vector<result::Stat>& stats);

  const report::StatFormat* format_;
  report::Style style_;
  linux::Output output_;
  std::string appends_to_;  // the file of --append
  bool stream_ = false;     // standard output or error, as it stands
  std::optional<linux::Output> description_;
  bool description_in_lines_ = false;
  std::string before_;  // what stands before the text, so that it begins a line
};

}  // namespace tally::cli
