// The commands: one line each in commands.inc, and one source file each in this directory, or a program of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_description.hpp"
#include "tally/tools/launch/launch.hpp"

namespace tally::cli {

// Commands are written in the words of this directory: Page, report_error(), exit_ok.
using namespace command;
using namespace launch;

/// One command of `tally`.
struct Command {
  std::string_view name;
  std::string_view summary;
  /// Runs the command with the arguments after its name; returns tally's exit code. Null: a program of its own.
  int (*run)(const std::vector<std::string>& arguments);
  void (*describe)(Page& page);  ///< options and text, for the man page and the completion; null like `run`
  std::string_view program;      ///< the command is one of tally-PROGRAM
  std::string_view missing;      ///< the error if the program is not installed
  std::string_view advice;       ///< how to get it
};

/// All commands, in the order of `tally --help`.
std::span<const Command> commands();

/// Runs a command, or becomes its program. Returns tally's exit code.
int run(const Command& command, const std::vector<std::string>& arguments);

/// What help, man pages and completion print for all commands, except for programs that are not installed. Cost: starts
/// each of these programs once.
std::vector<CommandDescription> describe_commands();

// run_NAME and describe_NAME of each.
#define TALLY_COMMAND(name, summary)                         \
  int run_##name(const std::vector<std::string>& arguments); \
  void describe_##name(Page& page);
#define TALLY_PROGRAM(name, summary, missing, advice)
#define TALLY_PROGRAM_OF(program, name, summary, missing, advice)
#include "tally/cli/commands.inc"
#undef TALLY_COMMAND
#undef TALLY_PROGRAM
#undef TALLY_PROGRAM_OF

/// `tally export`: the same as `report`, with CSV as the default format. Not listed: it was a command of its own.
int run_export(const std::vector<std::string>& arguments);

}  // namespace tally::cli
