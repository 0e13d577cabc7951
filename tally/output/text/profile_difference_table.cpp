// Formats the difference of two profiles as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/formats/json_values.hpp"
#include "tally/output/result/string_elements.hpp"
#include "tally/output/text/grid.hpp"

namespace tally::report {
namespace {

std::string signed_thousands(std::int64_t number) { return (number > 0 ? "+" : "") + thousands(number); }

std::string percent(std::int64_t before, std::int64_t after) {
  if (before == after) return "";
  if (before == 0) return "";
  return fmt::format("{:+.2f} %", 100.0 * static_cast<double>(after - before) / static_cast<double>(before));
}

const std::vector<Change>& changes_by(const ProfileDifference& difference, ProfileBy by) {
  return by == ProfileBy::line ? difference.lines : by == ProfileBy::object ? difference.objects : difference.functions;
}

/// The side that contains the row: after, if both do.
struct RowSide {
  const result::Profile& profile;
  const ChangeSide& side;
  const result::ProfileFunction& function() const { return profile.functions[side.function]; }
};
RowSide side_of(const ProfileDifference& difference, const Change& change) {
  if (change.after.is_present) return {*difference.after, change.after};
  return {*difference.before, change.before};
}

/// "sort.c:12", with the previous line if it differs.
std::string location_text(const ProfileDifference& difference, const Change& change) {
  const RowSide one = side_of(difference, change);
  std::string text = location_of(one.profile, one.side.source, one.side.line);
  if (change.before.is_present && change.after.is_present && change.before.line != change.after.line &&
      change.before.line != 0)
    text += fmt::format(" (was {})", change.before.line);
  return text;
}

std::vector<std::string> name_cells(const ProfileDifference& difference, const Change& change,
                                    const std::vector<std::string>& names, const ProfileStyle& style) {
  const RowSide one = side_of(difference, change);
  const std::string object = file_name(one.profile.objects[one.function().object].name);
  const std::string& name = names[change.of];
  switch (style.by) {
    case ProfileBy::line:
      return {one.side.line == 0 ? "unknown line" : location_text(difference, change), name, object};
    case ProfileBy::object: return {one.profile.objects[one.function().object].name};
    default: return {name, object, location_text(difference, change)};
  }
}

std::vector<Column> difference_name_columns(ProfileBy by) {
  switch (by) {
    case ProfileBy::line:
      return {{"line", Align::left, 0, true}, {"function", Align::left, usual_name_width}, {"file"}};
    case ProfileBy::object: return {{"file", Align::left, 0, true}};
    default: return {{"function", Align::left, usual_name_width, true}, {"file"}, {"line"}};
  }
}

class DifferenceTable {
 public:
  DifferenceTable(const ProfileDifference& difference, const ProfileStyle& style)
      : difference_(difference), style_(style) {}

  std::string text() {
    std::vector<Column> columns{{"difference", Align::right}, {"", Align::right},     {"interval", Align::right}, {""},
                                {"before", Align::right},     {"after", Align::right}};
    for (std::size_t e = 1; e < difference_.events.size(); ++e)
      columns.push_back({difference_.events[e], Align::right});
    if (style_.by == ProfileBy::function) columns.push_back({"entered", Align::right});
    for (Column& column : difference_name_columns(style_.by)) columns.push_back(std::move(column));
    Grid grid(std::move(columns));
    std::vector<std::string> function_names = difference_.names(style_.whole_names);
    if (!style_.whole_names) function_names = cut_names(std::move(function_names));
    Change same = none(), more = none();
    std::int64_t same_rows = 0, more_rows = 0;
    std::size_t shown = 0;
    for (const Change& change : changes_by(difference_, style_.by)) {
      if (!change.any()) {
        add(same, change);
        same_rows++;
      } else if (style_.most == 0 || shown < style_.most) {
        shown++;
        add_row(grid, change, name_cells(difference_, change, function_names, style_));
      } else {
        add(more, change);
        more_rows++;
      }
    }
    if (more_rows > 0) add_row(grid, more, {fmt::format("{} more (--top 0 shows all)", thousands(more_rows))});
    if (same_rows > 0) add_row(grid, same, {fmt::format("{} unchanged", thousands(same_rows))});
    add_rest(grid, difference_.before->repeated, difference_.after->repeated, result::string_elements);
    add_rest(grid, difference_.before->unplaced, difference_.after->unplaced, "[not at any place]");
    Change total = none();
    for (std::size_t e = 0; e < difference_.events.size(); ++e) {
      total.before.counts[e] = count(*difference_.before, difference_.event_index_before[e]);
      total.after.counts[e] = count(*difference_.after, difference_.event_index_after[e]);
    }
    total.before.is_present = total.after.is_present = true;
    add_row(grid, total, {"total"});
    return fmt::format(" before: {}\n after:  {}\n {}{}\n\n{}\n{}", shell_words(difference_.before->stat.command),
                       shell_words(difference_.after->stat.command), difference_.events.front(),
                       difference_.events.size() > 1 ? ", and the changes of the other events" : "",
                       grid.text(style_.terminal), remarks());
  }

