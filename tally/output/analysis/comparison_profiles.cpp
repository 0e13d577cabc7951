#include "tally/output/analysis/comparison_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/row_growth.hpp"
#include "tally/output/analysis/runtime_code.hpp"

namespace tally::output {
namespace {

/// Why each function changed. "code generation": it has the same source, was entered as often, and executed the same
/// lines, but by other instructions. Of a function that only one profile has: the other file or name of the same code.
std::vector<std::string> causes_of(const ProfileDifference& difference) {
  const std::vector<Change>& changes = difference.functions;
  const result::Profile* const profiles[] = {difference.before, difference.after};
  const auto function = [&](std::size_t f, bool is_after) -> const result::ProfileFunction& {
    return profiles[is_after]->functions[(is_after ? changes[f].after : changes[f].before).function];
  };
  std::vector<std::string> all(changes.size());
  std::map<std::string, std::vector<std::size_t>> only[2];  // functions of one profile only, by name and by code
  std::set<std::string> in_both;                            // names of others: each file has an `_init`
  for (std::size_t f = 0; f < all.size(); ++f) {
    if (!changes[f].before.is_present || !changes[f].after.is_present) {
      const bool is_after = changes[f].after.is_present;
      const ChangeSide& side = is_after ? changes[f].after : changes[f].before;
      const result::ProfileFunction& here = function(f, is_after);
      only[is_after][here.name].push_back(f);
      if (here.code_digest != 0)
        only[is_after][fmt::format("\n{} {} {}", here.code_digest, side.entered, side.counts[0])].push_back(f);
      continue;
    }
    const result::ProfileFunction &before = function(f, false), &after = function(f, true);
    in_both.insert(before.name);
    if (before.source_digest != 0 && before.source_digest == after.source_digest &&
        before.code_digest != after.code_digest && changes[f].before.entered == changes[f].after.entered)
      all[f] = "code generation";
  }
  for (const Change& line : difference.lines)
    if (line.before.is_present != line.after.is_present) all[line.of].clear();
  if (profiles[0]->is_sampled() || profiles[1]->is_sampled()) return all;
  // "now NAME" or "now in FILE", of a function that is the same in the other profile; empty if it is another one.
  const auto renamed = [&](std::size_t f, std::size_t twin, bool is_after, bool by_code) -> std::string {
    const result::ProfileFunction &here = function(f, is_after), &other = function(twin, !is_after);
    const result::Profile& others = *profiles[!is_after];
    const char* const verb = is_after ? "was" : "now";
    if (by_code) return here.name == other.name ? "" : fmt::format("{} {}", verb, function_name(other.name, false));
    const bool is_in_one_file = object_key(*profiles[is_after], here.object) == object_key(others, other.object);
    const bool is_same = (here.code_digest != 0 && here.code_digest == other.code_digest) ||
                         (here.source_digest != 0 && here.source_digest == other.source_digest);
    if (!is_same || (is_in_one_file ? other.line == 0 : in_both.count(here.name) != 0)) return "";
    return fmt::format("{} in {}", verb,
                       file_name(is_in_one_file ? others.sources[other.source] : others.objects[other.object].name));
  };
  for (const bool is_after : {false, true})
    for (const auto& [key, functions] : only[is_after]) {
      const auto twin = only[!is_after].find(key);
      const bool has_twin = twin != only[!is_after].end() && twin->second.size() == 1 && functions.size() == 1;
      for (const std::size_t f : functions) {
        std::string now = has_twin ? renamed(f, twin->second.front(), is_after, key.starts_with('\n')) : "";
        if (!now.empty()) all[f] = std::move(now);
        if (all[f].empty()) all[f] = is_after ? "only after" : "only before";
      }
    }
  return all;
}

/// Whether the functions belong to the runtime of a language.
std::vector<bool> runtime_functions(const ProfileDifference& difference) {
  std::vector<bool> all;
  for (const Change& change : difference.functions) {
    const result::Profile& profile = change.after.is_present ? *difference.after : *difference.before;
    const auto& function = profile.functions[(change.after.is_present ? change.after : change.before).function];
    const std::string& object = profile.objects[function.object].name;
    const bool is_interpreter = !profile.python.empty() && file_name(object).find("python3") != std::string::npos;
    const bool is_of_rust = function.line != 0 && is_rust_source(profile.sources[function.source]);
    all.push_back(is_interpreter || is_of_rust || is_runtime_code(object, function.name));
  }
  return all;
}

/// The Python functions of both profiles, by name and file. Their counts contain the C code that they called.
std::map<std::pair<std::string, std::string>, Change> python_functions(const ProfileDifference& difference) {
  std::map<std::pair<std::string, std::string>, Change> all;
  if (difference.before->python.empty() || difference.after->python.empty()) return all;
  for (const bool is_after : {false, true})
    for (const result::PythonFunction& function : (is_after ? difference.after : difference.before)->python) {
      Change& change = all[{function.name, file_name(function.file)}];
      change.before.counts.resize(difference.events.size());
      change.after.counts.resize(difference.events.size());
      ChangeSide& side = is_after ? change.after : change.before;
      side.is_present = true;
      for (std::size_t e = 0; e < side.counts.size(); ++e)
        side.counts[e] += function.self[(is_after ? difference.event_index_after : difference.event_index_before)[e]];
    }
  return all;
}

}  // namespace

/// Makes rows of the counts of two profiles, event by event.
class ProfileRows {
 public:
  explicit ProfileRows(ProfileDifference difference) : difference_(std::move(difference)) {
    functions_ = difference_.functions;
    names_ = difference_.names(false);
    whole_names_ = difference_.names(true);
    for (auto& [name, change] : python_functions(difference_)) {
      functions_.push_back(std::move(change));
      names_.push_back(fmt::format("{} ({})", name.first, name.second));
      whole_names_.push_back(name.first);
    }
  }

