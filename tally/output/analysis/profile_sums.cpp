#include "tally/output/analysis/profile_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tally/output/analysis/tail_calls.hpp"

namespace tally::output {
namespace {

using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

Key key_of(const result::Profile& profile, const result::ProfileRow& row, ProfileBy by) {
  const result::CodeOwner& owner = profile.owners[row.owner];
  switch (by) {
    case ProfileBy::function: return {row.function, 0, 0};
    case ProfileBy::line: return row.line != 0 ? Key{row.source, row.line, 0} : Key{0, 0, row.function + 1};
    case ProfileBy::object: return {profile.functions[row.function].object, 0, 0};
    case ProfileBy::process: return {static_cast<std::uint64_t>(owner.pid), std::hash<std::string>{}(owner.command), 0};
    case ProfileBy::thread:
      return {static_cast<std::uint64_t>(owner.pid), static_cast<std::uint64_t>(owner.tid),
              std::hash<std::string>{}(owner.command)};
  }
  return {};
}

}  // namespace

std::vector<ProfileSum> sums_of(const result::Profile& profile, ProfileBy by) {
  std::map<Key, ProfileSum> sums;
  std::map<const ProfileSum*, std::map<std::uint32_t, std::int64_t>> by_function;  // of lines, the first event
  const std::size_t events = profile.event_count();
  ProfileSum* last = nullptr;
  Key last_key;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    // Most rows have the key of the row before.
    const Key key = key_of(profile, row, by);
    if (last == nullptr || key != last_key) last = &sums[last_key = key];
    ProfileSum& sum = *last;
    if (sum.counts.empty()) sum = {row.function, row.owner, row.source, row.line, std::vector<std::int64_t>(events)};
    for (std::size_t e = 0; e < events; ++e) sum.counts[e] += profile.count(i, e);
    if (by == ProfileBy::line && events > 0) by_function[&sum][row.function] += profile.count(i, 0);
    if (!profile.forms.empty()) sum.executions[row.form] += row.executions;
    if (profile.samples.empty()) continue;
    sum.samples.resize(events);
    for (std::size_t e = 0; e < events; ++e) sum.samples[e] += profile.samples[i * events + e];
  }
  for (auto& [key, sum] : sums)
    if (const auto counts = by_function.find(&sum); counts != by_function.end())
      sum.function = std::max_element(counts->second.begin(), counts->second.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  std::vector<ProfileSum> sorted;
  for (auto& [key, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfileSum& a, const ProfileSum& b) {
    return !a.counts.empty() && a.counts.front() > b.counts.front();
  });
  return sorted;
}

std::vector<LineCounts> lines_of_functions(const result::Profile& profile) {
  std::vector<LineCounts> lines(profile.functions.size());
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    std::vector<std::int64_t>& counts = lines[row.function][{row.source, row.line}];
    counts.resize(profile.event_count());
    for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(i, e);
  }
  return lines;
}

std::vector<result::ProfileCall> calls_of_all_threads(const result::Profile& profile,
                                                      std::vector<std::int64_t>& inclusive,
                                                      std::vector<std::int64_t>& self) {
  const std::size_t events = profile.event_count();
  std::vector<result::ProfileCall> joined;
  std::vector<std::uint32_t> new_indices(profile.calls.size());  // of each call: index in joined
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::uint32_t> known;
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    const std::uint32_t parent =
        call.parent == result::CodeCall::no_parent ? result::CodeCall::no_parent : new_indices[call.parent];
    const auto [entry, is_new] = known.try_emplace({parent, call.caller, call.callee, call.recursive}, joined.size());
    new_indices[i] = entry->second;
    if (is_new) {
      joined.push_back(call);
      joined.back().owner = 0;
      joined.back().parent = parent;
      joined.back().calls = 0;
      inclusive.resize(joined.size() * events);
      self.resize(joined.size() * events);
    }
    joined[entry->second].calls += call.calls;
    for (std::size_t e = 0; e < events; ++e) {
      inclusive[entry->second * events + e] += profile.inclusive[i * events + e];
      self[entry->second * events + e] += profile.self[i * events + e];
    }
  }
  return joined;
}

std::vector<std::int64_t> counts_of_calls(const result::Profile& profile) {
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> counts(profile.calls.size() * events);
  std::vector<std::size_t> seen(profile.functions.size());  // number of the walk that last visited the function
  std::size_t visit = 0;
  each_self(profile, [&](std::size_t i, std::uint32_t function, const std::vector<std::int64_t>& self) {
    seen[function] = seen[profile.calls[i].callee] = ++visit;
    for (std::size_t at = i; at != result::CodeCall::no_parent; at = profile.calls[at].parent) {
      if (std::exchange(seen[profile.calls[at].caller], visit) == visit) continue;
      for (std::size_t e = 0; e < events; ++e) counts[at * events + e] += self[e];
    }
  });
  return counts;
}

std::vector<CallSum> calls_between(const result::Profile& profile) {
  const std::vector<std::int64_t> counts = counts_of_calls(profile);
  std::map<std::pair<std::uint32_t, std::uint32_t>, CallSum> sums;
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    CallSum& sum = sums[{call.caller, call.callee}];
    sum.caller = call.caller;
    sum.callee = call.callee;
    sum.calls += call.calls;
    sum.inclusive.resize(profile.event_count());
    for (std::size_t e = 0; e < sum.inclusive.size(); ++e) sum.inclusive[e] += counts[i * sum.inclusive.size() + e];
  }
  std::vector<CallSum> all;
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  return all;
}

std::string file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos || path.starts_with('[') ? path : path.substr(slash + 1));
}

std::int64_t total_count(const result::Profile& profile, std::size_t event) {
  return profile.stat.events[event].total.count.value.value_or(0);
}

std::string location_of(const result::Profile& profile, std::uint32_t source, std::uint32_t line) {
  return line == 0 ? "" : fmt::format("{}:{}", file_name(profile.sources[source]), line);
}

}  // namespace tally::output
