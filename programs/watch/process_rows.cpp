#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "programs/watch/table_rows.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;
using Before = std::unordered_map<int, const ProcessStatistics*>;

Before by_number(const Reading& reading) {
  Before all;
  all.reserve(reading.processes.size());
  for (const ProcessStatistics& statistics : reading.processes) all.emplace(statistics.process, &statistics);
  return all;
}

// Returns the earlier data of the same process, not of another one with the same pid.
const ProcessStatistics* earlier(const Before& before, const ProcessStatistics& now) {
  const auto found = before.find(now.process);
  return found != before.end() && found->second->started == now.started ? found->second : nullptr;
}

bool fits(const Shown& shown, const ProcessStatistics& one) {
  return shown.filter.empty() || one.name.find(shown.filter) != std::string::npos ||
         std::to_string(one.process) == shown.filter;
}

bool fits(const Shown& shown, const CgroupStatistics& one) {
  return shown.filter.empty() || one.path.find(shown.filter) != std::string::npos;
}

// Returns the elements with the `most` largest numbers. `comes_first` decides between equal numbers.
template <class Statistics, class First>
std::vector<Statistics> largest(std::vector<std::pair<std::uint64_t, const Statistics*>>& all, std::size_t most,
                                First comes_first) {
  const std::size_t kept = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                    [&](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : comes_first(*a.second, *b.second);
                    });
  std::vector<Statistics> statistics;
  for (std::size_t i = 0; i < kept; ++i) statistics.push_back(*all[i].second);
  return statistics;
}

// Sets instructions, cycles and their ratio, if its counters were open during the whole interval.
template <class Key>
void set_counts(const Between& between, const TaskReadings<Key>& before, const TaskReadings<Key>& after, const Key& key,
                result::WatchRow& row) {
  const auto say = [&](std::size_t reason) {
    for (const Id id : {Id::instructions, Id::cycles, Id::ipc}) Between::say(row, id, reason);
  };
  if (const auto refused = after.reasons.find(key); refused != after.reasons.end()) return say(refused->second);
  const auto from = before.sums.find(key), to = after.sums.find(key);
  if (from == before.sums.end() || to == after.sums.end()) return;
  Grown grown;
  for (std::size_t i = 0; i < counted_count; ++i) grown[i] = Between::grown(from->second[i], to->second[i]);
  const bool is_counted = grown[static_cast<std::size_t>(Counted::cycles)].has_value();
  say(is_counted ? between.machine.idle : between.machine.not_running);
  set_core_counts(row, grown, between.seconds, false);
}

void set_details(const Between& between, result::WatchRow& row, int process) {
  const auto from = between.before.details.find(process);
  const auto to = between.after.details.find(process);
  if (to != between.after.details.end()) row.command = to->second.command;
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

result::WatchRow process_row(const Between& between, const Before& before, const ProcessStatistics& now) {
  constexpr double ticks_a_second = 100;  // USER_HZ
  result::WatchRow row = between.row(Kind::process);
  row.name = now.name;
  row.process = now.process;
  Between::set(row, Id::memory, static_cast<double>(now.resident_bytes));
  Between::set(row, Id::threads, static_cast<double>(now.threads));
  if (const auto* then = earlier(before, now)) {
    const auto set_processors = [&](Id id, std::uint64_t from, std::uint64_t to) {
      if (const auto ticks = between.rate(from, to)) Between::set(row, id, *ticks / ticks_a_second);
    };
    set_processors(Id::util, then->ticks(), now.ticks());
    set_processors(Id::user, then->user_ticks, now.user_ticks);
    set_processors(Id::kernel, then->kernel_ticks, now.kernel_ticks);
    Between::set(row, Id::faults,
                 between.rate(then->minor_faults + then->major_faults, now.minor_faults + now.major_faults));
    Between::set(row, Id::major_faults, between.rate(then->major_faults, now.major_faults));
  } else {
    for (const Id id : {Id::util, Id::user, Id::kernel, Id::faults, Id::major_faults})
      Between::say(row, id, between.machine.not_yet);
  }
  set_details(between, row, now.process);
  set_counts(between, between.before.process_counts, between.after.process_counts, now.process, row);
  return row;
}

// cgroup v1 counts the whole in nanoseconds and its parts in ticks: scales the parts to the whole.
void share_out(result::WatchRow& row) {
  const auto value = [&](Id id) -> std::optional<double>& { return row.cells[static_cast<std::size_t>(id)].value; };
  auto &whole = value(Id::util), &user = value(Id::user), &kernel = value(Id::kernel);
  if (!whole || !user || !kernel || *user + *kernel == 0) return;
  const double scale = *whole / (*user + *kernel);
  *user *= scale;
  *kernel *= scale;
}

}  // namespace

