// Profiles by call stack, for flame graphs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

/// What each thread counted outside of recorded calls: in the function with which it began.
std::map<std::uint32_t, std::int64_t> beginnings(const result::Profile& profile) {
  std::map<std::uint32_t, std::int64_t> rest;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) rest[profile.rows[i].owner] += profile.count(i, 0);
  for (std::size_t i = 0; i < profile.calls.size(); ++i)
    rest[profile.calls[i].owner] -= profile.self[i * profile.event_count()];
  return rest;
}

/// The program's name, with the thread's name if it has one of its own.
std::string owner_name(const result::CodeOwner& owner) {
  constexpr std::size_t most_of_kernel = 15;  // length of a name
  const bool is_own = owner.tid != 0 && owner.tid != owner.pid && !owner.thread.empty() &&
                      owner.thread != owner.command.substr(0, most_of_kernel);
  return is_own ? fmt::format("{} ({})", owner.command, owner.thread) : owner.command;
}

/// The counts of each stack, with names from the outermost on; threads with the same name are merged.
std::map<std::vector<std::string>, std::int64_t> stacks_of(const result::Profile& profile, const ProfileStyle& style) {
  std::map<std::vector<std::string>, std::int64_t> stacks;
  for (const auto& [owner, count] : beginnings(profile)) stacks[{owner_name(profile.owners[owner])}] += count;
  const std::vector<std::string> functions = function_names(profile, style.whole_names);
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const std::int64_t own = profile.self[i * profile.event_count()];
    if (own == 0) continue;
    std::vector<std::string> names;
    for (std::uint32_t at = static_cast<std::uint32_t>(i); at != result::CodeCall::no_parent;
         at = profile.calls[at].parent)
      names.push_back(functions[profile.calls[at].callee]);
    names.push_back(owner_name(profile.owners[profile.calls[i].owner]));
    std::reverse(names.begin(), names.end());
    stacks[std::move(names)] += own;
  }
  std::erase_if(stacks, [](const auto& stack) { return stack.second <= 0; });
  return stacks;
}

}  // namespace

std::string profile_folded(const result::Profile& profile, const ProfileStyle& style) {
  std::map<std::string, std::int64_t> lines;
  for (const auto& [stack, count] : stacks_of(profile, style)) {
    std::vector<std::string> names = stack;
    for (std::string& name : names) std::replace(name.begin(), name.end(), ';', ':');
    lines[join(names, ";")] += count;
  }
  std::string text;
  for (const auto& [stack, count] : lines) text += fmt::format("{} {}\n", stack, count);
  return text;
}

std::string profile_speedscope(const result::Profile& profile, const ProfileStyle& style) {
  std::map<std::string, std::size_t> numbers;
  Json frames = Json::array(), samples = Json::array(), weights = Json::array();
  std::int64_t total = 0;
  for (const auto& [names, count] : stacks_of(profile, style)) {
    Json sample = Json::array();
    for (const std::string& name : names) {
      const auto [place, is_new] = numbers.try_emplace(name, numbers.size());
      if (is_new) frames.push_back({{"name", name}});
      sample.push_back(place->second);
    }
    samples.push_back(std::move(sample));
    weights.push_back(count);
    total += count;
  }
  Json one;
  one["type"] = "sampled";
  one["name"] = profile.stat.events.front().total.name.text();
  one["unit"] = "none";
  one["startValue"] = 0;
  one["endValue"] = total;
  one["samples"] = std::move(samples);
  one["weights"] = std::move(weights);
  Json json;
  json["$schema"] = "https://www.speedscope.app/file-format-schema.json";
  json["exporter"] = "tally";
  json["name"] = join(profile.stat.command, " ");
  json["shared"]["frames"] = std::move(frames);
  json["profiles"] = Json::array({std::move(one)});
  return json_text(json) + "\n";
}

std::vector<std::int64_t> inclusive_of_functions(const result::Profile& profile) {
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> sums(profile.functions.size() * events);
  // A function that calls itself indirectly, at another address, would be counted twice.
  const auto is_within = [&](std::uint32_t at, std::uint32_t function) {
    for (; at != result::CodeCall::no_parent; at = profile.calls[at].parent)
      if (profile.calls[at].callee == function) return true;
    return false;
  };
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    if (call.recursive || is_within(call.parent, call.callee)) continue;
    for (std::size_t e = 0; e < events; ++e) sums[call.callee * events + e] += profile.inclusive[i * events + e];
  }
  return sums;
}

}  // namespace tally::output
