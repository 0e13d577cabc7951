#include "tally/report/profile_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tally::report {
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
  const std::size_t events = profile.event_count();
  ProfileSum* last = nullptr;
  Key last_key;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    // Most are of what the one before was of.
    const Key key = key_of(profile, row, by);
    if (last == nullptr || key != last_key) last = &sums[last_key = key];
    ProfileSum& sum = *last;
    if (sum.counts.empty()) sum = {row.function, row.owner, row.source, row.line, std::vector<std::int64_t>(events)};
    for (std::size_t e = 0; e < events; ++e) sum.counts[e] += profile.count(i, e);
    if (profile.samples.empty()) continue;
    sum.samples.resize(events);
    for (std::size_t e = 0; e < events; ++e) sum.samples[e] += profile.samples[i * events + e];
  }
  std::vector<ProfileSum> sorted;
  for (auto& [key, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfileSum& a, const ProfileSum& b) {
    return !a.counts.empty() && a.counts.front() > b.counts.front();
  });
  return sorted;
}

namespace {

/// What stands in angle brackets is left out, where the name is long: those of C++ may fill a page.
std::string without_templates(const std::string& name) {
  constexpr std::size_t long_name = 60;
  if (name.size() <= long_name) return name;
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    // "operator<", "operator->" and their like are no brackets.
    const bool is_operator = depth == 0 && text.ends_with("operator");
    const bool is_arrow = i > 0 && name[i] == '>' && name[i - 1] == '-';
    if (name[i] == '<' && !is_operator && depth++ == 0) text += "<…>";
    if (depth == 0) text += name[i];
    if (name[i] == '>' && !is_operator && !is_arrow && depth > 0) depth--;
  }
  return text;
}

std::string without_parameters(const std::string& name) {
  // Parameters are behind the last bracket that opens at the outer level; "(anonymous namespace)::f(int)" has two.
  std::string_view text = name;
  for (const std::string_view end : {" const", " volatile"})
    if (text.ends_with(end)) text.remove_suffix(end.size());
  if (!text.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth == 0) return i == 0 || text.substr(0, i).ends_with("operator") ? name : std::string(text.substr(0, i));
  }
  return name;
}

}  // namespace

std::string function_name(const std::string& name, bool whole) {
  return whole ? name : without_templates(without_parameters(name));
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
  std::vector<std::uint32_t> places(profile.calls.size());  // of each call, in the list
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::uint32_t> known;
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    const std::uint32_t parent =
        call.parent == result::CodeCall::no_parent ? result::CodeCall::no_parent : places[call.parent];
    const auto [place, is_new] = known.try_emplace({parent, call.caller, call.callee, call.recursive}, joined.size());
    places[i] = place->second;
    if (is_new) {
      joined.push_back(call);
      joined.back().owner = 0;
      joined.back().parent = parent;
      joined.back().calls = 0;
      inclusive.resize(joined.size() * events);
      self.resize(joined.size() * events);
    }
    joined[place->second].calls += call.calls;
    for (std::size_t e = 0; e < events; ++e) {
      inclusive[place->second * events + e] += profile.inclusive[i * events + e];
      self[place->second * events + e] += profile.self[i * events + e];
    }
  }
  return joined;
}

std::vector<CallSum> calls_between(const result::Profile& profile) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CallSum> sums;
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    CallSum& sum = sums[{call.caller, call.callee}];
    sum.caller = call.caller;
    sum.callee = call.callee;
    sum.calls += call.calls;
    sum.inclusive.resize(profile.event_count());
    for (std::size_t e = 0; e < sum.inclusive.size(); ++e)
      sum.inclusive[e] += profile.inclusive[i * sum.inclusive.size() + e];
  }
  std::vector<CallSum> all;
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  return all;
}

bool is_called(const std::string& function, std::string_view name) {
  if (function == name || function_name(function, false) == name) return true;
  std::string bare = function_name(function, false);
  if (const std::size_t bracket = bare.find('<'); bracket != std::string::npos && bracket > 0) bare.resize(bracket);
  return bare.size() > name.size() && bare.ends_with(name) && bare[bare.size() - name.size() - 1] == ' ';
}

std::string file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos || path.starts_with('[') ? path : path.substr(slash + 1));
}

std::string place_of(const result::Profile& profile, std::uint32_t source, std::uint32_t line) {
  return line == 0 ? "" : fmt::format("{}:{}", file_name(profile.sources[source]), line);
}

}  // namespace tally::report
