// The out-files of callgrind and cachegrind, as their manuals describe them: KCachegrind, callgrind_annotate,
// cg_annotate and cg_diff read these.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/base/text.hpp"
#include "tally/report/profile_forms.hpp"
#include "tally/report/profile_sums.hpp"

namespace tally::report {
namespace {

/// The names that these tools give their events, and their readers know.
std::string event_name(std::string_view name) {
  name = name.substr(0, name.find(':'));
  for (const auto& [ours, theirs] : {std::pair{"instructions", "Ir"},
                                     {"loads", "Dr"},
                                     {"stores", "Dw"},
                                     {"branches-conditional", "Bc"},
                                     {"branches-indirect", "Bi"},
                                     {"L1-icache-load-misses", "I1mr"},
                                     {"L1-dcache-load-misses", "D1mr"},
                                     {"L1-dcache-store-misses", "D1mw"},
                                     {"LLC-load-misses", "DLmr"},
                                     {"LLC-store-misses", "DLmw"}})
    if (name == ours) return theirs;
  std::string made(name);
  std::replace(made.begin(), made.end(), ' ', '-');
  return made;
}

std::string event_names(const result::Profile& profile) {
  std::vector<std::string> names;
  for (const result::Event& event : profile.stat.events) names.push_back(event_name(event.total.name));
  return join(names, " ");
}

std::string numbers(const std::vector<std::int64_t>& counts) {
  std::string text;
  for (const std::int64_t count : counts) text += fmt::format(" {}", count);
  return text;
}

/// A file of source, or what stands for one.
std::string source_name(const result::Profile& profile, std::uint32_t source) {
  return source == 0 ? "???" : profile.sources[source];
}

/// What no instruction has, so that the sums are the totals.
struct Rest {
  const char* name;
  const std::vector<std::int64_t>& counts;
  bool any() const {
    return std::any_of(counts.begin(), counts.end(), [](std::int64_t n) { return n != 0; });
  }
};
std::vector<Rest> rests(const result::Profile& profile) {
  std::vector<Rest> all;
  for (const Rest& rest :
       {Rest{"[elements of string instructions]", profile.repeated}, Rest{"[not at any place]", profile.unplaced}})
    if (rest.any()) all.push_back(rest);
  return all;
}

std::string totals(const result::Profile& profile) {
  std::vector<std::int64_t> all;
  for (const result::Event& event : profile.stat.events) all.push_back(event.total.count.value.value_or(0));
  return numbers(all);
}

/// Calls of a function by their instructions and where they led, of all threads and stacks.
struct Arc {
  std::uint64_t site;
  std::uint32_t callee;
  auto operator<=>(const Arc&) const = default;
};
struct ArcCounts {
  std::uint32_t source, line;
  std::uint64_t target;
  std::int64_t calls = 0;
  std::vector<std::int64_t> inclusive;
};
using Arcs = std::map<std::uint32_t, std::map<Arc, ArcCounts>>;  // by the caller

Arcs arcs_of(const result::Profile& profile) {
  Arcs arcs;
  const std::size_t events = profile.event_count();
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    ArcCounts& arc = arcs[call.caller][{call.site, call.callee}];
    arc.source = call.source;
    arc.line = call.line;
    arc.target = call.target;
    arc.calls += call.calls;
    arc.inclusive.resize(events);
    // What is executed already has the counts of what it calls in its own.
    for (std::size_t e = 0; e < events && !call.recursive; ++e) arc.inclusive[e] += profile.inclusive[i * events + e];
  }
  return arcs;
}

/// Names that are written once and then by their numbers: "(3) main", "(3)".
class Numbered {
 public:
  std::string of(std::uint64_t key, const std::string& name) {
    const auto [place, is_new] = numbers_.try_emplace({key, name}, numbers_.size() + 1);
    return is_new ? fmt::format("({}) {}", place->second, name) : fmt::format("({})", place->second);
  }

 private:
  std::map<std::pair<std::uint64_t, std::string>, std::size_t> numbers_;
};

}  // namespace