  const ProfileDifference& difference() const { return difference_; }
  /// Functions, then Python functions, as Comparison::all_functions has them; and how rows name them.
  const std::vector<Change>& functions() const { return functions_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& whole_names() const { return whole_names_; }

  /// The rows of functions, lines or files that changed; `names`: of each.
  std::vector<ComparedCount> rows_of(const Comparison& comparison, const std::vector<Change>& changes,
                                     const std::vector<std::string>& names) const {
    std::vector<ComparedCount> rows;
    for (std::size_t e = 0; e < difference_.events.size(); ++e)
      for (std::size_t i = 0; i < changes.size(); ++i)
        if (changes[i].by(e) != 0) {
          rows.push_back(row_of(comparison, e, changes[i], names[i]));
          rows.back().index = i;
        }
    return sorted(std::move(rows));
  }

  /// The rows of processes or threads that changed. Sampled events have none.
  std::vector<ComparedCount> rows_of(const Comparison& comparison, const std::map<std::string, Change>& changes) const {
    std::vector<ComparedCount> rows;
    for (std::size_t e = 0; e < difference_.events.size(); ++e)
      for (const auto& [name, change] : changes)
        if (change.by(e) != 0 && !difference_.is_estimated(e)) rows.push_back(row_of(comparison, e, change, name));
    return sorted(std::move(rows));
  }

  /// The first event first, and of each the largest change.
  std::vector<ComparedCount> sorted(std::vector<ComparedCount> rows) const {
    std::stable_sort(rows.begin(), rows.end(), [&](const ComparedCount& a, const ComparedCount& b) {
      const bool a_first = a.event == difference_.events.front(), b_first = b.event == difference_.events.front();
      return a_first != b_first ? a_first : std::abs(a.change()) > std::abs(b.change());
    });
    return rows;
  }

  ComparedCount row_of(const Comparison& comparison, std::size_t e, const Change& change,
                       const std::string& name) const {
    const result::Stat &before = difference_.before->stat, &after = difference_.after->stat;
    const result::EventCount& total = after.events[difference_.event_index_after[e]].total;
    const Trust trust = worst(before.events[difference_.event_index_before[e]].total.count.trust, total.count.trust);
    ComparedCount row{.event = difference_.events[e], .subject = name, .unit = total.unit};
    row.before = change.before.counts[e];
    row.after = change.after.counts[e];
    row.trust = tally::name(trust);
    // Of causes, as these, relative to the whole program.
    for (std::size_t i = 0; is_modelled_cycles(row) && i < difference_.events.size(); ++i) {
      if (!is_event(difference_.events[i], "instructions")) continue;
      const Value all = is_event(row.event, "cycles")
                            ? Value(change.before.counts[i])
                            : *before.events[difference_.event_index_before[i]].total.count.value;
      if (all != 0) row.instructions = static_cast<double>(change.by(i)) / static_cast<double>(all);
    }
    std::string why = different_settings(comparison, trust);
    if (trust == Trust::estimated)
      why = "only the total of an estimate has an error bound: compare modelled cycles of functions";
    else if (trust != Trust::exact && before.environment.cpu != after.environment.cpu)
      why = other_processors;
    row.is_incomparable = !why.empty();
    row.reason = std::move(why);
    if (!row.is_incomparable && difference_.is_estimated(e)) {
      const Estimate estimate = difference_.estimate(change, e);
      row.interval = ValueInterval{estimate.low, estimate.high};
      decide(row);
      row.is_different = estimate.low > 0 || estimate.high < 0;
      if (!row.is_different) row.verdict = Verdict::same;
    } else {
      decide_by_growth(row, comparison);
    }
    if (std::string doubt = reason_by_cost(row, comparison); row.is_different && !doubt.empty())
      leave_undecided(row, std::move(doubt));
    return row;
  }

 private:
  ProfileDifference difference_;
  std::vector<Change> functions_;
  std::vector<std::string> names_, whole_names_;
};

namespace {

/// "main.c:12 (parse)"; of a line that is unknown, "parse".
std::vector<std::string> names_of_lines(const ProfileDifference& difference,
                                        const std::vector<std::string>& functions) {
  std::vector<std::string> names;
  for (const Change& line : difference.lines) {
    const bool is_after = line.after.is_present;
    const ChangeSide& side = is_after ? line.after : line.before;
    const std::string location = location_of(is_after ? *difference.after : *difference.before, side.source, side.line);
    const std::string& function = functions[line.of];
    names.push_back(location.empty() ? function : fmt::format("{} ({})", location, function));
  }
  return names;
}

/// The paths of files of code; of both sides, that after the change.
std::vector<std::string> names_of_objects(const ProfileDifference& difference) {
  std::vector<std::string> names;
  for (const Change& change : difference.objects) {
    const result::Profile& profile = change.after.is_present ? *difference.after : *difference.before;
    const ChangeSide& side = change.after.is_present ? change.after : change.before;
    names.push_back(profile.objects[profile.functions[side.function].object].name);
  }
  return names;
}

/// The processes or threads of both sides, by name. The second one of a name, in the order of the kernel's numbers, is
/// called "NAME #2".
class OwnerChanges {
 public:
  OwnerChanges(const Comparison& comparison, const ProfileDifference& difference, bool by_thread)
      : difference_(difference), by_thread_(by_thread) {
    add(comparison.before->threads, difference.event_index_before, &Change::before);
    add(comparison.after->threads, difference.event_index_after, &Change::after);
  }

