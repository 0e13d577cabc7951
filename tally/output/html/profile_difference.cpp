// The page of a difference of two profiles.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/html/profile.hpp"
#include "tally/output/html/sections.hpp"

namespace tally::report {
namespace {

/// The change of the first event is one that sampling alone may make.
bool may_be_noise(const ProfileDifference& difference, const Change& change) {
  if (!difference.is_estimated(0)) return false;
  const Estimate by = difference.estimate(change, 0);
  return by.low <= 0 && by.high >= 0;
}

std::string place_text(const ProfileDifference& difference, const Change& change) {
  const bool is_after = change.after.is_there;
  const ChangeSide& side = is_after ? change.after : change.before;
  return place_of(is_after ? *difference.after : *difference.before, side.source, side.line);
}

/// Of each function of the page, what was counted from its calls to their returns.
std::vector<std::int64_t> inclusive_of(const result::Profile& profile, const std::vector<std::size_t>& places,
                                       std::size_t event, std::size_t functions) {
  const std::vector<std::int64_t> all = inclusive_of_functions(profile);
  std::vector<std::int64_t> sums(functions);
  for (std::size_t f = 0; f < profile.functions.size(); ++f) sums[places[f]] += all[f * profile.event_count() + event];
  return sums;
}

Json functions_json(const ProfileDifference& difference, const ProfileStyle& style) {
  const std::size_t count = difference.functions.size();
  const auto before = inclusive_of(*difference.before, difference.of_before, difference.in_before[0], count);
  const auto after = inclusive_of(*difference.after, difference.of_after, difference.in_after[0], count);
  const std::vector<std::string> names = difference.names(style.whole_names);
  Json all = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const Change& change = difference.functions[i];
    const bool is_after = change.after.is_there;
    const result::Profile& profile = is_after ? *difference.after : *difference.before;
    const result::ProfileFunction& f = profile.functions[is_after ? change.after.function : change.before.function];
    all.push_back({{"name", names[i]},
                   {"object", file_name(profile.objects[f.object].name)},
                   {"place", place_text(difference, change)},
                   {"only", !is_after                ? "before"
                            : change.before.is_there ? ""
                                                     : "after"},
                   {"entered", change.after.entered},
                   {"entered_before", change.before.entered},
                   {"noise", may_be_noise(difference, change)},
                   {"inclusive", after[i]},
                   {"inclusive_before", before[i]},
                   {"counts", change.after.counts},
                   {"before", change.before.counts},
                   {"lines", Json::array()}});
  }
  for (const Change& line : difference.lines) {
    Json& lines = all[line.of]["lines"];
    const std::string place = place_text(difference, line);
    if (!place.empty() && lines.size() < most_lines_on_page)
      lines.push_back({place, line.after.counts, line.before.counts});
  }
  return all;
}

/// The boxes of both, each once.
Json calls_json(const ProfileDifference& difference) {
  std::vector<Json> all;
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> known;
  for (const bool is_after : {false, true}) {
    const std::vector<PageCall> calls =
        is_after ? page_calls(*difference.after, difference.of_after, difference.in_after[0])
                 : page_calls(*difference.before, difference.of_before, difference.in_before[0]);
    std::vector<std::int64_t> places(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t parent = calls[i].parent < 0 ? -1 : places[static_cast<std::size_t>(calls[i].parent)];
      const auto [place, is_new] =
          known.try_emplace({parent, calls[i].function}, static_cast<std::int64_t>(all.size()));
      if (is_new)
        all.push_back({{"parent", parent},
                       {"f", calls[i].function},
                       {"calls", 0},
                       {"self", 0},
                       {"calls_before", 0},
                       {"self_before", 0}});
      places[i] = place->second;
      Json& one = all[static_cast<std::size_t>(place->second)];
      one[is_after ? "calls" : "calls_before"] = calls[i].calls;
      one[is_after ? "self" : "self_before"] = calls[i].self;
    }
  }
  return all;
}

Json arcs_json(const ProfileDifference& difference) {
  struct Arc {
    std::int64_t calls[2] = {}, inclusive[2] = {};
  };
  std::map<std::pair<std::size_t, std::size_t>, Arc> arcs;
  for (const int side : {0, 1}) {
    const auto& places = side == 0 ? difference.of_before : difference.of_after;
    const std::size_t event = (side == 0 ? difference.in_before : difference.in_after)[0];
    for (const CallSum& sum : calls_between(side == 0 ? *difference.before : *difference.after)) {
      Arc& arc = arcs[{places[sum.caller], places[sum.callee]}];
      arc.calls[side] += sum.calls;
      arc.inclusive[side] += sum.inclusive[event];
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

std::int64_t total(const result::Profile& profile, std::size_t event) {
  return profile.stat.events[event].total.count.value.value_or(0);
}

}  // namespace

std::string difference_html(const ProfileDifference& difference, const ProfileStyle& style) {
  ProfilePage page;
  page.title = "What changed: " + shell_words(difference.after->stat.command);
  page.lines.emplace_back("before: " + shell_words(difference.before->stat.command), "soft");
  page.lines.emplace_back("after: " + shell_words(difference.after->stat.command), "soft");
  page.lines.emplace_back(environment_line(difference.after->stat.environment), "soft");
  if (const std::string caution = difference.caution(); !caution.empty()) page.lines.emplace_back(caution, "");
  if (difference.is_estimated(0))
    page.lines.emplace_back("sampled: a change within its 95 % interval may be noise, and the table says so", "");
  page.data["sampled"] = difference.before->is_sampled() || difference.after->is_sampled();
  page.data["events"] = difference.events;
  page.data["totals"] = page.data["totals_before"] = Json::array();
  for (std::size_t e = 0; e < difference.events.size(); ++e) {
    const std::int64_t before = total(*difference.before, difference.in_before[e]);
    const std::int64_t after = total(*difference.after, difference.in_after[e]);
    page.data["totals"].push_back(after);
    page.data["totals_before"].push_back(before);
    page.lines.emplace_back(fmt::format("{}: {} before, {} after, {}{}", difference.events[e], thousands(before),
                                        thousands(after), after > before ? "+" : "", thousands(after - before)),
                            "");
  }
  for (const auto& [events, where] : {std::pair{&difference.only_before, "before"}, {&difference.only_after, "after"}})
    if (!events->empty())
      page.lines.emplace_back(fmt::format("{}: counted {} only, not compared", join(*events, ", "), where), "");
  const bool before = !difference.before->calls.empty(), after = !difference.after->calls.empty();
  page.has_stacks = before && after;
  page.about_stacks =
      page.has_stacks
          ? "A box is a function, as wide as the larger of what it counted before and after, with its callees; below "
            "it is what it called. Red counts more now, blue less, grey the same. Click to zoom."
      : before || after ? "Calls were followed in one of the two profiles only: take both with --calls."
                        : "Calls were not followed: with tally profile --calls the stacks are drawn, too.";
  page.data["functions"] = functions_json(difference, style);
  page.data["calls"] = page.has_stacks ? calls_json(difference) : Json::array();
  page.data["arcs"] = page.has_stacks ? arcs_json(difference) : Json::array();
  return profile_page(page);
}

}  // namespace tally::report
