// The page of a profile.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/analysis/jumped_functions.hpp"
#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/python_functions.hpp"
#include "tally/output/html/assets.hpp"
#include "tally/output/html/profile_page.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/footnotes.hpp"

namespace tally::output {

std::vector<PageCall> page_calls(const result::Profile& profile, const std::vector<std::size_t>& numbers,
                                 const std::vector<std::size_t>& events) {
  std::vector<std::int64_t> joined(profile.calls.size());  // of each call: its index in the list
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> known;
  std::vector<PageCall> all;
  std::vector<bool> has_counts(profile.calls.size());  // own counts, or below it
  for (std::size_t i = profile.calls.size(); i-- > 0;) {
    for (const std::size_t event : events)
      if (profile.self[i * profile.event_count() + event] != 0) has_counts[i] = true;
    if (has_counts[i] && profile.calls[i].parent != result::CodeCall::no_parent)
      has_counts[profile.calls[i].parent] = true;
  }
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    const bool is_root = call.parent == result::CodeCall::no_parent;
    const std::int64_t parent = is_root ? -1 : joined[call.parent];
    // A direct recursive call appears in the stack once: the outer call has all its counts.
    if (call.recursive && !has_counts[i]) {
      joined[i] = parent;
      continue;
    }
    const std::size_t f = numbers[call.callee];
    const auto [index, is_new] = known.try_emplace({parent, f}, static_cast<std::int64_t>(all.size()));
    if (is_new) all.push_back({parent, f, 0, std::vector<std::int64_t>(events.size())});
    PageCall& one = all[static_cast<std::size_t>(index->second)];
    one.calls += call.calls;
    for (std::size_t e = 0; e < events.size(); ++e) one.self[e] += profile.self[i * profile.event_count() + events[e]];
    joined[i] = index->second;
  }
  return all;
}

std::vector<std::vector<std::int64_t>> inclusive_by_function(const result::Profile& profile,
                                                             const std::vector<std::size_t>& events) {
  std::vector<std::int64_t> all = inclusive_of_functions(profile);
  if (!profile.calls.empty())
    // What ran outside of all recorded calls is at least its own callee.
    for (const ProfileSum& sum : sums_of(profile, ProfileBy::function))
      for (std::size_t e = 0; e < profile.event_count(); ++e) {
        std::int64_t& inclusive = all[sum.function * profile.event_count() + e];
        inclusive = std::max(inclusive, sum.counts[e]);
      }
  std::vector<std::vector<std::int64_t>> made(profile.functions.size());
  for (std::size_t f = 0; f < made.size(); ++f)
    for (const std::size_t event : events) made[f].push_back(all[f * profile.event_count() + event]);
  return made;
}

