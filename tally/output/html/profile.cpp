// The page of a profile.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/formats/profile_forms.hpp"
#include "tally/output/html/assets.hpp"
#include "tally/output/html/element.hpp"
#include "tally/output/html/profile.hpp"
#include "tally/output/html/sections.hpp"

namespace tally::report {

std::vector<PageCall> page_calls(const result::Profile& profile, const std::vector<std::size_t>& places,
                                 std::size_t event) {
  std::vector<std::int64_t> joined(profile.calls.size());  // of each call, its place in the list
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> known;
  std::vector<PageCall> all;
  std::vector<bool> has_counts(profile.calls.size());  // of its own, or below it
  for (std::size_t i = profile.calls.size(); i-- > 0;) {
    if (profile.self[i * profile.event_count() + event] != 0) has_counts[i] = true;
    if (has_counts[i] && profile.calls[i].parent != result::CodeCall::no_parent)
      has_counts[profile.calls[i].parent] = true;
  }
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    const bool is_root = call.parent == result::CodeCall::no_parent;
    const std::int64_t parent = is_root ? -1 : joined[call.parent];
    // What is called directly within itself stands in the stack once; all that it counts is the outer one's.
    if (call.recursive && !has_counts[i]) {
      joined[i] = parent;
      continue;
    }
    const std::size_t f = places[call.callee];
    const auto [place, is_new] = known.try_emplace({parent, f}, static_cast<std::int64_t>(all.size()));
    if (is_new) all.push_back({parent, f, 0, 0});
    PageCall& one = all[static_cast<std::size_t>(place->second)];
    one.calls += call.calls;
    one.self += profile.self[i * profile.event_count() + event];
    joined[i] = place->second;
  }
  return all;
}

namespace {

Json functions_json(const result::Profile& profile, const ProfileStyle& style, std::vector<std::size_t>& places) {
  const std::size_t events = profile.event_count();
  const std::vector<LineCounts> lines = lines_of_functions(profile);
  const std::vector<std::int64_t> inclusive = inclusive_of_functions(profile);
  std::vector<ProfileSum> sums = sums_of(profile, ProfileBy::function);
  for (std::size_t i = 0; i < sums.size(); ++i) places[sums[i].function] = i;
  // One that calls lead to, and that has counted nothing.
  for (std::size_t f = 0; f < places.size(); ++f) {
    if (places[f] != places.size()) continue;
    places[f] = sums.size();
    sums.push_back({static_cast<std::uint32_t>(f), 0, 0, 0, std::vector<std::int64_t>(events)});
  }
  const std::vector<std::string> names = function_names(profile, style.whole_names);
  const std::vector<std::string> objects = object_names(profile, false);
  Json all = Json::array();
  for (const ProfileSum& sum : sums) {
    const result::ProfileFunction& f = profile.functions[sum.function];
    Json one;
    one["name"] = names[sum.function];
    one["object"] = objects[f.object];
    one["place"] = place_of(profile, f.source, f.line);
    one["entered"] = f.entered;
    if (profile.is_sampled()) {
      one["interval"] = interval_text(profile, 0, sum.counts.front());
      one["samples"] = sum.samples.empty() ? 0 : sum.samples.front();
    }
    one["inclusive"] = inclusive[sum.function * events];
    one["counts"] = sum.counts;
    one["lines"] = Json::array();
    for (const auto& [at, counts] : lines[sum.function])
      if (at.second != 0 && one["lines"].size() < most_lines_on_page)
        one["lines"].push_back({place_of(profile, at.first, at.second), counts});
    all.push_back(std::move(one));
  }
  return all;
}

Json calls_json(const result::Profile& profile, const std::vector<std::size_t>& places) {
  Json all = Json::array();
  for (const PageCall& call : page_calls(profile, places))
    all.push_back({{"parent", call.parent}, {"f", call.function}, {"calls", call.calls}, {"self", call.self}});
  return all;
}

Json arcs_json(const result::Profile& profile, const std::vector<std::size_t>& places) {
  Json all = Json::array();
  for (const CallSum& sum : calls_between(profile))
    all.push_back({{"caller", places[sum.caller]},
                   {"callee", places[sum.callee]},
                   {"calls", sum.calls},
                   {"inclusive", sum.inclusive.front()}});
  return all;
}

Json page_data(const result::Profile& profile, const ProfileStyle& style) {
  Json data;
  std::vector<std::size_t> places(profile.functions.size(), profile.functions.size());
  data["events"] = Json::array();
  data["totals"] = Json::array();
  for (const result::Event& event : profile.stat.events) {
    data["events"].push_back(event.total.name.text());
    data["totals"].push_back(event.total.count.value.value_or(0));
  }
  data["sampled"] = profile.is_sampled();
  data["functions"] = functions_json(profile, style, places);
  data["calls"] = calls_json(profile, places);
  data["arcs"] = arcs_json(profile, places);
  return data;
}

/// Within a script element nothing may look like its end, or like a comment, in which its end would not be seen.
std::string in_script(const std::string& text) {
  std::string made;
  for (const char c : text) made += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return made;
}

}  // namespace

std::string profile_page(const ProfilePage& page) {
  std::string body = element("h1", page.title);
  for (const auto& [line, kind] : page.lines) body += element("p", line, kind);
  body +=
      "<p><input class=\"find\" id=\"find\" type=\"search\" placeholder=\"find a function or file\" "
      "aria-label=\"find a function or file\"></p>\n";
  body += element("h2", "Stacks") + element("p", page.about_stacks, "soft");
  if (page.has_stacks)
    body +=
        "<p><span id=\"zoom\"></span><button type=\"button\" class=\"link\" id=\"out\" hidden>Show all</button></p>\n"
        "<div id=\"flame\"></div>\n";
  body += "<section id=\"chosen\" aria-live=\"polite\"></section>\n" + element("h2", "Functions") +
          "<div class=\"scroll\"><table id=\"functions\"></table></div>\n<p><button type=\"button\" class=\"link\" "
          "id=\"more\"></button></p>\n<noscript><p>The table and the stacks are drawn by a script.</p></noscript>\n";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>\n{}{}</style>\n"
      "</head>\n<body>\n{}<script type=\"application/json\" id=\"profile-data\">{}</script>\n<script>\n{}</script>\n"
      "</body>\n</html>\n",
      escaped(page.title), page_style(), profile_style(), body, in_script(json_text(page.data)), profile_script());
}

std::string profile_html(const result::Profile& profile, const ProfileStyle& style) {
  ProfilePage page;
  page.title = "Profile of " + (profile.stat.command.empty() ? profile.stat.target : shell_words(profile.stat.command));
  page.lines.emplace_back(environment_line(profile.stat.environment), "soft");
  for (const result::Event& event : profile.stat.events) {
    const Count& count = event.total.count;
    page.lines.emplace_back(
        fmt::format("{} {}: {}{}{}", count.value ? thousands(*count.value) : "-", event.total.name.text(),
                    name(count.trust), count.reason.empty() ? "" : ": ", count.reason),
        "");
  }
  for (const std::string& line : sampling_lines(profile)) page.lines.emplace_back(line, "");
  page.has_stacks = !profile.calls.empty();
  page.about_stacks = page.has_stacks
                          ? "A box is a function, as wide as what was counted from its calls to their returns; below "
                            "it is what it called. Click to zoom."
                          : "Calls were not followed: tally profile --calls --format html draws who called whom.";
  page.data = page_data(profile, style);
  return profile_page(page);
}

}  // namespace tally::report
