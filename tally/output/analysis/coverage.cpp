#include "tally/output/analysis/coverage.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "tally/core/base/clone_name.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/runtime_code.hpp"

namespace tally::output {
namespace {

bool matches_any(const std::vector<std::string>& patterns, const std::string& path) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || fnmatch(("*/" + pattern).c_str(), path.c_str(), 0) == 0;
  });
}

/// Files of the system are not what is tested. Images of containers build programs below /usr/src.
bool is_systems(const std::string& path) {
  return (path.starts_with("/usr/") && !path.starts_with("/usr/src/")) || path.starts_with("/lib");
}

/// Headers and runtimes; "/usr/local/go/src/": of Go's releases.
bool is_systems_source(const std::string& path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") || path.starts_with("/usr/local/go/src/") ||
         is_rust_source(path);
}

bool is_selected(const CoverageSelection& selection, const result::ProfileObject& object, const std::string& path) {
  if (selection.include.empty() && (is_systems(object.name) || is_systems_source(path))) return false;
  return (selection.include.empty() || matches_any(selection.include, path)) && !matches_any(selection.exclude, path);
}

// How often each inlined copy of a function was executed: its instruction with the lowest address, or another if that
// one belongs to the code around it.
std::map<std::uint32_t, std::int64_t> executions_of_copies(const result::Profile& profile) {
  std::map<std::uint32_t, std::map<std::uint64_t, std::int64_t>> instructions;
  for (const result::ProfileRow& row : profile.rows)
    for (std::uint32_t i = row.inlined; i != result::ProfileInline::none; i = profile.inlines[i].parent)
      instructions[i][row.address] += row.executions;
  std::map<std::uint32_t, std::int64_t> executions;
  for (const auto& [copy, counts] : instructions) {
    const auto first = std::find_if(counts.begin(), counts.end(), [](const auto& count) { return count.second > 0; });
    executions[copy] = first == counts.end() ? 0 : first->second;
  }
  return executions;
}

// A part that the compiler moved away is not a function of the source.
bool is_moved_part(const result::ProfileFunction& function) {
  return clone_name(function.name).kind == CloneKind::fragment;
}

void add_functions(const result::Profile& profile, std::vector<CoveredFile*>& files) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, CoveredFunction> calls;
  const auto add = [&](const result::ProfileFunction& function, std::int64_t count) {
    if (function.line == 0 || files[function.source] == nullptr || is_moved_part(function)) return;
    const std::string& linker_name = function.linker_name.empty() ? function.name : function.linker_name;
    // Destructors and generic functions of Rust are compiled several times: one function of the source.
    CoveredFunction& covered = calls[{function.source, function.line, function.name}];
    const bool is_first = covered.linker_name.empty() || linker_name < covered.linker_name;
    covered = {function.name, function.line, covered.calls + count, is_first ? linker_name : covered.linker_name};
  };
  for (const result::ProfileFunction& function : profile.functions) add(function, function.entered);
  for (const auto& [copy, count] : executions_of_copies(profile))
    add(profile.functions[profile.inlines[copy].function], count);
  for (const auto& [key, covered] : calls) files[std::get<0>(key)]->functions.push_back(covered);
}

void add_branches(const result::Profile& profile, std::vector<CoveredFile*>& files) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::uint32_t, std::uint32_t>> lines;
  for (const result::ProfileRow& row : profile.rows)
    if (row.line != 0 && files[row.source] != nullptr)
      lines[{profile.functions[row.function].object, row.address}] = {row.source, row.line};
  struct Outcomes {
    std::int64_t taken = 0, not_taken = 0;
    bool is_conditional = false;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, Outcomes> branches;
  for (const result::ProfileBranch& branch : profile.branches) {
    Outcomes& outcomes = branches[{branch.object, branch.from}];
    const bool falls = branch.kind == result::ProfileBranch::Kind::not_taken;
    (falls ? outcomes.not_taken : outcomes.taken) += branch.count;
    outcomes.is_conditional |= falls;
  }
  for (const auto& [site, outcomes] : branches) {
    const auto line = lines.find(site);
    if (!outcomes.is_conditional || line == lines.end()) continue;
    BranchOutcomes& counts = files[line->second.first]->branches[line->second.second];
    counts.push_back(outcomes.taken);
    counts.push_back(outcomes.not_taken);
  }
}

