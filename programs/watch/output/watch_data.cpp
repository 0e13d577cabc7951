// Formats of tally watch for programs.
#include <fmt/format.h>

#include "programs/watch/output/watch_format.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

using result::WatchRow;
using result::WatchTable;

std::string full_number(double value) { return fmt::format("{:.10g}", value); }

Json cell_json(const WatchTable& table, const result::WatchCell& cell) {
  if (cell.value) return {{"value", *cell.value}, {"reason", nullptr}};
  return {{"value", nullptr},
          {"reason", cell.reason < table.reasons.size() ? Json(table.reasons[cell.reason].code) : Json(nullptr)}};
}

Json optional_number(const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const WatchTable& table, const WatchRow& row) {
  Json values = Json::object(), absent = Json::object();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const result::WatchCell& cell = row.cells[i];
    values[table.columns[i].name] = cell.value ? Json(*cell.value) : Json(nullptr);
    if (!cell.value && cell.reason < table.reasons.size()) {
      absent[table.columns[i].name] = table.reasons[cell.reason].code;
    }
  }
  return {{"kind", name(row.kind)},
          {"name", row.name},
          {"command", text_or_null(row.command)},
          {"processor", optional_number(row.processor)},
          {"socket", optional_number(row.socket)},
          {"process", optional_number(row.process)},
          {"values", std::move(values)},
          {"absent", std::move(absent)}};
}

const char* style_name(result::WatchStyle style) {
  switch (style) {
    case result::WatchStyle::fixed: return "fixed";
    case result::WatchStyle::count: return "count";
    case result::WatchStyle::bytes: return "bytes";
  }
  return "";
}

}  // namespace

std::string watch_csv_header(const std::vector<result::WatchColumn>& columns) {
  std::vector<std::string> names{"time_ns", "interval_ns", "kind", "name", "command", "processor", "socket", "process"};
  for (const auto& column : columns) names.push_back(column.name);
  names.emplace_back("absent");
  return csv_row(names, ",") + "\r\n";
}

std::string watch_csv(const WatchTable& table) {
  std::string text;
  const auto number_or_nothing = [](const std::optional<int>& value) { return value ? std::to_string(*value) : ""; };
  for (const WatchRow& row : table.rows) {
    std::vector<std::string> fields{std::to_string(table.time.count()),
                                    std::to_string(table.interval.count()),
                                    name(row.kind),
                                    row.name,
                                    row.command,
                                    number_or_nothing(row.processor),
                                    number_or_nothing(row.socket),
                                    number_or_nothing(row.process)};
    std::vector<std::string> absent;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const result::WatchCell& cell = row.cells[i];
      fields.push_back(cell.value ? full_number(*cell.value) : "");
      if (!cell.value && cell.reason < table.reasons.size()) {
        absent.push_back(table.columns[i].name + "=" + table.reasons[cell.reason].code);
      }
    }
    fields.push_back(join(absent, ";"));
    text += csv_row(fields, ",") + "\r\n";
  }
  return text;
}

std::string watch_header_json(const result::WatchHeader& header) {
  Json facts = Json::array();
  for (const result::WatchFact& fact : header.facts) {
    facts.push_back({{"label", fact.label}, {"text", text_or_null(fact.text)}, {"reason", text_or_null(fact.reason)}});
  }
  Json object = document("tally-watch/1", header.provenance);
  object["line"] = "header";
  object["facts"] = std::move(facts);
  return json_text(object) + "\n";
}

std::string watch_json(const WatchTable& table) {
  Json rows = Json::array(), reasons = Json::object(), columns = Json::array();
  for (const WatchRow& row : table.rows) rows.push_back(row_json(table, row));
  for (const auto& reason : table.reasons) {
    reasons[reason.code] = {{"text", reason.text}, {"hint", text_or_null(reason.hint)}};
  }
  for (const auto& column : table.columns) {
    columns.push_back({{"name", column.name},
                       {"unit", text_or_null(column.unit)},
                       {"what", column.what},
                       {"source", text_or_null(column.source)},
                       {"style", style_name(column.style)},
                       {"digits", column.digits}});
  }
  const Json object{{"schema", "tally-watch/1"},
                    {"line", "reading"},
                    {"time_ns", table.time.count()},
                    {"interval_ns", table.interval.count()},
                    {"columns", std::move(columns)},
                    {"rows", std::move(rows)},
                    {"reasons", std::move(reasons)},
                    {"totals",
                     {{"instructions", cell_json(table, table.totals.instructions)},
                      {"cycles", cell_json(table, table.totals.cycles)},
                      {"ticks", cell_json(table, table.totals.ticks)}}},
                    {"own_cost_percent", cell_json(table, table.own_cost)},
                    {"rows_left_out", table.rows_left_out}};
  return json_text(object) + "\n";
}

}  // namespace tally::output