  const std::map<std::string, Change>& all() const { return all_; }

 private:
  using Number = std::pair<std::int64_t, std::int64_t>;

  std::string name(const result::CodeOwner& owner) const {
    return by_thread_ ? owner.command + ": " + owner.thread : owner.command;
  }
  Number number(const result::CodeOwner& owner) const { return {owner.pid, by_thread_ ? owner.tid : 0}; }

  void add(const std::vector<result::ProfileThread>& threads, const std::vector<std::size_t>& events,
           ChangeSide Change::*side_of) {
    std::map<std::string, std::set<Number>> numbers;
    for (const result::ProfileThread& thread : threads) numbers[name(thread.owner)].insert(number(thread.owner));
    for (const result::ProfileThread& profile_thread : threads) {
      const std::set<Number>& same = numbers[name(profile_thread.owner)];
      const auto index = std::distance(same.begin(), same.find(number(profile_thread.owner))) + 1;
      Change& change = all_[name(profile_thread.owner) + (index == 1 ? "" : fmt::format(" #{}", index))];
      change.before.counts.resize(difference_.events.size());
      change.after.counts.resize(difference_.events.size());
      for (std::size_t e = 0; e < events.size(); ++e) (change.*side_of).counts[e] += profile_thread.counts[events[e]];
    }
  }

