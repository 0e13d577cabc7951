// The output files of callgrind and cachegrind, as described in their manuals, for KCachegrind, callgrind_annotate,
// cg_annotate and cg_diff.
#include "tally/output/data/valgrind_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/python_functions.hpp"
#include "tally/output/analysis/tail_calls.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/result/string_elements.hpp"

namespace tally::output {
namespace {

/// The event names of these tools, which their readers expect.
std::string event_name(const std::string& name) {
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
  std::string made = name;
  std::replace(made.begin(), made.end(), ' ', '-');
  return made;
}

std::string event_names(const result::Profile& profile) {
  std::vector<std::string> names;
  for (const result::Event& event : profile.stat.events) names.push_back(event_name(event.total.name.base));
  return join(names, " ");
}

std::string numbers(const std::vector<std::int64_t>& counts) {
  std::string text;
  for (const std::int64_t count : counts) text += fmt::format(" {}", count);
  return text;
}

/// Events of Python functions, which have columns of their own: what a Python function counted, functions of the
/// interpreter counted as well, so that sums of one column would count it twice.
std::vector<std::string> python_events(const result::Profile& profile) {
  std::vector<std::string> names;
  for (const result::Event& event : profile.stat.events)
    if (!profile.python.empty()) names.push_back("Py" + event_name(event.total.name.base));
  return names;
}

/// The path of a source file; "???", which callgrind writes, if it is unknown.
std::string source_name(const result::Profile& profile, std::uint32_t source) {
  return source == 0 ? "???" : profile.sources[source];
}

/// Counts without an instruction, so that sums equal the totals.
struct UnattributedCounts {
  const char* name;
  const std::vector<std::int64_t>& counts;
  bool any() const {
    return std::any_of(counts.begin(), counts.end(), [](std::int64_t n) { return n != 0; });
  }
};
std::vector<UnattributedCounts> unattributed_counts(const result::Profile& profile) {
  std::vector<UnattributedCounts> all;
  for (const UnattributedCounts& unattributed : {UnattributedCounts{result::string_elements, profile.repeated},
                                                 UnattributedCounts{"[not at any place]", profile.unplaced}})
    if (unattributed.any()) all.push_back(unattributed);
  return all;
}

std::vector<std::int64_t> totals(const result::Profile& profile) {
  std::vector<std::int64_t> all;
  for (const result::Event& event : profile.stat.events) all.push_back(event.total.count.value.value_or(0));
  return all;
}

/// Calls between functions by call site and target, for all threads and stacks.
struct Arc {
  std::uint32_t source, line;
  std::uint64_t site;  // 0 if instructions are not separate
  std::uint32_t callee;
  auto operator<=>(const Arc&) const = default;
};
struct ArcCounts {
  std::uint64_t target;
  std::int64_t calls = 0;
  bool knows_calls = false;
  std::vector<std::int64_t> inclusive;
  /// 0 for a call that another part made. An unknown number, of samples and jumps, is 1: callgrind_annotate ignores 0.
  std::int64_t written_calls() const { return knows_calls ? calls : std::max<std::int64_t>(calls, 1); }
};
using Arcs = std::map<std::uint32_t, std::map<Arc, ArcCounts>>;  // by caller

/// Each function is in a stack once, with its innermost frame; calls lead to the next remaining frame. A function that
/// jumped to another one counts as its caller. Readers add up either the cost of a function's calls or the cost of
/// calls of it; both equal its inclusive counts, even for mutual recursion.
Arcs arcs_of(const result::Profile& profile, bool by_instruction) {
  Arcs arcs;
  const std::size_t events = profile.event_count();
  const auto arc_of = [&](const result::ProfileCall& call, std::uint32_t callee) -> ArcCounts& {
    ArcCounts& arc = arcs[call.caller][{call.source, call.line, by_instruction ? call.site : 0, callee}];
    arc.target = callee == call.callee ? call.target : profile.functions[callee].address;
    arc.inclusive.resize(events);
    return arc;
  };
  const auto jump_of = [&](std::uint32_t from, std::uint32_t to) -> ArcCounts& {
    const result::ProfileFunction& f = profile.functions[from];
    ArcCounts& arc = arcs[from][{f.source, f.line, by_instruction ? f.address : 0, to}];
    arc.target = profile.functions[to].address;
    return arc;
  };
  const auto add = [&](ArcCounts& arc, const std::vector<std::int64_t>& counts) {
    arc.inclusive.resize(events);
    for (std::size_t e = 0; e < events; ++e) arc.inclusive[e] += counts[e];
  };
  for (const result::ProfileCall& call : profile.calls) {
    ArcCounts& arc = arc_of(call, call.callee);
    arc.calls += call.calls;
    arc.knows_calls = !profile.is_sampled();
  }
  std::vector<std::size_t> seen(profile.functions.size());  // number of the walk that last visited the function
  std::size_t visit = 0;
  each_self(profile, [&](std::size_t i, std::uint32_t function, const std::vector<std::int64_t>& self) {
    std::uint32_t next = function;
    seen[function] = ++visit;
    for (std::size_t at = i; at != result::CodeCall::no_parent; at = profile.calls[at].parent) {
      const result::ProfileCall& call = profile.calls[at];
      if (std::exchange(seen[call.callee], visit) != visit) {
        add(jump_of(call.callee, next), self);
        next = call.callee;
      }
      if (std::exchange(seen[call.caller], visit) == visit) continue;
      add(arc_of(call, next), self);
      next = call.caller;
    }
  });
  return arcs;
}

/// Writes a name once, and then its number: "(3) main", "(3)". Without compression, always the name.
class NameCompressor {
 public:
  explicit NameCompressor(bool compresses) : compresses_(compresses) {}

