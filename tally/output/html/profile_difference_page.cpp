// The page of a difference of two profiles.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/jumped_functions.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/html/profile_page.hpp"
#include "tally/output/html/sections.hpp"

namespace tally::output {
namespace {

/// Whether the change of the first event may be caused by sampling alone.
bool may_be_noise(const ProfileDifference& difference, const Change& change) {
  if (!difference.is_estimated(0)) return false;
  const Estimate by = difference.estimate(change, 0);
  return by.low <= 0 && by.high >= 0;
}

std::string place_text(const ProfileDifference& difference, const Change& change) {
  const bool is_after = change.after.is_present;
  const ChangeSide& side = is_after ? change.after : change.before;
  return location_of(is_after ? *difference.after : *difference.before, side.source, side.line);
}

/// The inclusive counts of each function of the page.
using InclusiveCounts = std::vector<std::vector<std::int64_t>>;
InclusiveCounts inclusive_of(const result::Profile& profile, const std::vector<std::size_t>& numbers,
                             const std::vector<std::size_t>& events, std::size_t functions) {
  const InclusiveCounts all = inclusive_by_function(profile, events);
  InclusiveCounts sums(functions, std::vector<std::int64_t>(events.size()));
  for (std::size_t f = 0; f < all.size(); ++f)
    for (std::size_t e = 0; e < events.size(); ++e) sums[numbers[f]][e] += all[f][e];
  return sums;
}

/// The text of a line after the change. The text of a removed line is unknown: its file may have changed since.
std::string line_text(const ProfileDifference& difference, const Change& line, SourceText& source) {
  if (!line.after.is_present) return {};
  const result::Profile& profile = *difference.after;
  const ChangeSide& side = line.after;
  const std::string& object = profile.objects[profile.functions[side.function].object].name;
  return source.line(profile.sources[side.source], object, side.line);
}

Json functions_json(const ProfileDifference& difference, const ProfileStyle& style) {
  const std::vector<std::string> names = difference.names(style.whole_names);
  Json all = Json::array();
  for (std::size_t i = 0; i < difference.functions.size(); ++i) {
    const Change& change = difference.functions[i];
    const bool is_after = change.after.is_present;
    const result::Profile& profile = is_after ? *difference.after : *difference.before;
    const result::ProfileFunction& f = profile.functions[is_after ? change.after.function : change.before.function];
    all.push_back({{"name", names[i]},
                   {"object", file_name(profile.objects[f.object].name)},
                   {"place", place_text(difference, change)},
                   {"lines", Json::array()}});
  }
  SourceText source(style.source);
  for (const Change& line : difference.lines) {
    Json& lines = all[line.of]["lines"];
    const std::string place = place_text(difference, line);
    if (!place.empty() && lines.size() < most_lines_on_page)
      lines.push_back({place, line.after.counts, line_text(difference, line, source), line.before.counts});
  }
  return all;
}

Json rows_json(const ProfileDifference& difference) {
  const std::size_t count = difference.functions.size();
  const auto before =
      inclusive_of(*difference.before, difference.function_index_before, difference.event_index_before, count);
  const auto after =
      inclusive_of(*difference.after, difference.function_index_after, difference.event_index_after, count);
  Json all = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const Change& change = difference.functions[i];
    all.push_back({{"f", i},
                   {"only", !change.after.is_present   ? "before"
                            : change.before.is_present ? ""
                                                       : "after"},
                   {"entered", change.after.entered},
                   {"entered_before", change.before.entered},
                   {"noise", may_be_noise(difference, change)},
                   {"inclusive", after[i]},
                   {"inclusive_before", before[i]},
                   {"counts", change.after.counts},
                   {"before", change.before.counts}});
  }
  return all;
}

/// The boxes of both profiles, merged.
Json calls_json(const ProfileDifference& difference) {
  std::vector<Json> all;
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> known;
  const std::vector<std::int64_t> zeros(difference.events.size());
  for (const bool is_after : {false, true}) {
    const std::vector<PageCall> calls =
        is_after ? page_calls(*difference.after, difference.function_index_after, difference.event_index_after)
                 : page_calls(*difference.before, difference.function_index_before, difference.event_index_before);
    std::vector<std::int64_t> numbers(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t parent = calls[i].parent < 0 ? -1 : numbers[static_cast<std::size_t>(calls[i].parent)];
      const auto [number, is_new] =
          known.try_emplace({parent, calls[i].function}, static_cast<std::int64_t>(all.size()));
      if (is_new)
        all.push_back({{"parent", parent},
                       {"f", calls[i].function},
                       {"calls", 0},
                       {"self", zeros},
                       {"calls_before", 0},
                       {"self_before", zeros}});
      numbers[i] = number->second;
      Json& one = all[static_cast<std::size_t>(number->second)];
      one[is_after ? "calls" : "calls_before"] = calls[i].calls;
      one[is_after ? "self" : "self_before"] = calls[i].self;
    }
  }
  return all;
}

Json arcs_json(const ProfileDifference& difference) {
  struct Arc {
    std::int64_t calls[2] = {};
    std::vector<std::int64_t> inclusive[2];
  };
  std::map<std::pair<std::size_t, std::size_t>, Arc> arcs;
  const std::size_t count = difference.events.size();
  for (const int side : {0, 1}) {
    const auto& numbers = side == 0 ? difference.function_index_before : difference.function_index_after;
    const auto& events = side == 0 ? difference.event_index_before : difference.event_index_after;
    for (const CallSum& sum : calls_between(side == 0 ? *difference.before : *difference.after)) {
      Arc& arc = arcs[{numbers[sum.caller], numbers[sum.callee]}];
      for (auto& inclusive : arc.inclusive) inclusive.resize(count);
      arc.calls[side] += sum.calls;
      for (std::size_t e = 0; e < count; ++e) arc.inclusive[side][e] += sum.inclusive[events[e]];
    }
  }
  Json all = Json::array();
  for (const auto& [ends, arc] : arcs)
    all.push_back({{"caller", ends.first},
                   {"callee", ends.second},
                   {"calls", arc.calls[1]},
                   {"calls_before", arc.calls[0]},
                   {"inclusive", arc.inclusive[1]},
                   {"inclusive_before", arc.inclusive[0]}});
  return all;
}

}  // namespace