namespace {

constexpr std::size_t most_threads = 16;         // shown separately
constexpr std::uint32_t most_lines_between = 6;  // lines without counts that are shown between lines with counts
constexpr std::size_t most_disassembled = 12;    // functions
constexpr std::size_t most_instructions = 600;   // of one function
constexpr std::uint64_t most_between = 4096;     // bytes without counts that are shown between instructions with counts

std::vector<std::size_t> all_events(const result::Profile& profile) {
  std::vector<std::size_t> all(profile.event_count());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// The functions of a page, in descending order of counts; `numbers`: page number of each function of the profile.
std::vector<std::uint32_t> page_functions(const result::Profile& profile, std::vector<std::size_t>& numbers) {
  numbers.assign(profile.functions.size(), profile.functions.size());
  std::vector<std::uint32_t> all;
  for (const ProfileSum& sum : sums_of(profile, ProfileBy::function)) {
    numbers[sum.function] = all.size();
    all.push_back(sum.function);
  }
  // Functions without counts, with calls only.
  for (std::uint32_t f = 0; f < numbers.size(); ++f) {
    if (numbers[f] != profile.functions.size()) continue;
    numbers[f] = all.size();
    all.push_back(f);
  }
  return all;
}

Json lines_json(const result::Profile& profile, const result::ProfileFunction& f, const LineCounts& lines,
                SourceText& source) {
  Json all = Json::array();
  const std::string& object = profile.objects[f.object].name;
  std::pair<std::uint32_t, std::uint32_t> last{0, 0};
  const auto add = [&](std::uint32_t file, std::uint32_t line, const Json& counts) {
    all.push_back({location_of(profile, file, line), counts, source.line(profile.sources[file], object, line)});
  };
  for (const auto& [at, counts] : lines) {
    if (at.second == 0) continue;
    if (all.size() >= most_lines_on_page) break;
    if (at.first == last.first && at.second - last.second <= most_lines_between + 1)
      for (std::uint32_t line = last.second + 1; line < at.second; ++line)
        if (!source.line(profile.sources[at.first], object, line).empty()) add(at.first, line, nullptr);
    add(at.first, at.second, counts);
    last = at;
  }
  return all;
}

/// The instructions of a function with their counts; empty if they cannot be read.
Json instructions_json(const result::Profile& profile, std::uint32_t function, const InstructionReader& read) {
  std::map<std::uint64_t, std::vector<std::int64_t>> counted;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    if (profile.rows[i].function != function) continue;
    std::vector<std::int64_t>& counts = counted[profile.rows[i].address];
    counts.resize(profile.event_count());
    for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(i, e);
  }
  Json all = Json::array();
  if (counted.empty() || counted.rbegin()->first == 0) return all;
  constexpr std::uint64_t longest = 15;
  // A function may have parts far from one another, with others in between.
  for (auto next = counted.begin(); next != counted.end() && all.size() < most_instructions;) {
    const std::uint64_t first = next->first;
    std::uint64_t last = first;
    for (; next != counted.end() && next->first - last <= most_between; ++next) last = next->first;
    const auto texts = read(profile.objects[profile.functions[function].object], first, last + longest);
    if (!texts) return all;
    for (auto text = texts->begin(); text != texts->upper_bound(last) && all.size() < most_instructions; ++text) {
      const auto counts = counted.find(text->first);
      all.push_back(
          {fmt::format("{:x}", text->first), counts == counted.end() ? Json() : Json(counts->second), text->second});
    }
  }
  return all;
}

Json functions_json(const result::Profile& profile, const ProfileStyle& style,
                    const std::vector<std::uint32_t>& functions, std::vector<std::string>& newer) {
  const std::vector<LineCounts> lines = lines_of_functions(profile);
  std::vector<std::string> names = function_names(profile, style.whole_names);
  if (!style.whole_names) names = cut_names(std::move(names));
  const std::vector<std::string> objects = object_names(profile, false);
  SourceText source(style.source);
  Json all = Json::array();
  for (const std::uint32_t number : functions) {
    const result::ProfileFunction& f = profile.functions[number];
    Json one;
    one["name"] = names[number];
    one["object"] = objects[f.object];
    one["place"] = location_of(profile, f.source, f.line);
    one["lines"] = lines_json(profile, f, lines[number], source);
    if (style.disassembly && all.size() < most_disassembled)
      one["code"] = instructions_json(profile, number, style.disassembly);
    all.push_back(std::move(one));
  }
  newer = source.newer();
  return all;
}

/// The part of a profile that one thread executed.
result::Profile profile_of_thread(const result::Profile& all, std::uint32_t owner) {
  result::Profile one = all;
  const std::size_t events = all.event_count();
  one.rows.clear(), one.counts.clear(), one.samples.clear();
  one.calls.clear(), one.inclusive.clear(), one.self.clear();
  const auto copy = [&](const std::vector<std::int64_t>& from, std::size_t i, std::vector<std::int64_t>& to) {
    for (std::size_t e = 0; e < events && !from.empty(); ++e) to.push_back(from[i * events + e]);
  };
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    if (all.rows[i].owner != owner) continue;
    one.rows.push_back(all.rows[i]);
    copy(all.counts, i, one.counts);
    copy(all.samples, i, one.samples);
  }
  std::vector<std::uint32_t> moved(all.calls.size());
  for (std::size_t i = 0; i < all.calls.size(); ++i) {
    if (all.calls[i].owner != owner) continue;
    moved[i] = static_cast<std::uint32_t>(one.calls.size());
    one.calls.push_back(all.calls[i]);
    std::uint32_t& parent = one.calls.back().parent;
    if (parent != result::CodeCall::no_parent) parent = moved[parent];
    copy(all.inclusive, i, one.inclusive);
    copy(all.self, i, one.self);
  }
  return one;
}

