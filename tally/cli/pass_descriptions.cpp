#include "tally/cli/pass_descriptions.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"

namespace tally::cli {

std::string names_of(const std::vector<event::Event>& events, const event::Pass& pass) {
  std::vector<std::string> names;
  for (const std::size_t place : pass) names.push_back(event::name(events[place]));
  return join(names, ", ");
}

std::vector<std::string> lines_of(const std::vector<event::Event>& events, const event::Plan& plan) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    lines.push_back(fmt::format("pass {}: {}", i + 1, names_of(events, plan.passes[i])));
  }
  return lines;
}

Error passes_error(const std::vector<event::Event>& events, const event::Plan& plan, bool has_command) {
  const std::size_t passes = plan.passes.size();
  return {Code::cannot_measure,
          fmt::format("more events than this PMU can count at once: {} passes would count them\n  {}", passes,
                      join(lines_of(events, plan), "\n  ")),
          fmt::format("{}`--multiplex` time-shares the counters and estimates; or count fewer events",
                      has_command ? fmt::format("`--passes` runs the program {} times; ", passes) : ""),
          0};
}

std::optional<Error> why_no_passes(const measure::StatOptions& options) {
  const auto refused = [](const std::string& what) {
    return Error{Code::bad_usage, what, "`--multiplex` counts all events in one run; or count fewer events", 0};
  };
  if (options.target.attachment.any())
    return refused("--passes cannot be used with running processes: it runs the command several times");
  if (options.count()->timing.interval)
    return refused("-I cannot be used with passes: intervals of different runs do not match");
  if (options.count()->processes)
    return refused("--per-process and --per-thread cannot be used with passes: each run has its own processes");
  if (!options.input.stream().empty()) {
    return refused(fmt::format("standard input is {}: the second pass would read nothing; use a file instead",
                               options.input.stream()));
  }
  return std::nullopt;
}

}  // namespace tally::cli
