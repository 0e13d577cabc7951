// The output of `perf stat -j`: one JSON object per line for each event (perf-stat(1), "JSON FORMAT").
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/median.hpp"
#include "tally/output/data/other_tools.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::output {
namespace {

using result::Json;

constexpr const char* perf_repeats =
    "several runs on each side: `perf stat -j --append -o FILE` ten times (-r stores their mean only)";

/// A count, or the time of a clock in milliseconds.
std::optional<Value> count_of(const Json& line, bool is_time) {
  const std::string text = result::text(line, "counter-value");
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return std::round(static_cast<Value>(number) * (is_time ? 1e6L : 1));
}

/// What is counted in addition to the event: a core, a CPU, a thread, a control group.
std::string subject_of(const Json& line) {
  std::vector<std::string> words;
  for (const char* const key : {"socket", "die", "cluster", "cache", "core", "node", "cpu", "thread", "cgroup"})
    if (const auto found = line.find(key); found != line.end() && found->is_string())
      words.push_back(found->get<std::string>());
  return join(words, " ");
}

class PerfLines {
 public:
  /// Throws Json::exception. Returns what cannot be compared; empty if all can.
  std::string add(const Json& line) {
    if (!line.contains("event") || !line.contains("counter-value")) return "";  // a metric alone
    if (line.contains("interval")) return "counts of intervals (-I) are no counts of a program";
    const std::string unit = result::text(line, "unit");
    const bool is_time = unit == "msec" || unit == "ns";
    const std::string name = line.at("event").get<std::string>();
    const auto [entry, is_new] = series_.try_emplace({subject_of(line), name}, Series{comparable_.measures.size()});
    if (is_new) {
      comparable_.measures.push_back({.subject = subject_of(line), .name = name, .trust = Trust::counted});
      comparable_.measures.back().how_to_repeat = perf_repeats;
      if (is_time) comparable_.measures.back().unit = Unit::nanoseconds;
    }
    Series& series = entry->second;
    Measure& measure = comparable_.measures[series.place];
    ++series.lines;
    if (const auto value = count_of(line, unit == "msec")) {
      measure.runs.push_back(*value);
    } else {
      ++series.missing;
      const std::string text = result::text(line, "counter-value");
      measure.reason = text.starts_with('<') ? "perf wrote " + text : not_a_number(text);
    }
    if (const auto share = line.find("pcnt-running"); share != line.end() && share->is_number() && *share < 100)
      measure.trust = worst(measure.trust, Trust::scaled);
    // Files of `tally stat -j` have the trust.
    if (const auto trust = line.find("trust"); trust != line.end()) {
      measure.trust = worst(measure.trust, result::trust(*trust));
      if (const std::string reason = result::text(line, "reason"); !reason.empty()) measure.reason = reason;
    }
    if (line.contains("variance")) has_means_ = true;
    return "";
  }

  /// Adds a line that starts with '#': perf writes one at the start of each run.
  void add_comment(std::string_view line) { starts_ += line.starts_with("# started on") ? 1 : 0; }

  Comparable take() {
    const std::size_t all = run_count();
    for (const auto& [key, series] : series_) {
      Measure& measure = comparable_.measures[series.place];
      if (!measure.runs.empty()) measure.value = stats::wide_median(measure.runs);
      if (series.lines > all)
        mark_absent(measure, "the event is several times in one run");
      else if (series.missing != 0)
        mark_absent(measure, series.missing == series.lines
                                 ? measure.reason
                                 : fmt::format("{} of {} runs: {}", series.missing, series.lines, measure.reason));
      comparable_.runs = std::max(comparable_.runs, measure.runs.size());
      // The means of several runs are no runs.
      if (has_means_) measure.runs.clear();
    }
    comparable_.target = "perf stat";
    return std::move(comparable_);
  }

 private:
  /// The lines of one event and subject.
  struct Series {
    std::size_t place;  ///< of its measure
    std::size_t lines = 0, missing = 0;
  };

  /// Without the comments, the fewest lines of an event.
  std::size_t run_count() const {
    std::size_t fewest = starts_;
    if (starts_ == 0)
      for (const auto& [key, series] : series_) fewest = fewest == 0 ? series.lines : std::min(fewest, series.lines);
    return fewest;
  }

  Comparable comparable_;
  std::map<std::pair<std::string, std::string>, Series> series_;
  std::size_t starts_ = 0;
  bool has_means_ = false;
};

}  // namespace

bool is_perf_json(std::string_view text) {
  // Comments and empty lines may precede the first object.
  for (const std::string& line : split(text.substr(0, 4000), '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    return line.starts_with('{') && line.find("\"counter-value\"") != std::string::npos;
  }
  return false;
}

Result<Comparable> read_perf_json(std::string_view text, const std::string& name) {
  PerfLines lines;
  std::size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (line.starts_with('#')) lines.add_comment(line);
    if (line.empty() || line.starts_with('#')) continue;
    std::string problem;
    try {
      problem = lines.add(parse_json<Json>(quote_wrong_numbers(line)));
    } catch (const Json::exception& exception) {
      problem = result::parse_error_text(line, exception.what());
    }
    if (!problem.empty())
      return fail(Code::bad_usage,
                  fmt::format("'{}:{}' looks like a result of perf stat -j, but {}: {}", printable(name), number,
                              Json::accept(line) ? "cannot be read" : "is damaged or ends early", printable(problem)),
                  "write the file again");
  }
  return lines.take();
}

}  // namespace tally::output