Json rows_json(const result::Profile& profile, const std::vector<std::size_t>& numbers, bool is_whole) {
  const std::vector<std::size_t> events = all_events(profile);
  const auto inclusive = inclusive_by_function(profile, events);
  std::vector<std::vector<std::int64_t>> counts(profile.functions.size());
  std::vector<std::vector<std::int64_t>> samples(profile.functions.size());
  for (const ProfileSum& sum : sums_of(profile, ProfileBy::function)) {
    counts[sum.function] = sum.counts;
    samples[sum.function] = sum.samples;
  }
  Json all = Json::array();
  for (std::size_t f = 0; f < profile.functions.size(); ++f) {
    const bool has_calls = std::any_of(inclusive[f].begin(), inclusive[f].end(), [](std::int64_t n) { return n != 0; });
    if (!is_whole && counts[f].empty() && !has_calls) continue;
    counts[f].resize(events.size());
    Json one{{"f", numbers[f]}, {"counts", counts[f]}, {"inclusive", inclusive[f]}};
    if (is_whole) one["entered"] = profile.functions[f].entered;
    if (profile.is_sampled()) {
      samples[f].resize(events.size());
      one["samples"] = samples[f];
      if (is_whole)
        for (const std::size_t e : events) one["intervals"].push_back(interval_text(profile, e, counts[f][e]));
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json view_json(const result::Profile& profile, const std::string& name, const std::vector<std::size_t>& numbers,
               bool is_whole) {
  Json view{{"name", name},
            {"rows", rows_json(profile, numbers, is_whole)},
            {"calls", Json::array()},
            {"arcs", Json::array()}};
  for (const PageCall& call : page_calls(profile, numbers, all_events(profile)))
    view["calls"].push_back(
        {{"parent", call.parent}, {"f", call.function}, {"calls", call.calls}, {"self", call.self}});
  for (const CallSum& sum : calls_between(profile))
    if (sum.calls != 0 || sum.caller != sum.callee)
      view["arcs"].push_back({{"caller", numbers[sum.caller]},
                              {"callee", numbers[sum.callee]},
                              {"calls", sum.calls},
                              {"inclusive", sum.inclusive}});
  return view;
}

std::string thread_name(const result::CodeOwner& owner) {
  const std::string& name = owner.thread.empty() ? owner.command : owner.thread;
  return owner.tid == 0 ? fmt::format("{}, other threads of process {}", name, owner.pid)
                        : fmt::format("{} {}{}", name, owner.tid,
                                      owner.tid == owner.pid ? "" : fmt::format(" of process {}", owner.pid));
}

/// All threads together, then each thread in descending order of counts.
Json views_json(const result::Profile& profile, const std::vector<std::size_t>& numbers) {
  const std::size_t events = profile.event_count();
  Json totals = Json::array();
  for (const result::Event& event : profile.stat.events) totals.push_back(event.total.count.value.value_or(0));
  Json views = Json::array({view_json(profile, "all threads", numbers, true)});
  views[0]["totals"] = std::move(totals);
  std::vector<std::vector<std::int64_t>> sums(profile.owners.size(), std::vector<std::int64_t>(events));
  for (std::size_t i = 0; i < profile.rows.size(); ++i)
    for (std::size_t e = 0; e < events; ++e) sums[profile.rows[i].owner][e] += profile.count(i, e);
  std::vector<std::uint32_t> order(profile.owners.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return sums[a].front() > sums[b].front(); });
  if (order.size() < 2) return views;
  order.resize(std::min(order.size(), most_threads));
  for (const std::uint32_t owner : order) {
    views.push_back(view_json(profile_of_thread(profile, owner), thread_name(profile.owners[owner]), numbers, false));
    views.back()["totals"] = sums[owner];
  }
  return views;
}

/// Python functions, then what no Python function counted.
Json python_json(const result::Profile& profile) {
  Json all = Json::array();
  for (const result::PythonFunction& f : profile.python)
    all.push_back({{"name", f.name},
                   {"place", location_of(f)},
                   {"calls", value_or_null(f.calls)},
                   {"counts", f.self},
                   {"inclusive", f.inclusive}});
  if (!all.empty()) all.push_back({{"name", outside_python_name}, {"place", ""}, {"counts", outside_python(profile)}});
  return all;
}

Json page_data(const result::Profile& profile, const ProfileStyle& style, std::vector<std::string>& newer) {
  Json data;
  std::vector<std::size_t> numbers;
  const std::vector<std::uint32_t> functions = page_functions(profile, numbers);
  data["events"] = data["units"] = Json::array();
  for (const result::Event& event : profile.stat.events) {
    data["events"].push_back(event.total.name.text());
    data["units"].push_back(unit_on_page(event.total.unit));
  }
  if (const auto columns = CauseColumns::find(profile.stat.events)) {
    data["cycles"] = columns->cycles();
    data["instructions"] = columns->instructions() ? Json(*columns->instructions()) : Json();
    for (std::size_t i = 0; i < columns->causes().size(); ++i)
      data["causes"].push_back({{"event", columns->causes()[i]}, {"name", cycle_causes()[i].name}});
  }
  data["sampled"] = profile.is_sampled();
  data["functions"] = functions_json(profile, style, functions, newer);
  data["python"] = python_json(profile);
  data["views"] = views_json(profile, numbers);
  return data;
}

/// Escapes '<', so that no text can end the script element or open a comment in it.
std::string in_script(const std::string& text) {
  std::string made;
  for (const char c : text) made += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return made;
}

/// A table that the script fills.
std::string table_of(const char* id) {
  return fmt::format(
      "<div class=\"scroll\"><table class=\"functions\" id=\"{0}\"></table></div>\n<p><button type=\"button\" "
      "class=\"link more\" id=\"more-{0}\"></button></p>\n",
      id);
}

}  // namespace

std::string profile_page(const ProfilePage& page) {
  std::string body = element("h1", page.title) + page.top;
  for (const auto& [line, kind] : page.lines) body += element("p", line, kind);
  body += page.roofline;
  body +=
      "<div class=\"bar\"><input class=\"find\" id=\"find\" type=\"search\" placeholder=\"find a function or file\" "
      "aria-label=\"find a function or file\"><span id=\"choices\"></span></div>\n";
  if (!page.about_python.empty())
    body += element("h2", "Python functions") + element("p", page.about_python, "soft") + table_of("python");
  body += element("h2", "Flame graph") + element("p", page.about_stacks, "soft");
  if (page.has_stacks)
    body +=
        "<p><label><input type=\"checkbox\" id=\"inverted\"> inverted: functions at the top, their callers below"
        "</label></p>\n<p id=\"zoom-line\" hidden><span id=\"zoom\"></span><button type=\"button\" class=\"link\" "
        "id=\"out\">Show all</button></p>\n<div id=\"flame\"></div>\n";
  body += "<section id=\"chosen\" aria-live=\"polite\"></section>\n" + element("h2", "Functions") +
          table_of("functions") + "<noscript><p>The tables and the flame graph need JavaScript.</p></noscript>\n";
  const std::string charts = page.roofline.empty() ? ""
                                                   : fmt::format("<script>{}</script>\n<script>\n{}</script>\n",
                                                                 chart_library(), page_script());
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>\n{}{}</style>\n"
      "</head>\n<body>\n{}<script type=\"application/json\" id=\"profile-data\">{}</script>\n<script>\n{}</script>\n{}"
      "</body>\n</html>\n",
      escaped(page.title), page_style(), profile_style(), body, in_script(json_text(page.data)), profile_script(),
      charts);
}

