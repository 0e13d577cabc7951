#include "tally/output/analysis/profile_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {

std::string object_key(const result::Profile& profile, std::uint32_t object) {
  const std::string name = file_name(profile.objects[object].name);
  if (!profile.stat.command.empty() && name == file_name(profile.stat.command.front())) return "";
  const std::size_t library = name.find(".so.");
  return library == std::string::npos ? name : name.substr(0, library + 3);
}

namespace {

bool is_counted(const result::Event& event) { return event.total.count.value.has_value(); }

/// The name of a function without what two builds need not share: of JavaScript (V8's perf map), the tier of its code,
/// the directory, and the line, unless it has no other name. "JS:*parse /src/a.js:2:15" → "parse a.js"
std::string lasting_name(const std::string& name) {
  const std::size_t begin = name.find_first_not_of("*~^+", 3), end = name.find(' ');
  if (!name.starts_with("JS:") || end == std::string::npos || begin > end) return name;
  const std::string file = file_name(name.substr(end + 1));
  return name.substr(begin, end - begin) + " " + file.substr(0, begin == end ? file.size() : file.find(':'));
}

/// The key that identifies a function in both profiles.
using Name = std::pair<std::string, std::string>;  // file of code, function
struct FunctionKey {
  Name name;
  std::string source;  // empty if the name is enough
  auto operator<=>(const FunctionKey&) const = default;
};

std::string source_of(const result::Profile& profile, const result::ProfileFunction& function) {
  return function.line == 0 ? "" : profile.sources[function.source];
}

/// The last `words` names of a path: "a/util.c" of "/src/a/util.c" for 2.
std::string end_of_path(const std::string& path, std::size_t words) {
  std::size_t at = path.size();
  for (; words > 0 && at != std::string::npos; --words) at = at == 0 ? std::string::npos : path.rfind('/', at - 1);
  return at == std::string::npos ? path : path.substr(at + 1);
}

/// Names shared by functions from several source files, and how many names at the ends of their paths distinguish
/// these: the two builds are in different directories.
void find_ambiguous(const result::Profile& profile, const std::vector<std::string>& objects,
                    std::map<Name, std::size_t>& names) {
  std::map<Name, std::set<std::string>> sources;
  for (const result::ProfileFunction& function : profile.functions)
    sources[{objects[function.object], lasting_name(function.name)}].insert(source_of(profile, function));
  constexpr std::size_t most_words = 16;
  for (const auto& [name, files] : sources) {
    if (files.size() < 2) continue;
    std::size_t words = 0, distinct = 0;
    while (distinct < files.size() && words < most_words) {
      std::set<std::string> ends;
      ++words;
      for (const std::string& file : files) ends.insert(end_of_path(file, words));
      distinct = ends.size();
    }
    names[name] = std::max(names[name], words);
  }
}

class ProfileComparison {
 public:
  ProfileComparison(const result::Profile& before, const result::Profile& after) : profiles_{&before, &after} {
    difference_.before = &before;
    difference_.after = &after;
  }

  Result<ProfileDifference> compare() {
    match_events();
    if (difference_.events.empty())
      return fail(Code::bad_usage, "the two profiles have no event in common",
                  "record both with the same events: tally profile -e EVENTS");
    match_functions();
    add_counts();
    match_lines();
    match_objects();
    for (std::size_t f = 0; f < difference_.functions.size(); ++f) difference_.functions[f].of = f;
    for (auto* const changes : {&difference_.functions, &difference_.lines, &difference_.objects})
      std::ranges::stable_sort(*changes, has_changed_more);
    std::vector<std::size_t> new_indices(difference_.functions.size());
    for (std::size_t i = 0; i < new_indices.size(); ++i) new_indices[difference_.functions[i].of] = i;
    for (auto* const changes : {&difference_.functions, &difference_.lines, &difference_.objects})
      for (Change& change : *changes) change.of = new_indices[change.of];
    for (std::vector<std::size_t>* list : {&difference_.function_index_before, &difference_.function_index_after})
      for (std::size_t& index : *list) index = new_indices[index];
    estimate_noise();
    return std::move(difference_);
  }

