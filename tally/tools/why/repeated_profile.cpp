#include "tally/tools/why/repeated_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/profile/resolve_profile.hpp"
#include "tally/output/analysis/profile_inlines.hpp"
#include "tally/output/analysis/run_spread.hpp"

namespace tally::why {

Result<void> check_repeat(const measure::StatOptions& options, const backend::Backend& backend) {
  if (options.target.attachment.any())
    return fail(Code::bad_usage, "-r cannot be used with running processes: it runs the command again",
                "use it with a command");
  if (!backend.traits().is_engine)
    return fail(Code::bad_usage, "-r needs exact counts: samples have an interval instead",
                "add `--backend engine`, or sample a longer run");
  if (options.parts() != nullptr)
    return fail(Code::bad_usage, "-r and --parts cannot be used together", "use only one of them");
  if (!options.input.stream().empty())
    return fail(Code::bad_usage,
                fmt::format("-r: standard input is {}, so other runs would read nothing", options.input.stream()),
                "use a file instead");
  return {};
}

Result<result::Stat> profile_runs(backend::Backend& backend, const measure::StatOptions& options,
                                  result::CodeCounts& code, std::vector<ProfiledRun>& others, linux::Signals& signals) {
  auto first = measure::profile(backend, options, code, signals);
  if (!first || options.runs == 1 || first->incomplete || first->interrupted_by) return first;
  ProfiledRun shown{*std::move(first), std::move(code)};
  for (int i = 2; i <= options.runs; ++i) {
    options.input.rewind();
    ProfiledRun run;
    auto stat = measure::profile(backend, options, run.code, signals);
    if (!stat) return stat;
    run.stat = *std::move(stat);
    const std::string number = fmt::format("run {} of {}", i, options.runs);
    if (run.stat.interrupted_by) {
      shown.stat.notices.push_back(number + " was interrupted: only the runs before it are used");
      break;
    }
    if (run.stat.incomplete) return fail(Code::cannot_measure, number + " is incomplete", "");
    if (run.stat.exit_code != shown.stat.exit_code || run.stat.signal != shown.stat.signal)
      return fail(Code::cannot_measure, number + " ended in another way than the first", "profile one run, without -r");
    others.push_back(std::move(run));
  }
  const auto count_of = [](const ProfiledRun* run) { return run->stat.events.front().total.count.value.value_or(0); };
  std::vector<ProfiledRun*> sorted{&shown};
  for (ProfiledRun& run : others) sorted.push_back(&run);
  std::ranges::stable_sort(sorted, {}, count_of);
  if (ProfiledRun* const median = sorted[(sorted.size() - 1) / 2]; median != &shown) std::swap(*median, shown);
  for (const ProfiledRun& run : others)
    for (const std::string& notice : run.stat.notices)
      if (std::ranges::find(shown.stat.notices, notice) == shown.stat.notices.end())
        shown.stat.notices.push_back(notice);
  shown.stat.interrupted_by = signals.interrupted_by();
  code = std::move(shown.code);
  return std::move(shown.stat);
}

std::string mark_differences(result::Profile& profile, std::vector<ProfiledRun> others) {
  std::vector<result::Profile> profiles;
  for (ProfiledRun& run : others) {
    result::Profile other = profile::resolve(std::move(run.code), run.stat, {.of_rows = profile.inlines_apart},
                                             profile.inlines_apart ? profile::Inlines::yes : profile::Inlines::no);
    profiles.push_back(profile.inlines_apart ? output::with_inlined_functions(other) : std::move(other));
  }
  std::vector<std::string> names;
  for (const std::string& name : output::add_spread(profile, profiles)) names.push_back(printable(name));
  constexpr std::size_t most = 5;
  if (const std::size_t all = names.size(); all > most) {
    names.resize(most);
    names.push_back(fmt::format("{} more", all - most));
  }
  return names.empty() ? "" : "only other runs executed these functions: " + join(names, ", ");
}

}  // namespace tally::why
