// CSV of results of `tally stat`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/intervals.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/process_end.hpp"

namespace tally::output {
namespace {

// The contract: docs/reference/stat-csv.md. Changing it requires a new version there.
const std::vector<std::string> stat_header{"run",           "interval_ns", "pid",    "tid",     "cpu",
                                           "region",        "event",       "value",  "trust",   "running_percent",
                                           "error_percent", "model",       "reason", "command", "parent",
                                           "end",           "least",       "most"};

// Writes the rows of one result.
class StatRows {
 public:
  StatRows(const result::Stat& stat, const Style& style)
      : stat_(stat), style_(style), whole_(command_text(stat).empty() ? style.command : command_text(stat)) {}

  std::string text() {
    if (style_.header) add(stat_header);
    for (std::size_t i = 0; i < stat_.runs.size(); ++i) {
      run_ = style_.first_run + static_cast<int>(i);
      complete_ = stat_.runs[i].complete;
      if (style_.intervals) {
        for (const result::Interval& interval : stat_.runs[i].intervals) add_interval(interval);
      }
      add_counts("", "", stat_.runs[i].counts);
      for (const result::Part& part : stat_.runs[i].parts) {
        cpu_ = part.cpus;
        add_counts("", "", part.counts);
        cpu_.clear();
      }
      add_metrics(i);
      for (const result::Process& process : stat_.runs[i].processes) add_process(process);
      for (const result::ProgramRegions& program : stat_.runs[i].regions) {
        for (const auto& row : region_rows(program, run_)) add(row);
      }
    }
    return std::move(text_);
  }

  std::string text_of_interval(const result::Interval& interval) {
    if (style_.header) add(stat_header);
    run_ = style_.first_run + interval.run - 1;
    add_interval(interval);
    return std::move(text_);
  }

 private:
  // Missing cells at the end are empty.
  void add(std::vector<std::string> cells) {
    cells.resize(stat_header.size());
    text_ += csv_row(cells, style_.separator) + "\r\n";
  }

  void add_counts(const std::string& pid, const std::string& tid, const std::vector<result::EventCount>& counts) {
    for (const result::EventCount& event_count : counts) {
      const Count count = complete_ ? event_count.count
                                    : downgraded(event_count.count, Trust::partial, std::string(result::interrupted));
      add({std::to_string(run_), interval_, pid, tid, cpu_, "", event_count.name.text(), csv_text(count.value),
           std::string(name(count.trust)), csv_text(running_percent(count)), csv_text(count.error_percent), count.model,
           count.reason, command_, parent_, end_});
    }
  }

  void add_interval(const result::Interval& interval) {
    interval_ = std::to_string(interval.end.count());
    add_counts("", "", interval.counts);
    interval_.clear();
  }

  // Only metrics requested by name: otherwise a column of integers would contain ratios that nobody requested.
  void add_metrics(std::size_t run) {
    for (const result::Metric& metric : stat_.metrics) {
      if (!metric.asked) continue;
      Ratio ratio = metric.ratio;
      if (metric.summary) ratio.value = metric.runs[run];
      if (!ratio.value) ratio.trust = Trust::absent;
      add({std::to_string(run_), "", "", "", "", "", metric.name, csv_text(ratio.value), std::string(name(ratio.trust)),
           "", "", ratio.model, ratio.reason, whole_});
    }
  }

  void add_process(const result::Process& process) {
    const std::string pid = std::to_string(process.pid);
    command_ = process.command;
    if (!has_only_threads(process)) {
      parent_ = std::to_string(process.parent_pid);
      end_ = end_text(process);
    }
    if (style_.per_process) add_counts(pid, "", process.counts);
    if (style_.per_thread) {
      for (const result::Thread& thread : process.threads) add_counts(pid, std::to_string(thread.tid), thread.counts);
    }
    command_ = whole_;
    parent_.clear();
    end_.clear();
  }

  const result::Stat& stat_;
  const Style& style_;
  int run_ = 1;
  bool complete_ = true;
  std::string interval_;          // its end in nanoseconds, in rows of an interval
  std::string cpu_;               // processors, in rows of a part of the machine
  std::string whole_;             // the measured command
  std::string command_ = whole_;  // in rows of a process and its threads: its program
  std::string parent_, end_;      // in rows of a process and its threads
  std::string text_;
};

}  // namespace

std::string command_text(const result::Stat& stat) {
  return stat.command.empty() ? stat.target : shell_words(stat.command);
}

const std::vector<std::string>& stat_columns() { return stat_header; }

std::string interval_csv(const result::Interval& interval, const Style& style) {
  static const result::Stat none;
  return StatRows(none, style).text_of_interval(interval);
}

Result<std::string> csv(const result::Stat& stat, const Style& style) { return StatRows(stat, style).text(); }

Result<Style> append_csv(std::string_view existing, Style style) {
  std::string_view rest = existing;
  const std::string expected = csv_row(stat_header, style.separator);
  if (!rest.starts_with(expected + "\r\n") && !rest.starts_with(expected + "\n")) {
    const std::string found(rest.substr(0, rest.find_first_of("\r\n")));
    return fail(Code::bad_usage,
                fmt::format("cannot append: the file has a different header, '{}'", printable(found.substr(0, 200))),
                fmt::format("this version writes '{}'; use another file", expected));
  }
  std::int64_t last = 0;
  const char separator = style.separator.front();
  for (auto row = take_csv_row(rest, separator); row; row = take_csv_row(rest, separator)) {
    if (const auto run = parse_integer(row->front())) last = std::max(last, *run);
  }
  if (last >= std::numeric_limits<int>::max())
    return fail(Code::bad_usage, fmt::format("cannot append: run number {} in the file is too large", last));
  style.header = false;
  style.first_run = static_cast<int>(last) + 1;
  return style;
}

}  // namespace tally::output
