#include "tally/output/analysis/path_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

using result::ThreadPath;

bool is_same_thread(const ThreadPath& a, const ThreadPath& b) {
  return a.program == b.program && a.process == b.process && a.thread == b.thread;
}

/// Returns the hash after this many instructions, a multiple of the interval.
std::optional<std::uint64_t> hash_at(const ThreadPath& path, std::uint64_t instructions) {
  const std::uint64_t index = instructions / path.interval;
  if (index == 0 || index > path.hashes.size()) return std::nullopt;
  return path.hashes[index - 1];
}

/// Returns the range in which two threads part; nothing if they do not.
std::optional<PathDifference> range_of(const ThreadPath& a, const ThreadPath& b) {
  const std::uint64_t step = std::max(a.interval, b.interval), longest = std::max(a.instructions, b.instructions);
  PathDifference range;
  for (std::uint64_t at = step;; at += step) {
    const auto first = hash_at(a, at), second = hash_at(b, at);
    if (first && second && *first == *second) {
      range.from = at;
      continue;
    }
    if (!first && !second && a.instructions == b.instructions && a.end == b.end) return std::nullopt;
    range.to = first && second ? at : std::min(at, longest);
    if (!first && !second) range.to = longest;
    return range;
  }
}

}  // namespace

std::string thread_text(const ThreadPath& path) {
  const std::string process = path.process == 1 ? "" : fmt::format(" (process {})", path.process);
  return fmt::format("thread {} of {}{}", path.thread, printable(path.program), process);
}

Result<PathComparison> compare_paths(const result::Run& before, const result::Run& after) {
  PathComparison found;
  const auto counterpart = [](const std::vector<ThreadPath>& paths, const ThreadPath& of) {
    return std::find_if(paths.begin(), paths.end(),
                        [&](const ThreadPath& thread_path) { return is_same_thread(thread_path, of); });
  };
  for (std::size_t i = 0; i < before.paths.size(); ++i) {
    const ThreadPath& path = before.paths[i];
    const auto other = counterpart(after.paths, path);
    if (other == after.paths.end()) {
      found.only_before.push_back(thread_text(path));
      continue;
    }
    const auto [small, large] = std::minmax(path.interval, other->interval);
    if (small == 0 || large % small != 0)
      return fail(Code::bad_usage,
                  fmt::format("the hashes of {} are {} and {} instructions apart, which do not fit", thread_text(path),
                              path.interval, other->interval),
                  "measure both with the same --path-interval");
    auto range = range_of(path, *other);
    if (!range) {
      ++found.equal;
      continue;
    }
    ++found.different;
    range->before = i;
    range->after = static_cast<std::size_t>(other - after.paths.begin());
    if (!found.first) found.first = range;
  }
  for (const ThreadPath& path : after.paths)
    if (counterpart(before.paths, path) == before.paths.end()) found.only_after.push_back(thread_text(path));
  return found;
}

std::vector<VariableDifference> compare_environments(const result::StartConditions& before,
                                                     const result::StartConditions& after) {
  std::vector<VariableDifference> found;
  const auto find = [](const result::StartConditions& in, const std::string& name) {
    const auto place = std::find_if(in.environment.begin(), in.environment.end(),
                                    [&](const result::EnvironmentVariable& variable) { return variable.name == name; });
    return place == in.environment.end() ? nullptr : &*place;
  };
  for (const result::EnvironmentVariable& environment_variable : before.environment) {
    const result::EnvironmentVariable* const other = find(after, environment_variable.name);
    if (other == nullptr)
      found.push_back({environment_variable.name, environment_variable.bytes, {}});
    else if (*other != environment_variable)
      found.push_back({environment_variable.name, environment_variable.bytes, other->bytes});
  }
  for (const result::EnvironmentVariable& one : after.environment)
    if (find(before, one.name) == nullptr) found.push_back({one.name, {}, one.bytes});
  return found;
}

std::string variable_text(const VariableDifference& difference) {
  const std::string name = printable(difference.name);
  if (!difference.after)
    return fmt::format("{} (only in the first, {})", name, plural(*difference.before, "byte", "bytes"));
  if (!difference.before)
    return fmt::format("{} (only in the second, {})", name, plural(*difference.after, "byte", "bytes"));
  if (*difference.before == *difference.after)
    return fmt::format("{} (another value of {})", name, plural(*difference.after, "byte", "bytes"));
  return fmt::format("{} ({} and {} bytes)", name, *difference.before, *difference.after);
}

}  // namespace tally::output
