#include "tally/tools/why/added_instructions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::why {
namespace {

constexpr int runs_of_each = 3;

std::uint64_t instructions_in(const result::Run& run) {
  std::uint64_t sum = 0;
  for (const result::ThreadPath& path : run.paths) sum += path.instructions;
  return sum;
}

std::string signed_difference(std::uint64_t from, std::uint64_t to) {
  return (to < from ? "-" : "+") + thousands(static_cast<std::int64_t>(to < from ? from - to : to - from));
}

/// Instructions of all threads in some runs of a command: the median, and how much the runs differ.
struct Sums {
  std::uint64_t median = 0, spread = 0;
};

Result<Sums> sums_of(const Rerun& rerun, linux::Signals& signals) {
  std::vector<std::uint64_t> sums;
  for (int i = 0; i < runs_of_each; ++i) {
    const auto run = rerun.run({}, signals);
    if (!run) return fail(run.error());
    sums.push_back(instructions_in(*run));
  }
  std::sort(sums.begin(), sums.end());
  return Sums{sums[runs_of_each / 2], sums.back() - sums.front()};
}

std::string difference_text(const Sums& from, const Sums& to) {
  const std::uint64_t spread = std::max(from.spread, to.spread);
  const std::string change = signed_difference(from.median, to.median);
  if (spread == 0) return change;
  const bool is_larger = std::max(from.median, to.median) - std::min(from.median, to.median) > 2 * spread;
  return (is_larger ? "about " + change + "; " : "not separated: ") +
         fmt::format("runs of one command differ by up to {}", thousands(static_cast<std::int64_t>(spread)));
}

}  // namespace

std::string added_text(const result::Run& before, const result::Run& after) {
  return signed_difference(instructions_in(before), instructions_in(after));
}

Result<std::vector<std::string>> added_by_differences(const Rerun& first, const Rerun& second,
                                                      const std::vector<StartDifference>& differences,
                                                      linux::Signals& signals) {
  constexpr std::size_t most = 8;
  std::vector<std::string> lines{
      "what each difference adds to the first command, in instructions, counted without randomised addresses:"};
  const auto base = sums_of(first, signals);
  if (!base) return fail(base.error());
  int unknown = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    Rerun changed = first;
    std::string text;
    if (!changed.take(differences[i], second)) {
      ++unknown;
      text = "not separated: its other value is unknown (--env)";
    } else if (i >= most) {
      text = fmt::format("not separated: only {} are counted", most);
    } else {
      const auto with = sums_of(changed, signals);
      if (!with) return fail(with.error());
      text = difference_text(*base, *with);
    }
    lines.push_back(fmt::format("  {}: {}", differences[i].text, text));
  }
  const auto other = sums_of(second, signals);
  if (!other) return fail(other.error());
  lines.push_back("  all together: " + difference_text(*base, *other));
  if (unknown != 0)
    lines.back() += fmt::format("; without what the {} of unknown value {}",
                                unknown == 1 ? "difference" : "differences", unknown == 1 ? "adds" : "add");
  return lines;
}

}  // namespace tally::why