std::string difference_page(const ProfileDifference& of, const ProfileStyle& style, std::string top) {
  const result::Profile before_jumps = with_jumped_functions(*of.before),
                        after_jumps = with_jumped_functions(*of.after);
  ProfileDifference difference = of;
  difference.before = &before_jumps;
  difference.after = &after_jumps;
  ProfilePage page;
  page.top = std::move(top);
  const std::string before_command = shell_words(difference.before->stat.command),
                    after_command = shell_words(difference.after->stat.command);
  page.title = before_command == after_command ? "What changed: " + after_command
                                               : fmt::format("{} → {}", before_command, after_command);
  page.lines.emplace_back("before: " + before_command, "soft");
  page.lines.emplace_back("after: " + after_command, "soft");
  if (const std::string caution = difference.caution(); !caution.empty()) page.lines.emplace_back(caution, "");
  if (difference.is_estimated(0))
    page.lines.emplace_back("sampled: a change within its 95 % interval may be noise; the table marks it", "");
  page.data["sampled"] = difference.before->is_sampled() || difference.after->is_sampled();
  page.data["events"] = difference.events;
  Json view{{"name", "all threads"}, {"totals", Json::array()}, {"totals_before", Json::array()}};
  for (std::size_t e = 0; e < difference.events.size(); ++e) {
    const std::int64_t before = total_count(*difference.before, difference.event_index_before[e]);
    const std::int64_t after = total_count(*difference.after, difference.event_index_after[e]);
    view["totals"].push_back(after);
    view["totals_before"].push_back(before);
    const Unit unit = difference.after->stat.events[difference.event_index_after[e]].total.unit;
    page.data["units"].push_back(unit_on_page(unit));
    page.lines.emplace_back(fmt::format("{}: {} before, {} after, {}{}", difference.events[e], value_text(before, unit),
                                        value_text(after, unit),
                                        after > before   ? "+"
                                        : after < before ? "-"
                                                         : "",
                                        value_text(std::abs(after - before), unit)),
                            "");
  }
  for (const auto& [events, where] : {std::pair{&difference.only_before, "before"}, {&difference.only_after, "after"}})
    if (!events->empty())
      page.lines.emplace_back(fmt::format("{}: counted {} only, so not compared", join(*events, ", "), where), "");
  const bool before = !difference.before->calls.empty(), after = !difference.after->calls.empty();
  page.has_stacks = before && after;
  page.about_stacks =
      page.has_stacks
          ? "Each box is a function. Its width is the larger of its inclusive counts before and after; its callees are "
            "below it. Red: more than before; blue: less; grey: unchanged. Click to zoom."
      : before || after ? "Only one of the two profiles has calls: record both with tally profile --calls."
                        : "Calls were not recorded: use tally profile --calls to see a flame graph.";
  page.data["functions"] = functions_json(difference, style);
  view["rows"] = rows_json(difference);
  view["calls"] = page.has_stacks ? calls_json(difference) : Json::array();
  view["arcs"] = page.has_stacks ? arcs_json(difference) : Json::array();
  page.data["views"] = Json::array({std::move(view)});
  return profile_page(page);
}

}  // namespace tally::output
