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

/// Finds a variable by its name.
template <class Words>
auto find_variable(Words& words, std::string_view name) {
  return std::find_if(words.begin(), words.end(), [&](const std::string& word) { return name_of(word) == name; });
}

}  // namespace

bool is_repeatable_variable(const std::string& name) {
  const std::vector<std::string> words = linux::repeatable_environment({});
  return find_variable(words, name) != words.end();
}

/// Makes a variable as it was: with the same value if this process or `values` has that; else with this process's value
/// or one of the same length.
std::string Rerun::variable(const result::EnvironmentVariable& wanted, const std::vector<std::string>& values) {
  for (const std::string& word : values) {
    const std::string_view value = std::string_view(word).substr(std::min(wanted.name.size() + 1, word.size()));
    if (name_of(word) == wanted.name && static_cast<std::int64_t>(value.size()) == wanted.bytes &&
        check_of_value(value) == wanted.check)
      return word;
  }
  const auto value = find_variable(values, wanted.name);
  const bool is_set = value != values.end();
  unknown_.push_back(wanted.name);
  deviations_.push_back((is_set ? fmt::format("{} has another value now", printable(wanted.name))
                                : fmt::format("{} is not set now: a value of {} is used", printable(wanted.name),
                                              plural(wanted.bytes, "letter", "letters"))) +
                        fmt::format("; `--env {}=VALUE` passes its value", printable(wanted.name)));
  return is_set ? *value : fmt::format("{}={}", wanted.name, std::string(static_cast<std::size_t>(wanted.bytes), 'x'));
}

Result<measure::StatOptions> stored_options(const result::Stat& stat, StatReader read) {
  const std::vector<std::string>& words = stat.environment.provenance.command_line;
  if (words.size() < 3 || words[1] != "stat") return fail(Code::bad_usage, "not measured by tally stat");
  return read({words.begin() + 2, words.end()});
}

Result<Rerun> Rerun::prepare(const result::Stat& stat, const std::string& file, StatReader read,
                             const std::vector<std::string>& values) {
  auto options = stored_options(stat, read);
  if (!stat.start || !options)
    return fail(Code::bad_usage, fmt::format("'{}' does not say how to run its command again", printable(file)),
                "measure it with `tally stat --path-hash -o FILE.json -- PROGRAM`");
  Rerun made;
  made.options_ = *std::move(options);
  made.options_.runs = 1;
  made.options_.input = linux::Input::read_position();
  if (made.command() != stat.command)
    return fail(Code::bad_usage,
                fmt::format("'{}' names two commands: '{}' in its command line, and '{}'", printable(file),
                            printable(join(made.command(), " ")), printable(join(stat.command, " "))),
                "measure it again");
  std::vector<std::string> own = linux::environment_for(made.options_.conditions);
  own.insert(own.end(), values.begin(), values.end());
  made.state_ = {.directory = stat.start->directory, .environment = {}, .streams = stat.start->streams};
  for (const result::EnvironmentVariable& one : stat.start->environment)
    made.state_.environment.push_back(made.variable(one, own));
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

void Rerun::take_variable(const std::string& name, const Rerun& other) {
  const auto own = find_variable(state_.environment, name);
  const auto word = find_variable(other.state_.environment, name);
  if (word == other.state_.environment.end() && own != state_.environment.end())
    state_.environment.erase(own);
  else if (word != other.state_.environment.end() && own != state_.environment.end())
    *own = *word;
  else if (word != other.state_.environment.end())
    state_.environment.push_back(*word);
}

bool Rerun::take(const StartDifference& difference, const Rerun& other) {
  switch (difference.kind) {
    case StartDifference::Kind::variable: {
      const std::string& name = difference.variable;
      const bool is_in_both = find_variable(state_.environment, name) != state_.environment.end() &&
                              find_variable(other.state_.environment, name) != other.state_.environment.end();
      const auto is_unknown = [&](const Rerun& in) {
        return std::count(in.unknown_.begin(), in.unknown_.end(), name) != 0;
      };
      if (is_in_both && (is_unknown(*this) || is_unknown(other))) return false;
      take_variable(name, other);
      return true;
    }
    case StartDifference::Kind::repeatable:
      options_.conditions.repeatable = other.options_.conditions.repeatable;
      for (const std::string& word : linux::repeatable_environment({}))
        take_variable(std::string(name_of(word)), other);
      return true;
    case StartDifference::Kind::clock: options_.conditions.clock = other.options_.conditions.clock; return true;
    case StartDifference::Kind::command: options_.target.command = other.command(); return true;
    case StartDifference::Kind::cpu_model:
      options_.conditions.cpu_model = other.options_.conditions.cpu_model;
      return true;
    case StartDifference::Kind::directory: state_.directory = other.state_.directory; return true;
    case StartDifference::Kind::file: break;  // both commands read the same file now
  }
  return false;
}

Result<result::Run> Rerun::run(const backend::PathSettings& path, linux::Signals& signals) const {
  measure::StatOptions options = options_;
  options.count()->path = path;
  auto choice = backend::choose("engine", options, linux::read_host_machine(), {});
  if (!choice) return fail(choice.error());
  const auto held = linux::OtherStartState::hold(state_, input_.get());
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