std::vector<ProcessStatistics> busiest(const Reading& before, const Reading& after, const Shown& shown) {
  const Before then = by_number(before);
  std::vector<std::pair<std::uint64_t, const ProcessStatistics*>> used;
  for (const ProcessStatistics& now : after.processes) {
    if (!fits(shown, now)) continue;
    const auto* earlier_one = earlier(then, now);
    const std::uint64_t from = earlier_one ? earlier_one->ticks() : then.empty() ? 0 : now.ticks();
    used.emplace_back(now.ticks() >= from ? now.ticks() - from : 0, &now);
  }
  return largest<ProcessStatistics>(used, shown.most_rows,
                                    [](const auto& a, const auto& b) { return a.process < b.process; });
}

std::vector<CgroupStatistics> busiest_groups(const Reading& before, const Reading& after, const Shown& shown) {
  std::unordered_map<std::string, std::uint64_t> then;
  for (const CgroupStatistics& statistics : before.groups)
    then.emplace(statistics.path, statistics.used_us.value_or(0));
  std::vector<std::pair<std::uint64_t, const CgroupStatistics*>> used;
  for (const CgroupStatistics& now : after.groups) {
    if (!fits(shown, now)) continue;
    const auto found = then.find(now.path);
    const std::uint64_t all = now.used_us.value_or(0), from = found == then.end() ? 0 : found->second;
    used.emplace_back(all >= from ? all - from : 0, &now);
  }
  return largest<CgroupStatistics>(used, shown.most_rows, [](const auto& a, const auto& b) { return a.path < b.path; });
}

std::vector<result::WatchRow> process_rows(const Between& between, const Shown& shown, std::size_t& left_out) {
  const Before before = by_number(between.before);
  std::vector<result::WatchRow> rows;
  // Rows that are not shown would cost more than all the rest. When sorting by UTIL, those are known in advance.
  const bool is_known = shown.sort == Id::util && shown.filter.empty();
  std::unordered_set<int> wanted;
  if (is_known) {
    for (const auto& one : busiest(between.before, between.after, shown)) wanted.insert(one.process);
  }
  for (const ProcessStatistics& now : between.after.processes) {
    if (is_known && !wanted.contains(now.process)) continue;
    if (fits(shown, now)) rows.push_back(process_row(between, before, now));
  }
  if (is_known) left_out += between.after.processes.size() - rows.size();
  keep_largest(rows, shown.sort, shown.most_rows, left_out);
  return rows;
}

std::vector<result::WatchRow> group_rows(const Between& between, const Shown& shown, std::size_t& left_out) {
  std::unordered_map<std::string, const CgroupStatistics*> before;
  for (const CgroupStatistics& statistics : between.before.groups) before.emplace(statistics.path, &statistics);
  std::vector<result::WatchRow> rows;
  for (const CgroupStatistics& now : between.after.groups) {
    if (!fits(shown, now)) continue;
    result::WatchRow row = between.row(Kind::group);
    row.name = now.path;
    if (now.memory_bytes) Between::set(row, Id::memory, static_cast<double>(*now.memory_bytes));
    const auto then = before.find(now.path);
    const CgroupStatistics nothing;
    const CgroupStatistics& from = then == before.end() ? nothing : *then->second;
    const auto share = [&](Id id, auto member) {
      if (const auto by = between.rate(from.*member, now.*member)) {
        Between::set(row, id, *by / 1e6);
      } else if (then == before.end() && now.*member) {
        Between::say(row, id, between.machine.not_yet);
      }
    };
    share(Id::util, &CgroupStatistics::used_us);
    share(Id::user, &CgroupStatistics::user_us);
    share(Id::kernel, &CgroupStatistics::kernel_us);
    share_out(row);
    share(Id::throttled, &CgroupStatistics::throttled_us);
    share(Id::memory_pressure, &CgroupStatistics::memory_pressure_us);
    share(Id::cpu_pressure, &CgroupStatistics::cpu_pressure_us);
    Between::set(row, Id::faults, between.rate(from.faults, now.faults));
    Between::set(row, Id::major_faults, between.rate(from.major_faults, now.major_faults));
    set_counts(between, between.before.group_counts, between.after.group_counts, now.path, row);
    rows.push_back(std::move(row));
  }
  keep_largest(rows, shown.sort, shown.most_rows, left_out);
  return rows;
}

}  // namespace tally::watch