 private:
  void match_events() {
    const auto& after = difference_.after->stat.events;
    std::set<std::string> found;
    for (std::size_t b = 0; b < difference_.before->event_count(); ++b) {
      const result::Event& event = difference_.before->stat.events[b];
      const auto same = std::find_if(after.begin(), after.end(), [&](const result::Event& other) {
        return other.total.name == event.total.name && is_counted(other);
      });
      if (same == after.end() || !is_counted(event)) {
        if (is_counted(event)) difference_.only_before.push_back(event.total.name.text());
        continue;
      }
      found.insert(event.total.name.text());
      difference_.events.push_back(event.total.name.text());
      difference_.event_index_before.push_back(b);
      difference_.event_index_after.push_back(static_cast<std::size_t>(same - after.begin()));
    }
    for (const result::Event& event : after)
      if (is_counted(event) && found.count(event.total.name.text()) == 0)
        difference_.only_after.push_back(event.total.name.text());
  }

  const std::vector<std::size_t>& events_of(int side) const {
    return side == 0 ? difference_.event_index_before : difference_.event_index_after;
  }
  static ChangeSide& side_of(Change& change, int side) { return side == 0 ? change.before : change.after; }
  std::vector<std::size_t>& indices_of(int side) {
    return side == 0 ? difference_.function_index_before : difference_.function_index_after;
  }

  Change empty_change(ChangedRows rows) const {
    Change change;
    change.rows = rows;
    change.before.counts.resize(difference_.events.size());
    change.after.counts.resize(difference_.events.size());
    return change;
  }

  void add(ChangeSide& to, int side, const std::vector<std::int64_t>& counts) const {
    for (std::size_t e = 0; e < difference_.events.size(); ++e) to.counts[e] += counts[events_of(side)[e]];
  }

  void match_functions() {
    std::vector<std::string> objects[2];
    std::map<Name, std::size_t> ambiguous_names;
    for (int side = 0; side < 2; ++side) {
      for (std::uint32_t o = 0; o < profiles_[side]->objects.size(); ++o)
        objects[side].push_back(object_key(*profiles_[side], o));
      find_ambiguous(*profiles_[side], objects[side], ambiguous_names);
    }
    std::map<FunctionKey, std::size_t> known;
    for (int side = 0; side < 2; ++side) {
      const result::Profile& profile = *profiles_[side];
      for (std::uint32_t f = 0; f < profile.functions.size(); ++f) {
        const result::ProfileFunction& function = profile.functions[f];
        FunctionKey key{{objects[side][function.object], lasting_name(function.name)}, ""};
        if (const auto words = ambiguous_names.find(key.name); words != ambiguous_names.end())
          key.source = end_of_path(source_of(profile, function), words->second);
        const auto [entry, is_new] = known.try_emplace(std::move(key), difference_.functions.size());
        if (is_new) difference_.functions.push_back(empty_change(ChangedRows::functions));
        indices_of(side).push_back(entry->second);
        ChangeSide& one = side_of(difference_.functions[entry->second], side);
        if (!one.is_present) one = {true, f, function.source, function.line, 0, std::move(one.counts)};
        one.entered += function.entered;
      }
    }
  }

  void add_counts() {
    for (int side = 0; side < 2; ++side)
      for (const ProfileSum& sum : sums_of(*profiles_[side], ProfileBy::function))
        add(side_of(difference_.functions[indices_of(side)[sum.function]], side), side, sum.counts);
  }

  /// Identifies a line within its function.
  using LineKey = std::tuple<std::size_t, std::string, std::int64_t>;
  LineKey line_key(int side, std::uint32_t f, std::uint32_t source, std::uint32_t line) {
    const result::Profile& profile = *profiles_[side];
    const std::size_t index = indices_of(side)[f];
    const Change& change = difference_.functions[index];
    const result::ProfileFunction& function = profile.functions[f];
    const bool both_known = change.before.line != 0 && change.after.line != 0;
    if (line != 0 && both_known && function.line != 0 && source == function.source)
      return {index, "", static_cast<std::int64_t>(line) - function.line};
    return {index, line == 0 ? "?" : file_name(profile.sources[source]), line};
  }