  std::string of(std::uint64_t key, const std::string& name) {
    if (!compresses_) return name;
    const auto [location, is_new] = numbers_.try_emplace({key, name}, numbers_.size() + 1);
    return is_new ? fmt::format("({}) {}", location->second, name) : fmt::format("({})", location->second);
  }

 private:
  bool compresses_;
  std::map<std::pair<std::uint64_t, std::string>, std::size_t> numbers_;
};

/// The lines before the positions.
std::string callgrind_head(const result::Profile& profile, const CallgrindLayout& layout) {
  std::string text = fmt::format("# callgrind format\nversion: 1\ncreator: {}\n", layout.creator);
  if (layout.pid != 0) text += fmt::format("pid: {}\n", layout.pid);
  text += fmt::format("cmd: {}\n", join(profile.stat.command, " "));
  if (layout.part != 0) text += fmt::format("part: {}\n", layout.part);
  if (layout.thread != 0) text += fmt::format("thread: {}\n", layout.thread);
  for (const std::string& description : layout.descriptions) text += fmt::format("desc: {}\n", description);
  return text;
}

}  // namespace

std::string callgrind_file(const result::Profile& profile, const CallgrindLayout& layout) {
  const bool by_instruction = layout.instructions, by_line = layout.lines || !layout.instructions;
  const auto position = [&](std::uint64_t address, std::uint32_t line) {
    if (!by_instruction) return std::to_string(line);
    return by_line ? fmt::format("{:#x} {}", address, line) : fmt::format("{:#x}", address);
  };
  std::string text = callgrind_head(profile, layout);
  const std::vector<std::string> of_python = python_events(profile);
  for (const std::string& event : of_python)
    text += fmt::format("event: {} : {} by Python function\n", event, event.substr(2));
  std::vector<std::int64_t> sums = totals(profile);
  // With those outside Python functions, the same.
  for (std::size_t e = 0; e < of_python.size(); ++e) sums.push_back(sums[e]);
  text += fmt::format("positions: {}\nevents: {}{}{}\nsummary:{}\n",
                      !by_instruction ? "line"
                      : by_line       ? "instr line"
                                      : "instr",
                      event_names(profile), of_python.empty() ? "" : " ", join(of_python, " "), numbers(sums));
  // Threads are added up: by function, then by location; locations in the function's own file come first.
  using Location =
      std::tuple<bool, std::uint32_t, std::uint32_t, std::uint64_t>;  // is in another file; file, line, address
  std::map<std::uint32_t, std::map<Location, std::vector<std::int64_t>>> functions;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    std::vector<std::int64_t>& counts = functions[row.function][{
        row.source != profile.functions[row.function].source, row.source, row.line, by_instruction ? row.address : 0}];
    counts.resize(profile.event_count());
    for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(i, e);
  }
  const Arcs arcs = arcs_of(profile, by_instruction);
  for (const auto& [caller, calls] : arcs) functions[caller];  // samples may only contain its calls
  const std::vector<std::string> object_names = output::object_names(profile, true);
  NameCompressor objects(layout.compressed), sources(layout.compressed), names(layout.compressed);
  for (const auto& [which, locations] : functions) {
    const result::ProfileFunction& f = profile.functions[which];
    std::uint32_t source = f.source;
    text += fmt::format("\nob={}\nfl={}\nfn={}\n", objects.of(0, object_names[f.object]),
                        sources.of(0, source_name(profile, source)), names.of(which, f.name));
    const auto go_to = [&](std::uint32_t to) {
      if (to == source) return;
      source = to;
      text += fmt::format("fi={}\n", sources.of(0, source_name(profile, source)));
    };
    for (const auto& [location, counts] : locations) {
      const auto& [is_other, file, line, address] = location;
      go_to(file);
      text += position(address, line) + numbers(counts) + "\n";
    }
    const auto from = arcs.find(which);
    if (from == arcs.end()) continue;
    for (const auto& [arc, counts] : from->second) {
      const result::ProfileFunction& callee = profile.functions[arc.callee];
      go_to(arc.source);
      text += fmt::format("cob={}\ncfi={}\ncfn={}\ncalls={} {}\n{}{}\n", objects.of(0, object_names[callee.object]),
                          sources.of(0, source_name(profile, callee.source)), names.of(arc.callee, callee.name),
                          counts.written_calls(), position(counts.target, callee.line), position(arc.site, arc.line),
                          numbers(counts.inclusive));
    }
  }
  for (const UnattributedCounts& unattributed : unattributed_counts(profile))
    text += fmt::format("\nob={}\nfl={}\nfn={}\n{}{}\n", objects.of(0, "???"), sources.of(0, "???"),
                        names.of(~0ull, unattributed.name), position(0, 0), numbers(unattributed.counts));
  // Each with zeros in the columns of the other functions.
  const std::vector<std::int64_t> zeros(of_python.size());
  const auto add_python = [&](const std::string& file, const std::string& name, std::uint32_t line,
                              const std::vector<std::int64_t>& counts) {
    text += fmt::format("\nob={}\nfl={}\nfn={}\n{}{}{}\n", objects.of(0, "Python"), sources.of(0, file),
                        names.of(~1ull, name), position(0, line), numbers(zeros), numbers(counts));
  };
  for (const result::PythonFunction& f : profile.python)
    add_python(printable(f.file), printable(f.name), f.line, f.self);
  if (!of_python.empty()) add_python("???", outside_python_name, 0, outside_python(profile));
  return text + "\ntotals:" + numbers(sums) + "\n";
}

