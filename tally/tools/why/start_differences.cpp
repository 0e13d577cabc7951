#include "tally/tools/why/start_differences.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/output/analysis/path_difference.hpp"
#include "tally/output/analysis/read_sources.hpp"

namespace tally::why {
namespace {

using Kind = StartDifference::Kind;

/// The time of a result, in seconds; 0 if it has none.
std::int64_t measured_at(const result::Stat& stat) {
  std::tm time{};
  const char* const end = strptime(stat.environment.provenance.date.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return end == nullptr ? 0 : static_cast<std::int64_t>(timegm(&time));
}

/// The arguments that name files which were changed after the first result was measured.
void add_changed_files(const result::Stat& before, const result::Stat& after,
                       std::vector<StartDifference>& differences) {
  const std::int64_t since = measured_at(before);
  for (std::size_t i = 1; since != 0 && i < after.command.size(); ++i) {
    const std::string& word = after.command[i];
    const std::string path = word.starts_with('/') ? word : after.start->directory + "/" + word;
    if (const auto state = linux::file_state(path); state && state->modified_s > since)
      differences.push_back(
          {Kind::file, fmt::format("file {}: changed after the first was measured", printable(word))});
  }
}

}  // namespace

std::vector<StartDifference> start_differences(const result::Stat& before, const result::Stat& after, StatReader read) {
  std::vector<StartDifference> differences;
  const auto add = [&](Kind kind, const char* name, const std::string& first_value, const std::string& second_value) {
    if (first_value != second_value)
      differences.push_back(
          {kind, fmt::format("{}: {} and {}", name, first_value.empty() ? "host" : printable(first_value),
                             second_value.empty() ? "host" : printable(second_value))});
  };
  const auto first = stored_options(before, read), second = stored_options(after, read);
  const bool only_first = first && second && first->conditions.repeatable && !second->conditions.repeatable;
  const bool only_second = first && second && second->conditions.repeatable && !first->conditions.repeatable;
  if (only_first || only_second)
    differences.push_back(
        {Kind::repeatable, fmt::format("option --repeatable: only in the {}", only_first ? "first" : "second")});
  if (first && second) add(Kind::clock, "option --clock", first->conditions.clock, second->conditions.clock);
  if (before.start && after.start)
    for (const output::VariableDifference& difference : output::compare_environments(*before.start, *after.start)) {
      // What --repeatable sets is a part of that option.
      const bool is_set_by_tally = (only_first && !difference.after) || (only_second && !difference.before);
      if (!is_set_by_tally || !is_repeatable_variable(difference.name))
        differences.push_back({Kind::variable, "environment: " + output::variable_text(difference), difference.name});
    }
  add(Kind::command, "command", shell_words(before.command), shell_words(after.command));
  add(Kind::cpu_model, "CPU model", before.cpu_model, after.cpu_model);
  if (before.start && after.start) {
    add(Kind::directory, "directory", before.start->directory, after.start->directory);
    add_changed_files(before, after, differences);
  }
  return differences;
}

std::vector<std::string> stored_lines(const result::Stat& before, const result::Stat& after,
                                      const std::vector<StartDifference>& differences) {
  std::vector<std::string> lines = output::differing_sources(before.runs.front(), after.runs.front());
  if (before.environment.cpu != after.environment.cpu)
    lines.push_back(
        fmt::format("processor: {} and {}", printable(before.environment.cpu), printable(after.environment.cpu)));
  for (const StartDifference& difference : differences) lines.push_back(difference.text);
  return lines;
}

}  // namespace tally::why