  void match_lines() {
    std::map<LineKey, std::size_t> known;
    for (int side = 0; side < 2; ++side) {
      const std::vector<LineCounts> lines = lines_of_functions(*profiles_[side]);
      for (std::uint32_t f = 0; f < lines.size(); ++f)
        for (const auto& [at, counts] : lines[f]) {
          const auto [entry, is_new] =
              known.try_emplace(line_key(side, f, at.first, at.second), difference_.lines.size());
          if (is_new) difference_.lines.push_back(empty_change(ChangedRows::lines));
          Change& change = difference_.lines[entry->second];
          change.of = indices_of(side)[f];
          ChangeSide& one = side_of(change, side);
          if (!one.is_present) one = {true, f, at.first, at.second, 0, std::move(one.counts)};
          add(one, side, counts);
        }
    }
  }

  void match_objects() {
    std::map<std::string, std::size_t> known;
    for (int side = 0; side < 2; ++side)
      for (const ProfileSum& sum : sums_of(*profiles_[side], ProfileBy::object)) {
        const auto [entry, is_new] = known.try_emplace(
            object_key(*profiles_[side], profiles_[side]->functions[sum.function].object), difference_.objects.size());
        if (is_new) difference_.objects.push_back(empty_change(ChangedRows::objects));
        Change& change = difference_.objects[entry->second];
        change.of = indices_of(side)[sum.function];
        ChangeSide& one = side_of(change, side);
        if (!one.is_present) one = {true, sum.function, 0, 0, 0, std::move(one.counts)};
        add(one, side, sum.counts);
      }
  }

  void estimate_noise() {
    for (std::size_t e = 0; e < difference_.events.size(); ++e) {
      std::size_t at = 0;
      for (const auto* const changes : {&difference_.functions, &difference_.lines, &difference_.objects}) {
        std::vector<SampledRow> rows;
        if (difference_.is_estimated(e))
          for (const Change& change : *changes)
            if (change.before.counts[e] + change.after.counts[e] != 0)
              rows.push_back(difference_.sampled_row(change, e));
        difference_.noise[at++].push_back(
            run_noise(rows, changes == &difference_.lines ? spread_of_lines : spread_of_functions));
      }
    }
  }

  static bool has_changed_more(const Change& a, const Change& b) {
    const auto key = [](const Change& change) {
      return std::pair(std::abs(change.by(0)), std::max(change.before.counts[0], change.after.counts[0]));
    };
    return key(a) > key(b);
  }

  const result::Profile* profiles_[2];
  ProfileDifference difference_;
};

}  // namespace

bool ProfileDifference::is_estimated(std::size_t event) const {
  const auto is = [](const result::Profile& profile, std::size_t e) {
    return profile.is_sampled() && !profile.sampling[e].of_all();
  };
  return is(*before, event_index_before[event]) || is(*after, event_index_after[event]);
}

Estimate ProfileDifference::estimate(const Change& change, std::size_t event) const {
  if (!is_estimated(event)) {
    const auto by = static_cast<double>(change.by(event));
    return {by, by, by};
  }
  return tally::difference(sampled_row(change, event), noise[static_cast<std::size_t>(change.rows)][event]);
}

SampledRow ProfileDifference::sampled_row(const Change& change, std::size_t event) const {
  return {sampled_count(*before, event_index_before[event], change.before.counts[event]),
          sampled_count(*after, event_index_after[event], change.after.counts[event])};
}

std::vector<std::string> ProfileDifference::names(bool whole) const {
  std::vector<std::string> names;
  for (const Change& change : functions)
    names.push_back(change.after.is_present ? after->functions[change.after.function].name
                                            : before->functions[change.before.function].name);
  return function_names(names, whole);
}

std::string ProfileDifference::caution() const {
  if (before->is_sampled() != after->is_sampled())
    return std::string("sampled ") + (after->is_sampled() ? "after" : "before") +
           " only, and counted exactly on the other side: use the same --backend for both";
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::string &one = before->stat.events[event_index_before[e]].total.count.model,
                      &other = after->stat.events[event_index_after[e]].total.count.model;
    if (one != other)
      return fmt::format(
          "{}: the machine models differ before ({}) and after ({}): use the same --model and --precision for both",
          events[e], one.empty() ? "none" : one, other.empty() ? "none" : other);
  }
  if (before->inlines_apart == after->inlines_apart) return "";
  return std::string("inlined functions are listed separately ") + (after->inlines_apart ? "after" : "before") +
         " only: record both with --inlines, or both without";
}

Result<ProfileDifference> difference_of(const result::Profile& before, const result::Profile& after) {
  return ProfileComparison(before, after).compare();
}

}  // namespace tally::output
