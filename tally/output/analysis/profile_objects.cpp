#include "tally/output/analysis/profile_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {

std::vector<std::string> object_names(const result::Profile& profile, bool whole_paths) {
  constexpr std::size_t shown_digits = 8;
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::size_t>> objects;  // files by name; other memory is called "[…]"
  for (const result::ProfileObject& object : profile.objects) {
    names.push_back(whole_paths ? object.name : file_name(object.name));
    if (!names.back().starts_with('[')) objects[names.back()].push_back(names.size() - 1);
  }
  for (const auto& [name, all] : objects) {
    if (all.size() == 1) continue;
    std::set<std::string> marks;
    for (const std::size_t o : all) marks.insert(profile.objects[o].build_id.substr(0, shown_digits));
    const bool is_enough = marks.size() == all.size() && !marks.begin()->empty();
    for (std::size_t i = 0; i < all.size(); ++i)
      names[all[i]] += is_enough ? fmt::format(" [{}]", profile.objects[all[i]].build_id.substr(0, shown_digits))
                                 : fmt::format(" #{}", i + 1);
  }
  return names;
}

/// The option with which a run-time compiler, which an object file reveals, names the code that it generates.
std::string naming_option(const result::Profile& profile) {
  static constexpr std::pair<std::string_view, std::string_view> options[] = {
      {"node", "`node --perf-basic-prof` names its functions"},
      {"libnode.so", "`node --perf-basic-prof` names its functions"},
      {"libjvm.so",
       "`jcmd PID Compiler.perfmap`, or java's -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, names its "
       "methods"},
      {"libcoreclr.so", "DOTNET_PerfMapEnabled=1 names its methods"},
      {"libruby", "`ruby --yjit --yjit-perf` names its methods"},
      {"libluajit", "`luajit -lperfmap` names its functions (docs/guides/profiling.md)"}};
  for (const result::ProfileObject& object : profile.objects)
    for (const auto& [file, option] : options)
      if (file_name(object.name) == file || (file.starts_with("lib") && file_name(object.name).starts_with(file)))
        return "; " + std::string(option);
  return "";
}

std::vector<std::string> nameless_lines(const result::Profile& profile) {
  // No explanation is needed if a process named the code that it generated.
  std::set<std::uint32_t> nameless;
  for (const result::ProfileRow& row : profile.rows) {
    const result::ProfileFunction& function = profile.functions[row.function];
    if (function.name == "[no name]") nameless.insert(function.object);
  }
  std::vector<std::string> lines;
  const std::vector<std::string> names = object_names(profile, false);
  for (const std::uint32_t o : nameless) {
    const result::ProfileObject& object = profile.objects[o];
    if (object.why_nameless.empty()) continue;
    // With the path, and the mark of the table.
    const std::string mark = names[o].substr(file_name(object.name).size());
    lines.push_back(fmt::format("{}{} has no function names: {}{}", object.name, mark, object.why_nameless,
                                object.name.starts_with('[') ? naming_option(profile) : ""));
  }
  return lines;
}

std::string unnamed_share_line(const result::Profile& profile) {
  constexpr double least_percent = 10;
  double all = 0, unnamed = 0, old = 0;
  std::map<std::string, double> files;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileFunction& function = profile.functions[profile.rows[i].function];
    const std::string file = file_name(profile.objects[function.object].name);
    const auto count = static_cast<double>(profile.count(i, 0));
    all += count;
    if (!function.name.starts_with(file + "+0x")) continue;
    unnamed += count;
    files[file] += count;
    if (function.name.ends_with(section_before_bolt)) old += count;
  }
  if (unnamed * 100 < all * least_percent || unnamed == 0) return "";
  const auto most = std::max_element(files.begin(), files.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  const bool is_program = !profile.stat.command.empty() && most->first == file_name(profile.stat.command.front());
  const char* const hint =
      old * 2 > unnamed
          ? "old copies of functions that BOLT moved; `nm` of the file before BOLT names their addresses, "
            "and llvm-bolt -skip-funcs=NAME excludes those that BOLT cannot move"
      : is_program ? "link it without -s and do not strip it; `tally stat --function` accepts the printed "
                     "addresses as names"
                   : "install its debug symbols (Debian: libc6-dbg, NAME-dbg or NAME-dbgsym), or use --debuginfod";
  return fmt::format("{:.0f} % of {} is in functions without names, most of it in {}: {}", 100 * unnamed / all,
                     profile.stat.events.front().total.name.text(), most->first, hint);
}

std::vector<std::string> unread_lines(const result::Profile& profile) {
  constexpr std::size_t most = 3;
  std::vector<std::string> lines;
  for (const result::ProfileObject& object : profile.objects) {
    for (std::size_t i = 0; i < object.unread.size() && i < most; ++i)
      lines.push_back(
          fmt::format("{}: debug information was not read, so inlined functions and lines may be missing: {}",
                      object.name, object.unread[i]));
    if (object.unread.size() > most)
      lines.push_back(fmt::format("{}: the same for {} more files", object.name, object.unread.size() - most));
  }
  return lines;
}

}  // namespace tally::output
