#include "tally/output/result/stored_hpctool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::result {
namespace {

constexpr std::array<std::string_view, 7> columns{"ins",    "l_cycle", "ref_cycle", "event1",
                                                  "event2", "event3",  "event4"};
using Names = HpctoolNames;
using Row = HpctoolRow;

constexpr std::size_t core_cycles = 1, reference_cycles = 2;

std::string header() { return fmt::format("{}", fmt::join(columns, ",")); }

Result<Row> row_of(std::string_view line, const std::string& place) {
  const auto cells = split(line, ',');
  if (cells.size() != columns.size()) {
    return fail(Code::bad_usage, fmt::format("{}: {} fields instead of {}", place, cells.size(), columns.size()),
                "its columns are " + header());
  }
  Row row{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto number = parse_integer(trimmed(cells[i]));
    if (!number) return fail(Code::bad_usage, fmt::format("{}: '{}' is not an integer", place, printable(cells[i])));
    row[i] = *number;
  }
  return row;
}

bool all_zero(const std::vector<Row>& rows, std::size_t column) {
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row[column] == 0; });
}

Count count_of(const std::vector<Row>& rows, const Row& row, std::size_t column) {
  // An event may really not occur; instructions and cycles always do.
  if (column <= reference_cycles && all_zero(rows, column)) return absent("0 in every row: this counter did not count");
  if (row[column] < 0) return absent("negative: the halves of the counter were joined as signed numbers");
  return partial(row[column], Source::none, "copied from the file, which does not name the backend");
}

EventCount event_count(const std::string& name, Count count) {
  EventCount one;
  one.event = name;
  one.name = split_event_name(name);
  one.count = std::move(count);
  return one;
}

Stat stat_of(const std::vector<Row>& rows, const Names& names) {
  Stat stat;
  stat.backend = "hpctool";
  stat.runs_asked = static_cast<int>(rows.size());
  stat.notices = hpctool_notices(rows);
  for (const Row& row : rows) {
    Run run;
    for (std::size_t i = 0; i < names.size(); ++i) run.counts.push_back(event_count(names[i], count_of(rows, row, i)));
    stat.runs.push_back(std::move(run));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    Event event{stat.runs.front().counts[i], {}};
    std::vector<Count> counts;
    for (const Run& run : stat.runs) counts.push_back(run.counts[i].count);
    if (rows.size() > 1) {
      event.summary = summarize(counts);
      event.total.count = median_count(*event.summary, counts);
    }
    stat.events.push_back(std::move(event));
  }
  return stat;
}

// Whether the counts of a run equal those of a row.
bool run_matches_row(const Run& run, const Row& row, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto holds = [&](const EventCount& event_count) {
      return event_count.name.text() == names[i] && event_count.count.value == row[i];
    };
    if (std::none_of(run.counts.begin(), run.counts.end(), holds)) return false;
  }
  return true;
}

// Whether the rows were written from these results: the same number of runs, with the same counts.
bool results_match_rows(const std::vector<Stat>& stats, const std::vector<Row>& rows, const Names& names) {
  std::size_t next = 0;
  for (const Stat& stat : stats) {
    for (const Run& run : stat.runs) {
      if (next == rows.size() || !run_matches_row(run, rows[next], names)) return false;
      ++next;
    }
  }
  return next == rows.size();
}

}  // namespace

bool is_hpctool(std::string_view text) { return trimmed(text.substr(0, text.find('\n'))) == header(); }

std::vector<std::string> hpctool_notices(const std::vector<HpctoolRow>& rows) {
  std::vector<std::string> notices{"the file does not specify whether user mode or the kernel was counted"};
  if (rows.size() < 2) return notices;
  const auto same = [&](const Row& row) { return row[core_cycles] == rows.front()[core_cycles]; };
  if (std::all_of(rows.begin(), rows.end(), same) && !all_zero(rows, core_cycles)) {
    notices.push_back(fmt::format("l_cycle is {} in every row: not a plausible count", rows.front()[core_cycles]));
  }
  std::int64_t step = 0;
  for (const Row& row : rows) step = std::gcd(step, row[reference_cycles]);
  if (step > 1) {
    notices.push_back(
        fmt::format("ref_cycle is a multiple of {0} in every row: this counter advances in steps of {0}", step));
  }
  return notices;
}

HpctoolNames hpctool_names(std::string_view description) {
  HpctoolNames names{"instructions", "cycles", "ref-cycles", "event1", "event2", "event3", "event4"};
  // With --append there is one object per line, all with the same columns.
  const std::string first(trimmed(description.substr(0, description.find('\n'))));
  auto json = parse_json_or_discard<nlohmann::ordered_json>(description);
  if (json.is_discarded()) json = parse_json_or_discard<nlohmann::ordered_json>(first);
  if (!json.is_object() || !json.contains("columns") || !json["columns"].is_object()) return names;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto found = json["columns"].find(columns[i]);
    if (found != json["columns"].end() && found->is_string()) names[i] = found->get<std::string>();
  }
  return names;
}

Result<std::vector<HpctoolRow>> hpctool_rows(std::string_view text, const std::string& name) {
  std::vector<Row> rows;
  std::size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (number == 1 || trimmed(line).empty()) continue;
    const auto row = row_of(trimmed(line), fmt::format("'{}', line {}", printable(name), number));
    if (!row) return fail(row.error());
    rows.push_back(*row);
  }
  if (rows.empty())
    return fail(Code::bad_usage, fmt::format("'{}' has the columns of HPCTool but no rows", printable(name)));
  return rows;
}

Result<std::vector<Stat>> read_hpctool(std::string_view text, const std::string& name, std::string_view description) {
  const auto read = hpctool_rows(text, name);
  if (!read) return fail(read.error());
  const std::vector<Row>& rows = *read;
  const Names names = hpctool_names(description);
  auto described = read_stats(description, name);
  if (described && results_match_rows(*described, rows, names)) return described;
  Stat stat = stat_of(rows, names);
  if (described) {
    stat.notices.emplace_back("the JSON file next to it describes other rows: only its column names are used");
  }
  return std::vector{std::move(stat)};
}

}  // namespace tally::result
