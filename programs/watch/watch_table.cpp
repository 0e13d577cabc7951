#include "programs/watch/watch_table.hpp"

#include <algorithm>

#include "programs/watch/table_rows.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;

std::vector<result::WatchColumn> columns_of(const WatchedMachine& machine) {
  std::vector<result::WatchColumn> columns;
  for (const Definition& definition : definitions()) {
    columns.push_back({std::string(definition.name), std::string(definition.unit), std::string(definition.what),
                       machine.column(definition.id).source, definition.style, definition.digits});
  }
  return columns;
}

bool wants(const Shown& shown, Kind kind) {
  return std::find(shown.kinds.begin(), shown.kinds.end(), kind) != shown.kinds.end();
}

}  // namespace

Between::Between(const WatchedMachine& of, const Reading& from, const Reading& to)
    : machine(of), before(from), after(to), seconds(static_cast<double>((to.time - from.time).count()) / 1e9) {}

result::WatchRow Between::row(Kind kind) const {
  result::WatchRow row;
  row.kind = kind;
  row.cells.resize(column_count);
  for (std::size_t i = 0; i < column_count; ++i) {
    row.cells[i].reason = machine.columns[i].reason[static_cast<std::size_t>(kind)];
  }
  return row;
}

void Between::set(result::WatchRow& row, Id id, std::optional<double> value) {
  if (value) row.cells[static_cast<std::size_t>(id)].value = value;
}

void Between::say(result::WatchRow& row, Id id, std::size_t reason) {
  row.cells[static_cast<std::size_t>(id)].reason = reason;
}

std::optional<double> Between::grown(std::optional<double> from, std::optional<double> to) {
  if (!from || !to || *to < *from) return std::nullopt;
  return *to - *from;
}

std::optional<double> Between::grown(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) {
  if (!from || !to || *to < *from) return std::nullopt;
  return static_cast<double>(*to - *from);
}

std::optional<double> Between::rate(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) const {
  const auto by = grown(from, to);
  if (!by || seconds <= 0) return std::nullopt;
  return *by / seconds;
}

void keep_largest(std::vector<result::WatchRow>& rows, Id by, std::size_t most, std::size_t& left_out) {
  // No group has a value in a column of processes.
  const auto has_value = [&](const auto& row) { return row.cells[static_cast<std::size_t>(by)].value.has_value(); };
  if (std::none_of(rows.begin(), rows.end(), has_value)) by = Id::util;
  const auto value = [by](const result::WatchRow& row) {
    return row.cells[static_cast<std::size_t>(by)].value.value_or(-1);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return value(a) > value(b); });
  if (rows.size() <= most) return;
  left_out += rows.size() - most;
  rows.resize(most);
}

result::WatchTable table_of(const WatchedMachine& machine, const Shown& shown, const Reading& before,
                            const Reading& after) {
  const Between between(machine, before, after);
  result::WatchTable table;
  table.time = after.wall;
  table.interval = after.time - before.time;
  table.columns = columns_of(machine);
  table.reasons = machine.reasons.all();
  table.rows = machine_rows(between, shown, table.totals);
  std::erase_if(table.rows, [&](const result::WatchRow& row) { return !wants(shown, row.kind); });
  if (wants(shown, Kind::process)) {
    table.hides_processes = after.hides_processes;
    for (auto& row : process_rows(between, shown, table.rows_left_out)) table.rows.push_back(std::move(row));
  }
  if (wants(shown, Kind::group)) {
    for (auto& row : group_rows(between, shown, table.rows_left_out)) table.rows.push_back(std::move(row));
  }
  table.own_cost.reason = machine.not_yet;
  if (between.seconds > 0) {
    const auto used = static_cast<double>((after.own_time - before.own_time).count()) / 1e9;
    table.own_cost.value = 100 * used / between.seconds;
  }
  return table;
}

}  // namespace tally::watch