 private:
  Change none() const {
    Change change;
    change.before.counts.resize(difference_.events.size());
    change.after.counts.resize(difference_.events.size());
    return change;
  }
  static std::int64_t count(const result::Profile& profile, std::size_t event) {
    return profile.stat.events[event].total.count.value.value_or(0);
  }
  static void add(Change& to, const Change& change) {
    for (std::size_t e = 0; e < to.before.counts.size(); ++e) {
      to.before.counts[e] += change.before.counts[e];
      to.after.counts[e] += change.after.counts[e];
    }
    to.before.is_present = to.after.is_present = true;
  }

  bool has_interval(const Change& change) const {
    // The total needs no estimate of its share; an unchanged row needs no interval.
    return difference_.is_estimated(0) && change.by(0) != 0 && change.before.counts[0] + change.after.counts[0] != 0 &&
           (change.before.counts[0] != count(*difference_.before, difference_.event_index_before[0]) ||
            change.after.counts[0] != count(*difference_.after, difference_.event_index_after[0]));
  }
  std::string interval(const Change& change) const {
    if (!has_interval(change)) return "";
    const Estimate by = difference_.estimate(change, 0);
    return fmt::format("{} … {}", signed_thousands(std::llround(by.low)), signed_thousands(std::llround(by.high)));
  }
  bool is_noise(const Change& change) const {
    if (!has_interval(change)) return false;
    const Estimate by = difference_.estimate(change, 0);
    return by.low <= 0 && by.high >= 0;
  }

  void add_row(Grid& grid, const Change& change, const std::vector<std::string>& names) const {
    const auto shown = [](const ChangeSide& side) { return side.is_present ? thousands(side.counts[0]) : ""; };
    std::vector<std::string> cells{signed_thousands(change.by(0)),
                                   !change.before.is_present ? "new"
                                   : !change.after.is_present
                                       ? "removed"
                                       : percent(change.before.counts[0], change.after.counts[0]),
                                   interval(change),
                                   is_noise(change) ? "may be noise" : "",
                                   shown(change.before),
                                   shown(change.after)};
    for (std::size_t e = 1; e < difference_.events.size(); ++e) cells.push_back(signed_thousands(change.by(e)));
    const std::int64_t entered = change.after.entered - change.before.entered;
    if (style_.by == ProfileBy::function) cells.push_back(entered == 0 ? "" : signed_thousands(entered));
    cells.insert(cells.end(), names.begin(), names.end());
    grid.add(std::move(cells));
  }

  void add_rest(Grid& grid, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                const std::string& name) const {
    Change change = none();
    for (std::size_t e = 0; e < difference_.events.size(); ++e) {
      change.before.counts[e] = before[difference_.event_index_before[e]];
      change.after.counts[e] = after[difference_.event_index_after[e]];
    }
    change.before.is_present = change.after.is_present = true;
    const auto is_zero = [](std::int64_t n) { return n == 0; };
    if (std::all_of(change.before.counts.begin(), change.before.counts.end(), is_zero) &&
        std::all_of(change.after.counts.begin(), change.after.counts.end(), is_zero))
      return;
    add_row(grid, change, {name});
  }

  std::string remarks() const {
    std::string text = difference_.caution();
    if (!text.empty()) text = " " + text + "\n";
    if (difference_.is_estimated(0))
      text +=
          " intervals: if a program is compared with itself, one of 100 comparisons has a row whose interval does not "
          "contain 0, as far as the other rows show how much runs differ; if it contains 0, the change may be noise\n";
    for (const auto& [events, where] :
         {std::pair{&difference_.only_before, "before"}, {&difference_.only_after, "after"}})
      if (!events->empty()) text += fmt::format(" {}: counted {} only, not compared\n", join(*events, ", "), where);
    const std::vector<std::string> before = trust_lines(*difference_.before), after = trust_lines(*difference_.after);
    for (const std::string& line : before) text += fmt::format(" {}{}\n", before == after ? "" : "before: ", line);
    if (before != after)
      for (const std::string& line : after) text += fmt::format(" after: {}\n", line);
    return text;
  }

