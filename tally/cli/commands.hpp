// The commands: one line each in commands.inc, and one source file each in this directory.
#pragma once

#include <string>
#include <vector>

#include "tally/cli/commands.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::cli {

// Commands are written in the words of this directory: Page, report_error(), exit_ok.
using namespace command;

/// All commands, in the order of `tally --help`.
Commands commands();

// run_NAME and describe_NAME of each.
#define TALLY_COMMAND(name, summary)                         \
  int run_##name(const std::vector<std::string>& arguments); \
  void describe_##name(Page& page);
#include "tally/cli/commands.inc"
#undef TALLY_COMMAND

/// `tally export`: the same as `report`, with CSV as the default format. Not listed: it was a command of its own.
int run_export(const std::vector<std::string>& arguments);

}  // namespace tally::cli
