// Profiles for BOLT, LLVM's optimizer of linked files, which otherwise come from the branch records of a PMU. "fdata"
// is the profile itself (llvm-bolt, Profile/DataReader.h), with functions by name. perf2bolt makes it from branches and
// ranges of code by address (Profile/DataAggregator.h, "pre-aggregated").
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/profile_forms.hpp"

namespace tally::output {
namespace {

using result::ProfileBranch;

const result::LinkedFunction* linked_at(const result::ProfileObject& object, std::uint64_t address) {
  const auto after = std::upper_bound(object.linked.begin(), object.linked.end(), address,
                                      [](std::uint64_t at, const auto& function) { return at < function.address; });
  if (after == object.linked.begin() || address - std::prev(after)->address >= std::prev(after)->bytes) return nullptr;
  return &*std::prev(after);
}

/// A location: whether it is in a function, the function, and the offset in it. Spaces separate the fields.
std::string location(const result::ProfileObject& object, std::uint64_t address) {
  const result::LinkedFunction* const function =
      address == ProfileBranch::unknown ? nullptr : linked_at(object, address);
  if (function == nullptr || function->name.find('\n') != std::string::npos) return "0 [unknown] 0";
  std::string name;
  for (const char c : function->name) {
    if (c == ' ' || c == '\\') name += '\\';
    name += c;
  }
  return fmt::format("1 {} {:x}", name, address - function->address);
}

/// Code that was executed from one branch's target to the next branch.
struct CodeRange {
  std::uint64_t begin, end;
  bool is_returned;  ///< it begins after a call
  auto operator<=>(const CodeRange&) const = default;
};

/// Divides the executed code of an object into ranges that begin and end as often as its branches do. How beginnings
/// and ends are paired does not matter to the counts between them.
std::map<CodeRange, std::int64_t> ranges_of(const result::ProfileObject& object,
                                            const std::vector<const ProfileBranch*>& branches) {
  struct Edge {
    std::int64_t entered = 0, returned = 0, left = 0;
    bool passes = false;
  };
  std::map<std::uint64_t, Edge> edges;
  for (const ProfileBranch* const branch : branches) {
    if (branch->kind == ProfileBranch::Kind::falls) continue;
    if (branch->kind == ProfileBranch::Kind::not_taken) {
      edges[branch->from].passes = true;
      continue;
    }
    if (branch->to != ProfileBranch::unknown)
      (branch->kind == ProfileBranch::Kind::returns ? edges[branch->to].returned : edges[branch->to].entered) +=
          branch->count;
    if (branch->kind == ProfileBranch::Kind::taken && branch->from != ProfileBranch::unknown)
      edges[branch->from].left += branch->count;
  }
  std::map<CodeRange, std::int64_t> ranges;
  std::vector<std::tuple<std::uint64_t, bool, std::int64_t>> open;
  const result::LinkedFunction* function = nullptr;
  for (const auto& [address, edge] : edges) {
    // Where functions are known, no range goes on in the next one.
    if (function == nullptr || address - function->address >= function->bytes) {
      function = linked_at(object, address);
      open.clear();
    }
    if (edge.entered > 0) open.emplace_back(address, false, edge.entered);
    if (edge.returned > 0) open.emplace_back(address, true, edge.returned);
    for (std::int64_t left = edge.left; left > 0 && !open.empty();) {
      auto& [begin, is_returned, count] = open.back();
      const std::int64_t ended = std::min(left, count);
      ranges[{begin, address, is_returned}] += ended;
      left -= ended;
      count -= ended;
      if (count == 0) open.pop_back();
    }
    if (edge.left > 0 && !edge.passes) open.clear();
  }
  return ranges;
}

}  // namespace

Result<std::uint32_t> find_object(const result::Profile& profile, const std::string& name) {
  const auto matches = [&](const std::string& path) {
    return path == name || (name.find('/') == std::string::npos && path.ends_with("/" + name));
  };
  std::vector<std::string> paths;
  std::uint32_t match = 0;
  for (std::uint32_t i = 0; i < profile.objects.size(); ++i) {
    if (!matches(profile.objects[i].name)) continue;
    paths.push_back(printable(profile.objects[i].name));
    match = i;
  }
  if (paths.empty())
    return fail(Code::bad_usage, fmt::format("the program executed no code of {}", printable(name)),
                "--object NAME selects one of the executed programs and libraries");
  if (paths.size() > 1)
    return fail(Code::bad_usage,
                fmt::format("{} files have the name {}: {}", paths.size(), printable(name), join(paths, ", ")),
                "--object PATH selects one of them");
  const result::ProfileObject& object = profile.objects[match];
  if (!object.why_nameless.empty())
    return fail(Code::cannot_measure, fmt::format("{}: {}", object.name, object.why_nameless));
  if (object.linked.empty())
    return fail(Code::cannot_measure,
                fmt::format("{} has no symbols, by which this format names functions", object.name),
                "link it without -s, and do not strip it");
  return match;
}

std::string profile_bolt(const result::Profile& profile, const ProfileStyle& style) {
  const result::ProfileObject& object = profile.objects[style.object];
  std::string text;
  for (const ProfileBranch& branch : profile.branches) {
    // BOLT does not read returns.
    if (branch.object != style.object || branch.kind == ProfileBranch::Kind::returns || branch.count == 0) continue;
    if (linked_at(object, branch.to) == nullptr) continue;
    text += fmt::format("{} {} {} {}\n", location(object, branch.from), location(object, branch.to),
                        branch.mispredicted, branch.count);
  }
  return text;
}

std::string profile_bolt_preaggregated(const result::Profile& profile, const ProfileStyle& style) {
  std::string text;
  for (std::uint32_t i = 0; i < profile.objects.size(); ++i) {
    const result::ProfileObject& object = profile.objects[i];
    // The file that is optimized needs no name.
    const std::string name = i == style.object ? "" : object.build_id + ":";
    if (name == ":") continue;
    std::vector<const ProfileBranch*> branches;
    for (const ProfileBranch& branch : profile.branches)
      if (branch.object == i && branch.count > 0) branches.push_back(&branch);
    for (const ProfileBranch* const branch : branches)
      if (branch->kind == ProfileBranch::Kind::taken && branch->to != ProfileBranch::unknown)
        text += branch->from == ProfileBranch::unknown
                    ? fmt::format("B X:0 {}{:x} {} {}\n", name, branch->to, branch->count, branch->mispredicted)
                    : fmt::format("B {}{:x} {}{:x} {} {}\n", name, branch->from, name, branch->to, branch->count,
                                  branch->mispredicted);
    for (const auto& [range, count] : ranges_of(object, branches))
      text += fmt::format("{} {}{:x} {}{:x} {}\n", range.is_returned ? "f" : "F", name, range.begin, name, range.end,
                          count);
  }
  return text;
}

}  // namespace tally::output