// By line, as valgrind does: many readers do not support instructions, and interpret addresses as lines.
std::string profile_callgrind(const result::Profile& profile, const ProfileStyle& style) {
  CallgrindLayout layout;
  layout.instructions = style.instructions;
  if (profile.parts.size() == 1) {
    const result::CodePart& part = profile.parts.front();
    layout.pid = part.pid;
    layout.part = static_cast<int>(part.number);
    layout.descriptions = {"Trigger: " + part.trigger};
  }
  return callgrind_file(profile, layout);
}

std::string cachegrind_file(const result::Profile& profile, const std::vector<std::string>& descriptions) {
  // By source file and function, each line once.
  const std::vector<std::string> objects = object_names(profile, false);
  std::map<std::string, std::map<std::string, std::map<std::uint32_t, std::vector<std::int64_t>>>> files;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    const result::ProfileFunction& f = profile.functions[row.function];
    // Sections are not functions: the file's name distinguishes them.
    const std::string name = row.source == 0 ? fmt::format("{} ({})", f.name, objects[f.object]) : f.name;
    std::vector<std::int64_t>& counts = files[source_name(profile, row.source)][name][row.line];
    counts.resize(profile.event_count());
    for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(i, e);
  }
  std::string text;
  for (const std::string& description : descriptions) text += fmt::format("desc: {}\n", description);
  text += fmt::format("cmd: {}\nevents: {}\n", join(profile.stat.command, " "), event_names(profile));
  for (const auto& [file, functions] : files) {
    text += fmt::format("fl={}\n", file);
    for (const auto& [function, lines] : functions) {
      text += fmt::format("fn={}\n", function);
      for (const auto& [line, counts] : lines) text += fmt::format("{}{}\n", line, numbers(counts));
    }
  }
  for (const UnattributedCounts& unattributed : unattributed_counts(profile))
    text += fmt::format("fl=???\nfn={}\n0{}\n", unattributed.name, numbers(unattributed.counts));
  return text + "summary:" + numbers(totals(profile)) + "\n";
}

std::string profile_cachegrind(const result::Profile& profile, const ProfileStyle&) {
  return cachegrind_file(profile, {"tally profile"});
}

}  // namespace tally::output
