#include "tally/tools/why/rerun.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/tools/why/path_hash_options.hpp"

namespace tally::why {
namespace {

std::string_view name_of(const std::string& word) { return std::string_view(word).substr(0, word.find('=')); }

/// Makes a variable as it was: with this process's value if that is the same one, or if the value is unknown but has
/// one here; else with a value of the same length.
std::string variable(const result::EnvironmentVariable& one, const std::vector<std::string>& own,
                     std::vector<std::string>& deviations) {
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const std::string& word) { return name_of(word) == one.name; });
  const bool is_set = found != own.end();
  if (is_set) {
    const std::string_view value = std::string_view(*found).substr(std::min(one.name.size() + 1, found->size()));
    if (static_cast<std::int64_t>(value.size()) == one.bytes && check_of_value(value) == one.check) return *found;
  }
  deviations.push_back(
      is_set ? fmt::format("{} has another value now", printable(one.name))
             : fmt::format("{} is not set now: a value of {} letters is used", printable(one.name), one.bytes));
  return is_set ? *found : fmt::format("{}={}", one.name, std::string(static_cast<std::size_t>(one.bytes), 'x'));
}

}  // namespace

Result<Rerun> Rerun::prepare(const result::Stat& stat, const std::string& file, StatReader read) {
  const std::vector<std::string>& words = stat.environment.provenance.command_line;
  if (!stat.start || words.size() < 3 || words[1] != "stat")
    return fail(Code::bad_usage, fmt::format("'{}' does not say how to run its command again", printable(file)),
                "measure it with `tally stat --path-hash -o FILE.json -- PROGRAM`");
  auto options = read({words.begin() + 2, words.end()});
  if (!options) return fail(options.error());
  Rerun made;
  made.options_ = *std::move(options);
  made.options_.runs = 1;
  made.options_.input = linux::Input::read_position();
  if (made.command() != stat.command)
    return fail(Code::bad_usage,
                fmt::format("'{}' names two commands: '{}' in its command line, and '{}'", printable(file),
                            printable(join(made.command(), " ")), printable(join(stat.command, " "))),
                "measure it again");
  const std::vector<std::string> own = made.own_environment();
  made.state_ = {.directory = stat.start->directory, .environment = {}, .streams = stat.start->streams};
  for (const result::EnvironmentVariable& one : stat.start->environment)
    made.state_.environment.push_back(variable(one, own, made.deviations_));
  for (std::size_t i = 0; i < made.state_.streams.size(); ++i) {
    static constexpr const char* names[] = {"standard input", "standard output", "standard error"};
    const std::string& kind = made.state_.streams[i];
    const bool is_kept = i == 0 ? linux::kind_of_stream(0) == kind : kind == "file" || kind == "pipe" || kind == "null";
    if (i < std::size(names) && !is_kept)
      made.deviations_.push_back(fmt::format("{} was a {}", names[i], printable(kind)));
  }
  const auto held = linux::OtherStartState::hold(made.state_);
  if (!held) return fail(held.error());
  const auto path = linux::find_program(made.command().front(), linux::search_path());
  if (!path) return fail(path.error());
  if (const auto now = linux::file_state(*path);
      now && stat.start->program &&
      *stat.start->program != result::ProgramFile{now->bytes, now->modified_s, now->modified_ns})
    return fail(Code::cannot_measure,
                fmt::format("'{}' has changed since '{}' was measured", printable(*path), printable(file)),
                "measure both again with the same program");
  return made;
}

void Rerun::take_variable_of(const result::StartConditions& start, const std::string& name) {
  const auto place = std::find_if(state_.environment.begin(), state_.environment.end(),
                                  [&](const std::string& word) { return name_of(word) == name; });
  const auto other = std::find_if(start.environment.begin(), start.environment.end(),
                                  [&](const result::EnvironmentVariable& one) { return one.name == name; });
  if (other == start.environment.end()) {
    if (place != state_.environment.end()) state_.environment.erase(place);
    return;
  }
  std::string word = variable(*other, own_environment(), deviations_);
  if (place != state_.environment.end())
    *place = std::move(word);
  else
    state_.environment.push_back(std::move(word));
}

Result<result::Run> Rerun::run(const backend::PathSettings& path, linux::Signals& signals) const {
  measure::StatOptions options = options_;
  options.count()->path = path;
  auto choice = backend::choose("engine", options, linux::read_host_machine(), {});
  if (!choice) return fail(choice.error());
  const auto held = linux::OtherStartState::hold(state_);
  if (!held) return fail(held.error());
  std::optional<linux::FixedAddresses> fixed;
  if (fixes_addresses_) {
    auto addresses = linux::FixedAddresses::hold();
    if (!addresses) return fail(addresses.error());
    fixed.emplace(*std::move(addresses));
  }
  auto stat = measure::stat(*choice->backend, options, signals);
  if (!stat) return fail(stat.error());
  if (signals.interrupted_by()) return fail(Code::cannot_measure, "interrupted");
  return std::move(stat->runs.front());
}

}  // namespace tally::why