/// Returns the name of the program if it should have lines and has none.
std::string program_without_lines(const result::Profile& profile, const std::string& program) {
  for (std::uint32_t i = 0; i < profile.objects.size(); ++i) {
    const std::string& path = profile.objects[i].name;
    if (path != program && (program.find('/') != std::string::npos || !path.ends_with("/" + program))) continue;
    const bool has_lines = std::any_of(profile.lines_with_code.begin(), profile.lines_with_code.end(),
                                       [i](const result::LineWithCode& line) { return line.object == i; });
    if (!has_lines && !is_systems(path)) return path.substr(path.rfind('/') + 1);
  }
  return "";
}

}  // namespace

std::size_t CoveredFile::executed_lines() const {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.second > 0; }));
}

std::size_t CoveredFile::outcomes() const {
  std::size_t sum = 0;
  for (const auto& [line, counts] : branches) sum += counts.size();
  return sum;
}

std::size_t CoveredFile::seen_outcomes() const {
  std::ptrdiff_t sum = 0;
  for (const auto& [line, counts] : branches)
    sum += std::count_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; });
  return static_cast<std::size_t>(sum);
}

std::map<std::string, CoveredFile> coverage_of(const result::Profile& profile, const CoverageSelection& selection) {
  std::map<std::string, CoveredFile> covered;
  std::vector<CoveredFile*> files(profile.sources.size());
  for (const result::LineWithCode& line : profile.lines_with_code) {
    if (!is_selected(selection, profile.objects[line.object], profile.sources[line.source])) continue;
    files[line.source] = &covered[profile.sources[line.source]];
    files[line.source]->lines.try_emplace(line.line, 0);
  }
  // All threads together, then the instructions of each copy of a line.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>, std::int64_t>
      executions;
  for (const result::ProfileRow& row : profile.rows)
    if (row.line != 0 && files[row.source] != nullptr)
      executions[{row.source, row.line, row.function, row.inlined, row.address}] += row.executions;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::int64_t> copies;
  for (const auto& [key, count] : executions) {
    const auto& [source, line, function, inlined, address] = key;
    std::int64_t& most = copies[{source, line, function, inlined}];
    most = std::max(most, count);
  }
  for (const auto& [key, count] : copies) files[std::get<0>(key)]->lines[std::get<1>(key)] += count;
  add_functions(profile, files);
  add_branches(profile, files);
  return covered;
}

std::set<std::string> newer_sources(const result::Profile& profile, const ProfileStyle& style) {
  std::set<std::string> newer;
  std::set<std::pair<std::uint32_t, std::uint32_t>> read;
  for (const result::LineWithCode& line : profile.lines_with_code) {
    const std::string& path = profile.sources[line.source];
    const result::ProfileObject& object = profile.objects[line.object];
    if (!style.source || !read.emplace(line.source, line.object).second || !is_selected(style.coverage, object, path))
      continue;
    if (const auto source = style.source(path, object.name); source && source->is_newer) newer.insert(path);
  }
  return newer;
}

Result<double> parse_coverage_limit(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find('%'));
  double percent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  const bool is_whole = end == digits.data() + digits.size() && text.size() - digits.size() <= 1;
  if (error != std::errc{} || !is_whole || !(percent >= 0 && percent <= 100))
    return fail(Code::bad_usage, fmt::format("--fail-under {}: not a percentage", printable(text)),
                "use a number from 0 to 100, such as 80%");
  if (percent > 0 && percent <= 1 && digits.size() == text.size())
    return fail(Code::bad_usage, fmt::format("--fail-under {}: a share or a percentage?", text),
                fmt::format("write {:g}% or {:g}%", 100 * percent, percent));
  return percent;
}

Result<CoverageCheck> check_coverage(const result::Profile& profile, const CoverageSelection& selection,
                                     std::optional<double> limit, const std::string& program) {
  CoverageCheck check;
  const std::string name = selection.include.empty() ? program_without_lines(profile, program) : "";
  if (!name.empty()) {
    const std::string why = fmt::format("{} has no source lines, so it is not in the coverage", printable(name));
    constexpr const char* hint = "compile it with -g and do not strip it, or select files with --include";
    if (limit) return fail(Code::cannot_measure, why, hint);
    check.notes = {why, hint};
  }
  std::size_t lines = 0, executed = 0;
  for (const auto& [path, file] : coverage_of(profile, selection)) {
    lines += file.lines.size();
    executed += file.executed_lines();
  }
  if (lines == 0)
    return fail(Code::cannot_measure, "no code has a source line in the selected files",
                "compile with -g, do not strip or rebuild the program, and check --include and --exclude");
  const double percent = 100.0 * static_cast<double>(executed) / static_cast<double>(lines);
  check.passes = !limit || percent >= *limit;
  if (!check.passes)
    check.notes.push_back(fmt::format("{:.2f} % of the lines were executed, less than {} %", percent, *limit));
  return check;
}

}  // namespace tally::output
