#include "tally/tools/why/start_differences.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/path_difference.hpp"

namespace tally::why {
namespace {

using What = StartDifference::What;

Result<measure::StatOptions> options_of(const result::Stat& stat, StatReader read) {
  const std::vector<std::string>& words = stat.environment.provenance.command_line;
  if (words.size() < 3 || words[1] != "stat") return fail(Code::bad_usage, "not measured by tally stat");
  return read({words.begin() + 2, words.end()});
}

/// The time of a result, in seconds; 0 if it has none.
std::int64_t measured_at(const result::Stat& stat) {
  std::tm time{};
  const char* const end = strptime(stat.environment.provenance.date.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return end == nullptr ? 0 : static_cast<std::int64_t>(timegm(&time));
}

/// The arguments that name files which were changed after the first result was measured.
void add_changed_files(const result::Stat& before, const result::Stat& after, std::vector<StartDifference>& found) {
  const std::int64_t since = measured_at(before);
  for (std::size_t i = 1; since != 0 && i < after.command.size(); ++i) {
    const std::string& word = after.command[i];
    const std::string path = word.starts_with('/') ? word : after.start->directory + "/" + word;
    struct stat status {};
    if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_mtim.tv_sec > since)
      found.push_back({What::file, fmt::format("file {}: changed after the first was measured", printable(word))});
  }
}

}  // namespace

std::vector<StartDifference> start_differences(const result::Stat& before, const result::Stat& after, StatReader read) {
  std::vector<StartDifference> found;
  const auto add = [&](What what, const char* name, const std::string& one, const std::string& two) {
    if (one != two)
      found.push_back({what, fmt::format("{}: {} and {}", name, one.empty() ? "host" : printable(one),
                                         two.empty() ? "host" : printable(two))});
  };
  const auto first = options_of(before, read), second = options_of(after, read);
  const bool only_first = first && second && first->conditions.repeatable && !second->conditions.repeatable;
  const bool only_second = first && second && second->conditions.repeatable && !first->conditions.repeatable;
  if (only_first || only_second)
    found.push_back(
        {What::repeatable, fmt::format("option --repeatable: only in the {}", only_first ? "first" : "second")});
  if (first && second) add(What::clock, "option --clock", first->conditions.clock, second->conditions.clock);
  if (before.start && after.start)
    for (const output::VariableDifference& one : output::compare_environments(*before.start, *after.start)) {
      // What --repeatable sets is a part of that option.
      const bool is_set_by_tally = (only_first && !one.after) || (only_second && !one.before);
      if (!is_set_by_tally || !is_repeatable_variable(one.name))
        found.push_back({What::variable, "environment: " + output::variable_text(one), one.name});
    }
  add(What::command, "command", shell_words(before.command), shell_words(after.command));
  add(What::cpu_model, "CPU model", before.cpu_model, after.cpu_model);
  if (before.start && after.start) {
    add(What::directory, "directory", before.start->directory, after.start->directory);
    add_changed_files(before, after, found);
  }
  return found;
}

}  // namespace tally::why