std::string profile_callgrind(const result::Profile& profile, const ProfileStyle&) {
  std::string text = fmt::format(
      "# callgrind format\nversion: 1\ncreator: tally\ncmd: {}\npositions: instr line\nevents: {}\nsummary:{}\n",
      join(profile.stat.command, " "), event_names(profile), totals(profile));
  // Threads are added up: by function, then by address.
  std::vector<std::size_t> order(profile.rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto &x = profile.rows[a], &y = profile.rows[b];
    return x.function != y.function ? x.function < y.function : x.address < y.address;
  });
  Numbered objects, sources, functions;
  const Arcs arcs = arcs_of(profile);
  std::uint32_t function = ~0u, source = ~0u;
  std::vector<bool> has_rows(profile.functions.size());
  const auto begin = [&](std::uint32_t which) {
    const result::ProfileFunction& f = profile.functions[which];
    function = which;
    has_rows[which] = true;
    source = f.source;
    text += fmt::format("\nob={}\nfl={}\nfn={}\n", objects.of(0, profile.objects[f.object].name),
                        sources.of(0, source_name(profile, source)), functions.of(which, f.name));
  };
  const auto add_calls = [&] {
    const auto from = arcs.find(function);
    if (from == arcs.end()) return;
    for (const auto& [arc, counts] : from->second) {
      const result::ProfileFunction& callee = profile.functions[arc.callee];
      if (counts.source != source) {
        source = counts.source;
        text += fmt::format("fi={}\n", sources.of(0, source_name(profile, source)));
      }
      text += fmt::format("cob={}\ncfi={}\ncfn={}\ncalls={} {:#x} {}\n{:#x} {}{}\n",
                          objects.of(0, profile.objects[callee.object].name),
                          sources.of(0, source_name(profile, callee.source)), functions.of(arc.callee, callee.name),
                          std::max<std::int64_t>(counts.calls, 1),  // samples know none, and readers leave 0 out
                          counts.target, callee.line, arc.site, counts.line, numbers(counts.inclusive));
    }
  };
  for (std::size_t i = 0; i < order.size();) {
    const result::ProfileRow& row = profile.rows[order[i]];
    if (row.function != function) {
      if (i != 0) add_calls();
      begin(row.function);
    }
    if (row.source != source) {
      source = row.source;
      text += fmt::format("fi={}\n", sources.of(0, source_name(profile, source)));
    }
    std::vector<std::int64_t> counts(profile.event_count());
    std::size_t next = i;
    for (; next < order.size(); ++next) {
      const result::ProfileRow& same = profile.rows[order[next]];
      if (same.function != row.function || same.address != row.address) break;
      for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(order[next], e);
    }
    text += fmt::format("{:#x} {}{}\n", row.address, row.line, numbers(counts));
    i = next;
  }
  if (!order.empty()) add_calls();
  // Samples may have met nothing of a function but its calls.
  for (const auto& [caller, calls] : arcs) {
    if (has_rows[caller]) continue;
    begin(caller);
    add_calls();
  }
  for (const Rest& rest : rests(profile))
    text += fmt::format("\nob={}\nfl={}\nfn={}\n0x0 0{}\n", objects.of(0, "???"), sources.of(0, "???"),
                        functions.of(~0ull, rest.name), numbers(rest.counts));
  return text + "\ntotals:" + totals(profile) + "\n";
}

std::string profile_cachegrind(const result::Profile& profile, const ProfileStyle&) {
  // By file of source and function, each line once.
  std::map<std::string, std::map<std::string, std::map<std::uint32_t, std::vector<std::int64_t>>>> files;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    const result::ProfileFunction& f = profile.functions[row.function];
    // A section is no function: of which file it is tells them apart.
    const std::string name =
        row.source == 0 ? fmt::format("{} ({})", f.name, file_name(profile.objects[f.object].name)) : f.name;
    std::vector<std::int64_t>& counts = files[source_name(profile, row.source)][name][row.line];
    counts.resize(profile.event_count());
    for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(i, e);
  }
  std::string text =
      fmt::format("desc: tally profile\ncmd: {}\nevents: {}\n", join(profile.stat.command, " "), event_names(profile));
  for (const auto& [file, functions] : files) {
    text += fmt::format("fl={}\n", file);
    for (const auto& [function, lines] : functions) {
      text += fmt::format("fn={}\n", function);
      for (const auto& [line, counts] : lines) text += fmt::format("{}{}\n", line, numbers(counts));
    }
  }
  for (const Rest& rest : rests(profile)) text += fmt::format("fl=???\nfn={}\n0{}\n", rest.name, numbers(rest.counts));
  return text + "summary:" + totals(profile) + "\n";
}

}  // namespace tally::report
