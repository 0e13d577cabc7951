#include "tally/cli/commands.hpp"

#include <utility>

#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/tool.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::cli {
namespace {

// The program of a command: next to tally in a build tree, in libexec where it is installed.
Result<std::string> find_program_of(const Command& command) {
  const std::string folder = linux::own_folder(), name = "/tally-" + std::string(command.program);
  for (const std::string& path : {folder + name, folder + "/" TALLY_PROGRAMS_FOLDER + name})
    if (linux::exists(path)) return path;
  if (folder.empty())
    return fail(Code::cannot_measure, "without /proc, tally cannot find its programs", "mount -t proc proc /proc");
  return fail(Code::cannot_measure, std::string(command.missing), std::string(command.advice));
}

// Empty for a program that is not installed, or that is of another version.
std::optional<CommandDescription> ask_program(const Command& command) {
  const auto program = find_program_of(command);
  if (!program) return std::nullopt;
  std::vector<std::string> words{*program, std::string(describe_option)};
  if (command.program != command.name) words.insert(words.begin() + 1, std::string(command.name));
  const auto ended = linux::run_tool(words);
  return ended && ended->exit_code == 0 ? read_description(ended->output) : std::nullopt;
}

std::optional<CommandDescription> describe(const Command& command) {
  if (!command.describe) return ask_program(command);
  Page page;
  command.describe(page);
  return page.description();
}

// Becomes the program of a command, which reads this name.
int become_program(const Command& command, std::string_view name, const std::vector<std::string>& arguments) {
  const auto program = find_program_of(command);
  if (!program) return report_error(program.error());
  std::vector<std::string> words{own_name(), std::string(name)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return report_error(linux::become(*program, words));
}

}  // namespace

std::span<const Command> commands() {
#define TALLY_COMMAND(name, summary) {#name, summary, run_##name, describe_##name, "", "", ""},
#define TALLY_PROGRAM(name, summary, missing, advice) TALLY_PROGRAM_OF(name, name, summary, missing, advice)
#define TALLY_PROGRAM_OF(program, name, summary, missing, advice) \
  {#name, summary, nullptr, nullptr, #program, missing, advice},
  static constexpr Command all[] = {
#include "tally/cli/commands.inc"
  };
#undef TALLY_COMMAND
#undef TALLY_PROGRAM
#undef TALLY_PROGRAM_OF
  return all;
}

int run(const Command& command, const std::vector<std::string>& arguments) {
  return command.run ? command.run(arguments) : become_program(command, command.name, arguments);
}

int run_export(const std::vector<std::string>& arguments) {
  for (const Command& command : commands())
    if (command.name == "report") return become_program(command, "export", arguments);
  return exit_bad_usage;
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> all;
  for (const Command& command : commands()) {
    auto description = describe(command);
    if (!description) continue;
    description->name = command.name;
    description->summary = command.summary;
    all.push_back(*std::move(description));
  }
  return all;
}

}  // namespace tally::cli