  /// Returns the trust of the events that are not exact, a line for each trust, model and reason:
  /// "modelled (gshare, fast): branch-misses:u".
  static std::vector<std::string> trust_lines(const result::Profile& profile) {
    std::vector<std::pair<const Count*, std::vector<std::string>>> groups;
    for (const result::Event& event : profile.stat.events) {
      const Count& count = event.total.count;
      if (count.trust == Trust::exact) continue;
      const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return group.first->trust == count.trust && group.first->model == count.model &&
               group.first->reason == count.reason;
      });
      if (found != groups.end())
        found->second.push_back(event.total.name.text());
      else
        groups.push_back({&count, {event.total.name.text()}});
    }
    std::vector<std::string> lines;
    for (const auto& [count, names] : groups)
      lines.push_back(fmt::format("{}{}: {}{}{}", name(count->trust),
                                  count->model.empty() ? "" : fmt::format(" ({})", count->model), join(names, ", "),
                                  count->reason.empty() ? "" : "; ", count->reason));
    return lines;
  }

  const ProfileDifference& difference_;
  const ProfileStyle& style_;
};

Json side_json(const ProfileDifference& difference, const ChangeSide& side, const result::Profile& profile) {
  if (!side.is_present) return nullptr;
  Json json;
  json["source"] = side.line == 0 ? Json(nullptr) : Json(profile.sources[side.source]);
  json["line"] = side.line == 0 ? Json(nullptr) : Json(side.line);
  json["counts"] =
      std::vector(side.counts.begin(), side.counts.begin() + static_cast<std::ptrdiff_t>(difference.events.size()));
  return json;
}

Json change_json(const ProfileDifference& difference, const Change& change) {
  Json json;
  json["before"] = side_json(difference, change.before, *difference.before);
  json["after"] = side_json(difference, change.after, *difference.after);
  json["difference"] = Json::array();
  for (std::size_t e = 0; e < difference.events.size(); ++e) json["difference"].push_back(change.by(e));
  if (!difference.before->is_sampled() && !difference.after->is_sampled()) return json;
  json["intervals"] = Json::array();
  for (std::size_t e = 0; e < difference.events.size(); ++e) {
    const Estimate by = difference.estimate(change, e);
    json["intervals"].push_back({by.low, by.high});
  }
  return json;
}

}  // namespace

std::string difference_table(const ProfileDifference& difference, const ProfileStyle& style) {
  return DifferenceTable(difference, style).text();
}

std::string difference_json(const ProfileDifference& difference, const ProfileStyle&) {
  Json json{{"schema", "tally-profile-difference/1"}};
  for (const auto& [key, profile, only] : {std::tuple{"before", difference.before, &difference.only_before},
                                           {"after", difference.after, &difference.only_after}})
    json[key] = {{"command", profile->stat.command},
                 {"provenance", provenance_json(profile->stat.environment.provenance)},
                 {"environment", environment_json(profile->stat.environment)},
                 {"only_here", *only}};
  json["events"] = Json::array();
  for (std::size_t e = 0; e < difference.events.size(); ++e) {
    Json one{{"name", difference.events[e]}};
    for (const auto& [key, profile, at] : {std::tuple{"before", difference.before, difference.event_index_before[e]},
                                           {"after", difference.after, difference.event_index_after[e]}}) {
      const result::Event& event = profile->stat.events[at];
      one[key] = {{"value", value_or_null(event.total.count.value)},
                  {"trust", name(event.total.count.trust)},
                  {"reason", text_or_null(event.total.count.reason)},
                  {"string_elements", profile->repeated[at]},
                  {"not_placed", profile->unplaced[at]}};
    }
    one["difference"] = one["after"]["value"].get<std::int64_t>() - one["before"]["value"].get<std::int64_t>();
    json["events"].push_back(std::move(one));
  }
  json["functions"] = Json::array();
  std::vector<std::vector<const Change*>> lines(difference.functions.size());
  for (const Change& line : difference.lines) lines[line.of].push_back(&line);
  for (std::size_t f = 0; f < difference.functions.size(); ++f) {
    const Change& change = difference.functions[f];
    const RowSide one = side_of(difference, change);
    Json made{{"name", one.function().name}, {"object", one.profile.objects[one.function().object].name}};
    made.update(change_json(difference, change));
    const bool reports_entries = !difference.before->is_sampled() && !difference.after->is_sampled();
    made["entered"] = reports_entries ? Json{change.before.entered, change.after.entered} : Json(nullptr);
    made["lines"] = Json::array();
    for (const Change* line : lines[f]) made["lines"].push_back(change_json(difference, *line));
    json["functions"].push_back(std::move(made));
  }
  return json_text(json, 1) + "\n";
}

}  // namespace tally::report
