#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tally/watch/rows.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;
using Before = std::unordered_map<int, const linux::ProcessFigures*>;

Before by_number(const Reading& reading) {
  Before all;
  all.reserve(reading.processes.size());
  for (const linux::ProcessFigures& one : reading.processes) all.emplace(one.process, &one);
  return all;
}

// The same process, not another one of its number.
const linux::ProcessFigures* earlier(const Before& before, const linux::ProcessFigures& now) {
  const auto found = before.find(now.process);
  return found != before.end() && found->second->started == now.started ? found->second : nullptr;
}

void set_details(const Between& between, result::WatchRow& row, int process) {
  const auto from = between.before.details.find(process);
  const auto to = between.after.details.find(process);
  if (to == between.after.details.end() || from == between.before.details.end()) {
    Between::say(row, Id::switches, between.machine.not_yet);
    if (to == between.after.details.end() || to->second.waited_ns) {
      Between::say(row, Id::waiting, between.machine.not_yet);
    }
    return;
  }
  Between::set(row, Id::switches, between.rate(from->second.switches, to->second.switches));
  if (const auto waited = between.rate(from->second.waited_ns, to->second.waited_ns)) {
    Between::set(row, Id::waiting, *waited / 1e9);
  }
}

result::WatchRow process_row(const Between& between, const Before& before, const linux::ProcessFigures& now) {
  constexpr double ticks_a_second = 100;  // USER_HZ
  result::WatchRow row = between.row(Kind::process);
  row.name = now.name;
  row.process = now.process;
  Between::set(row, Id::memory, static_cast<double>(now.resident_bytes));
  Between::set(row, Id::threads, static_cast<double>(now.threads));
  if (const auto* then = earlier(before, now)) {
    if (const auto ticks = between.rate(then->ticks, now.ticks)) Between::set(row, Id::util, *ticks / ticks_a_second);
    Between::set(row, Id::faults,
                 between.rate(then->minor_faults + then->major_faults, now.minor_faults + now.major_faults));
    Between::set(row, Id::major_faults, between.rate(then->major_faults, now.major_faults));
  } else {
    for (const Id id : {Id::util, Id::faults, Id::major_faults}) Between::say(row, id, between.machine.not_yet);
  }
  set_details(between, row, now.process);
  return row;
}

}  // namespace

std::vector<int> busiest(const Reading& before, const Reading& after, std::size_t most) {
  const Before then = by_number(before);
  std::vector<std::pair<std::uint64_t, int>> used;
  for (const linux::ProcessFigures& now : after.processes) {
    const auto* earlier_one = earlier(then, now);
    used.emplace_back(earlier_one && now.ticks >= earlier_one->ticks ? now.ticks - earlier_one->ticks : 0, now.process);
  }
  const auto more = [](const auto& a, const auto& b) {
    return std::pair(b.first, a.second) < std::pair(a.first, b.second);
  };
  const std::size_t kept = std::min(most, used.size());
  std::partial_sort(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(kept), used.end(), more);
  std::vector<int> numbers;
  for (std::size_t i = 0; i < kept; ++i) numbers.push_back(used[i].second);
  return numbers;
}

std::vector<result::WatchRow> process_rows(const Between& between, const Shown& shown, std::size_t& left_out) {
  const Before before = by_number(between.before);
  std::vector<result::WatchRow> rows;
  // Rows that nobody will see cost more than all the rest: where UTIL sorts, it is known which those are.
  const bool is_known = shown.sort == Id::util && shown.filter.empty();
  const std::vector<int> seen = is_known ? busiest(between.before, between.after, shown.most_rows) : std::vector<int>{};
  const std::unordered_set<int> wanted(seen.begin(), seen.end());
  for (const linux::ProcessFigures& now : between.after.processes) {
    if (is_known && !wanted.contains(now.process)) continue;
    const bool fits = shown.filter.empty() || now.name.find(shown.filter) != std::string::npos ||
                      std::to_string(now.process) == shown.filter;
    if (fits) rows.push_back(process_row(between, before, now));
  }
  if (is_known) left_out += between.after.processes.size() - rows.size();
  keep_largest(rows, shown.sort, shown.most_rows, left_out);
  return rows;
}

std::vector<result::WatchRow> group_rows(const Between& between, const Shown& shown, std::size_t& left_out) {
  std::unordered_map<std::string, const linux::GroupFigures*> before;
  for (const linux::GroupFigures& one : between.before.groups) before.emplace(one.path, &one);
  std::vector<result::WatchRow> rows;
  for (const linux::GroupFigures& now : between.after.groups) {
    if (!shown.filter.empty() && now.path.find(shown.filter) == std::string::npos) continue;
    result::WatchRow row = between.row(Kind::group);
    row.name = now.path;
    if (now.memory_bytes) Between::set(row, Id::memory, static_cast<double>(*now.memory_bytes));
    const auto then = before.find(now.path);
    const linux::GroupFigures nothing;
    const linux::GroupFigures& from = then == before.end() ? nothing : *then->second;
    const auto share = [&](Id id, auto member) {
      if (const auto by = between.rate(from.*member, now.*member)) {
        Between::set(row, id, *by / 1e6);
      } else if (then == before.end() && now.*member) {
        Between::say(row, id, between.machine.not_yet);
      }
    };
    share(Id::util, &linux::GroupFigures::used_us);
    share(Id::throttled, &linux::GroupFigures::throttled_us);
    share(Id::memory_pressure, &linux::GroupFigures::memory_pressure_us);
    share(Id::cpu_pressure, &linux::GroupFigures::cpu_pressure_us);
    Between::set(row, Id::faults, between.rate(from.faults, now.faults));
    Between::set(row, Id::major_faults, between.rate(from.major_faults, now.major_faults));
    rows.push_back(std::move(row));
  }
  keep_largest(rows, shown.sort, shown.most_rows, left_out);
  return rows;
}

}  // namespace tally::watch