  const ProfileDifference& difference_;
  bool by_thread_;
  std::map<std::string, Change> all_;
};

/// "; for example `tally stat … --function mix`": the command that decides up to three functions, if the reason of the
/// first names `--function NAME`. Long names, which a terminal could not show, are left out.
std::string command_to_decide(const Comparison& comparison) {
  const ComparedCount& first = comparison.functions.front();
  if (first.reason.find("--function NAME") == std::string::npos || comparison.after->command.empty()) return "";
  constexpr std::size_t most = 3, longest = 32;
  std::vector<std::string> names;
  for (const bool is_runtime : {false, true})
    for (const ComparedCount& row : comparison.functions)
      if (row.event == first.event && row.is_runtime == is_runtime && row.subject.size() <= longest &&
          !row.subject.starts_with('[') && names.size() < (is_runtime ? 1 : most))
        names.push_back(row.subject);
  if (names.empty()) return "";
  std::vector<std::string> words = {
      "tally", "stat", "--repeatable", "-r", "5", "-e", split_event_name(first.event).base};
  for (const std::string& name : names) words.insert(words.end(), {"--function", name});
  words.insert(words.end(), {"-o", "FILE.json", "--"});
  words.insert(words.end(), comparison.after->command.begin(), comparison.after->command.end());
  return fmt::format("; for example `{}`, the same before the change, and compare both files",
                     printable(shell_words(words)));
}

}  // namespace

Result<void> compare_profiles(Comparison& comparison) {
  auto found = difference_of(*comparison.before->profile, *comparison.after->profile);
  if (!found) return fail(found.error());
  const auto profiles = std::make_shared<const ProfileRows>(*std::move(found));
  const ProfileDifference& difference = profiles->difference();
  if (std::string caution = difference.caution(); !caution.empty()) comparison.warnings.push_back(std::move(caution));
  const std::vector<std::string>& names = profiles->names();
  for (std::size_t f = 0; f < names.size(); ++f) {
    const Change& change = profiles->functions()[f];
    comparison.all_functions.push_back(
        {profiles->whole_names()[f], names[f], change.before.is_present, change.after.is_present});
  }
  comparison.functions = profiles->rows_of(comparison, profiles->functions(), names);
  const std::vector<std::string> causes = causes_of(difference);
  const std::vector<bool> runtime = runtime_functions(difference);
  for (ComparedCount& row : comparison.functions) {
    if (row.index >= causes.size()) continue;
    if (split_event_name(row.event).base == "instructions") row.label = causes[row.index];
    row.is_runtime = runtime[row.index];
  }
  keep_chosen(comparison.functions, comparison.chosen);
  if (!comparison.functions.empty() && comparison.functions.front().verdict == Verdict::undecided)
    comparison.warnings.push_back(fmt::format("{} of functions, undecided: {}{}", comparison.functions.front().event,
                                              comparison.functions.front().reason, command_to_decide(comparison)));
  comparison.lines = profiles->rows_of(comparison, difference.lines, names_of_lines(difference, names));
  comparison.objects = profiles->rows_of(comparison, difference.objects, names_of_objects(difference));
  if (const OwnerChanges processes(comparison, difference, false); processes.all().size() > 1)
    comparison.processes = profiles->rows_of(comparison, processes.all());
  if (const OwnerChanges threads(comparison, difference, true); threads.all().size() > 1)
    comparison.threads = profiles->rows_of(comparison, threads.all());
  for (auto* const rows : {&comparison.lines, &comparison.objects, &comparison.processes, &comparison.threads})
    keep_chosen(*rows, comparison.chosen);
  comparison.profile_rows = profiles;
  return {};
}

std::optional<ComparedCount> function_row(const Comparison& comparison, const std::string& event, std::size_t index) {
  const ProfileRows& rows = *comparison.profile_rows;
  const auto& events = rows.difference().events;
  const auto e =
      std::find_if(events.begin(), events.end(), [&](const std::string& name) { return is_event(name, event); });
  if (e == events.end()) return std::nullopt;
  return rows.row_of(comparison, static_cast<std::size_t>(e - events.begin()), rows.functions()[index],
                     rows.names()[index]);
}

}  // namespace tally::output