std::string profile_html(const result::Profile& of, const ProfileStyle& style) {
  const result::Profile profile = with_jumped_functions(of);
  ProfilePage page;
  page.title = "Profile of " + (profile.stat.command.empty() ? profile.stat.target : shell_words(profile.stat.command));
  page.lines.emplace_back(environment_line(profile.stat.environment), "soft");
  const auto causes = CauseColumns::find(profile.stat.events);
  for (std::size_t e = 0; e < profile.event_count(); ++e) {
    if (causes && causes->has(e)) continue;
    const result::Event& event = profile.stat.events[e];
    const Count& count = event.total.count;
    page.lines.emplace_back(fmt::format("{} {}: {}", count.value ? value_text(*count.value, event.total.unit) : "-",
                                        event.total.name.text(), trust_text(count)),
                            "");
  }
  for (const std::string& line : sampling_lines(profile)) page.lines.emplace_back(line, "");
  if (profile.stat.roofline) page.roofline = element("h2", "Roofline") + section_of(*profile.stat.roofline);
  for (const std::string& notice : profile.stat.notices) page.lines.emplace_back(notice, "soft");
  page.has_stacks = !profile.calls.empty();
  page.about_stacks =
      page.has_stacks
          ? "Each box is a function. Its width is its inclusive count; its callees are below it. Functions that were "
            "reached by jumps (tail calls) are below the function that was called, with 0 calls and estimated counts. "
            "Click to zoom." +
                std::string(causes
                                ? " Colours: what most of the box's cycles, with those of its callees, are spent on. "
                                  "Calls of a function have parts of its cycles in proportion to their instructions."
                                : "")
          : "Calls were not recorded: use tally profile --calls --format html to see a flame graph.";
  if (!profile.python.empty())
    page.about_python =
        std::string(
            "Of all threads. A function's own counts contain the C code that it called, inclusive counts also "
            "Python functions") +
        (profile.is_sampled() ? "." : "; calls contain resumptions of generators.") +
        (profile.python_cut ? " Too many Python functions or calls: some are counted in their callers." : "");
  std::vector<std::string> newer;
  page.data = page_data(profile, style, newer);
  if (!newer.empty())
    page.lines.emplace_back(
        "Source files changed after the program was built, so counts may be at other lines: " + join(newer, ", "), "");
  return profile_page(page);
}

}  // namespace tally::output
