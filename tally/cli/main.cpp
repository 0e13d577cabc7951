#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "tally/cli/build_description.hpp"
#include "tally/cli/commands.hpp"
#include "tally/cli/first_contact.hpp"
#include "tally/cli/perf_commands.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/process/large_stack.hpp"
#include "tally/tools/command/help_text.hpp"
#include "tally/tools/command/help_topic.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/manual/completion.hpp"
#include "tally/tools/manual/manual.hpp"
#include "tally/tools/manual/overview.hpp"

namespace tally::cli {
namespace {

// The text of `tally --help`.
std::string help() {
  std::string text = command::in_lines("", manual::overview) +
                     "\n"
                     "Usage: tally COMMAND [options]\n"
                     "\n"
                     "Commands:\n";
  for (const Command& command : commands())
    text += command::in_lines(fmt::format("  {:<10} ", command.name), command.summary);
  text += "\nTopics of `tally help TOPIC`:\n" + topic_list();
  return text +
         "\n"
         "Options:\n"
         "  -h, --help     print this help; `tally COMMAND --help` explains a command\n"
         "  -V, --version  print version, commit and build\n"
         "\n"
         "Example:\n"
         "  tally stat -- ls -l\n";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

int unknown_command(const std::string& word) {
  const auto near = nearest(word, command_names(), 1);
  if (const std::string hint = command_hint(word); !hint.empty())
    return report_error({Code::bad_usage, fmt::format("unknown command '{}'", word), hint});
  return report_error(
      {Code::bad_usage, fmt::format("unknown {} '{}'", word.starts_with("-") ? "option" : "command", printable(word)),
       near.empty() ? "`tally --help` lists the commands; `tally stat -- PROGRAM` counts a program"
                    : fmt::format("did you mean `tally {}`? `tally --help` lists all commands", near.front())});
}

int unknown_topic(const std::string& word) {
  std::string hint = command_hint(word);
  if (hint.empty() && event::parse(word))
    hint = fmt::format("`tally event {}` describes this event; `tally help models` lists the models of cycles", word);
  const std::vector<std::string> names = command_names(), topics = topic_names();
  std::vector<std::string> all = topics;
  all.insert(all.end(), names.begin(), names.end());
  if (const auto near = nearest(word, all, 1); hint.empty() && !near.empty())
    hint = fmt::format("did you mean `tally help {}`?", near.front());
  hint += fmt::format("{}topics: {}\ncommands: {}", hint.empty() ? "" : "\n", join(topics, ", "), join(names, ", "));
  return report_error({Code::bad_usage, fmt::format("unknown topic '{}'", printable(word)), hint});
}

// `tally help`, `tally help COMMAND`, `tally help TOPIC`.
int run_help(const std::vector<std::string>& words) {
  if (words.empty()) return print(help());
  if (words.front() == "export") return run_export({"--help-all"});
  for (const Command& command : commands()) {
    if (command.name == words.front()) return run(command, {"--help-all"});
  }
  if (const OptionGroup* group = find_group(words.front())) return print(topic_text(describe_commands(), *group));
  return unknown_topic(words.front());
}

int run_tally(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    // Bad usage in both cases. A user at a terminal reads where to begin; the log of a script lists the commands.
    if (linux::Output::standard_output().is_terminal()) {
      (void)print(first_contact_text(read_first_contact()));
      return exit_bad_usage;
    }
    (void)linux::Output::standard_error().write(help());
    return exit_bad_usage;
  }
  const std::string& word = arguments.front();
  if (word == "--help" || word == "-h") return print(help());
  if (word == "help") return run_help({arguments.begin() + 1, arguments.end()});
  if (word == "--version" || word == "-V") return print(build_description());
  // The build calls these and installs their output.
  if (word == "--print-man")
    return print(manual::man_page(describe_commands(), arguments.size() > 1 ? arguments[1] : ""));
  if (word == "--print-bash-completion") return print(manual::bash_completion(describe_commands()));
  if (word == "--print-zsh-completion") return print(manual::zsh_completion(describe_commands()));
  if (word == "--print-fish-completion") return print(manual::fish_completion(describe_commands()));
  const std::vector<std::string> rest{arguments.begin() + 1, arguments.end()};
  if (word == "export") return run_export(rest);
  for (const Command& command : commands()) {
    if (command.name == word) return run(command, rest);
  }
  return unknown_command(word);
}

}  // namespace
}  // namespace tally::cli

int main(int argc, char** argv) {
  tally::linux::reserve_standard_descriptors();
  return tally::linux::on_large_stack([=] {
    try {
      tally::cli::record_invocation({argv, argv + argc});
      const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
      return tally::cli::run_tally(arguments);
    } catch (const std::exception& failure) {
      // Libraries throw if memory runs out; tally's own code never throws.
      return tally::cli::report_error({tally::Code::cannot_measure, failure.what(), "", 0});
    }
  });
}
