#include "programs/watch/output/stored_watch.hpp"

#include <fmt/format.h>

#include <map>

#include "tally/core/base/json_problem.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::result {
namespace {

// Everything below may throw Json::exception: parse_recording() turns it into an Error.

WatchHeader header(const Json& json) {
  WatchHeader header;
  for (const Json& fact : json.at("facts")) {
    header.facts.push_back({fact.at("label").get<std::string>(), text(fact, "text"), text(fact, "reason")});
  }
  return header;
}

WatchStyle style(const std::string& name) {
  if (name == "count") return WatchStyle::count;
  return name == "bytes" ? WatchStyle::bytes : WatchStyle::fixed;
}

WatchKind kind(const std::string& word) {
  for (const WatchKind kind :
       {WatchKind::core, WatchKind::socket, WatchKind::system, WatchKind::process, WatchKind::group}) {
    if (word == name(kind)) return kind;
  }
  throw Json::other_error::create(501, fmt::format("unknown kind of row '{}'", printable(word)), nullptr);
}

using Codes = std::map<std::string, std::size_t>;

WatchCell cell(const Json& value, const std::string& code, const Codes& codes) {
  WatchCell cell;
  if (!value.is_null()) cell.value = number<double>(value);
  const auto match = codes.find(code);
  // A code without an explanation: the index after the last reason.
  cell.reason = match == codes.end() ? codes.size() : match->second;
  return cell;
}

WatchRow row(const Json& json, const WatchTable& table, const Codes& codes) {
  WatchRow row;
  row.kind = kind(json.at("kind").get<std::string>());
  row.name = json.at("name").get<std::string>();
  row.command = text(json, "command");
  row.processor = optional<int>(json, "processor");
  row.socket = optional<int>(json, "socket");
  row.process = optional<int>(json, "process");
  const Json& values = json.at("values");
  const Json& absent = json.at("absent");
  for (const WatchColumn& column : table.columns) {
    row.cells.push_back(cell(values.at(column.name), absent.value(column.name, ""), codes));
  }
  return row;
}

/// The number of decimals.
int digits(const Json& json) {
  constexpr int most = 17;
  const int read = number<int>(json);
  if (read < 0 || read > most) throw Json::out_of_range::create(406, "it has too many digits", &json);
  return read;
}

WatchTable table(const Json& json) {
  WatchTable table;
  table.time = Nanoseconds(number<std::int64_t>(json.at("time_ns")));
  table.interval = Nanoseconds(number<std::int64_t>(json.at("interval_ns")));
  Codes codes;
  for (const auto& [code, reason] : json.at("reasons").items()) {
    codes[code] = table.reasons.size();
    table.reasons.push_back({code, reason.at("text").get<std::string>(), text(reason, "hint")});
  }
  for (const Json& column : json.at("columns")) {
    table.columns.push_back({column.at("name").get<std::string>(), text(column, "unit"),
                             column.at("what").get<std::string>(), text(column, "source"),
                             style(column.at("style").get<std::string>()), digits(column.at("digits"))});
  }
  for (const Json& row_json : json.at("rows")) table.rows.push_back(row(row_json, table, codes));
  const auto cell_of = [&](const Json& value) { return cell(value.at("value"), text(value, "reason"), codes); };
  const Json& totals = json.at("totals");
  table.totals = {cell_of(totals.at("instructions")), cell_of(totals.at("cycles")), cell_of(totals.at("ticks"))};
  table.own_cost = cell_of(json.at("own_cost_percent"));
  table.rows_left_out = number<std::size_t>(json.at("rows_left_out"));
  return table;
}

}  // namespace

Result<Recording> parse_recording(const std::string& text) {
  Recording recording;
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (trimmed(lines[at]).empty()) continue;
    const bool is_cut = at + 1 == lines.size();  // no line end
    try {
      const Json json = parse_json<Json>(lines[at]);
      if (json.at("schema") != "tally-watch/1") {
        return fail(Code::bad_usage, fmt::format("line {} does not have the schema tally-watch/1", at + 1),
                    "`tally watch --record FILE` writes such files");
      }
      if (json.at("line") == "header") {
        recording.header = header(json);
        recording.header.provenance = read_provenance(json);
      }
      if (json.at("line") == "reading") recording.tables.push_back(table(json));
    } catch (const Json::exception& error) {
      if (is_cut) break;
      return fail(Code::bad_usage,
                  fmt::format("line {} is not a reading of tally watch: {}", at + 1,
                              printable(json_problem_in_line(error.what()))),
                  "`tally watch --record FILE` writes such files");
    }
  }
  if (recording.tables.empty()) {
    return fail(Code::bad_usage, "it contains no readings", "`tally watch --record FILE` writes such files");
  }
  return recording;
}

}  // namespace tally::result
