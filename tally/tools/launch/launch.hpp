// Shared by the commands that run a program: options, the program's arguments, the exit code.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::launch {

// Options are described in the words of this directory: Page, exit_ok.
using namespace command;

/// Adds the options for starting the program and waiting for it, the group `running`.
void add_launch_options(Page& page, backend::Conditions& conditions);

/// Adds the option with which programs find a PMU, to the same group: for commands other than `run`.
void add_pmu_option(Page& page, backend::Conditions& conditions);
/// Adds the engine's tuning options, which are for tests and hidden.
void add_engine_tuning(Page& page, backend::EngineTuning& tuning);

/// The program and its arguments, which follow the options. `may_be_missing`: there is an attachment instead.
/// `example`: a valid command line, for the hint. Errors: bad_usage for an unknown option or a missing program.
Result<std::vector<std::string>> command_of(const Page& page, bool may_be_missing, std::string_view example);
/// Parses a list of IDs as `ps` prints them: "1234,1235". `what`: "process" or "thread"; its first letter is the
/// option's. Errors: bad_usage.
Result<std::vector<int>> ids_of(const std::string& list, std::string_view what);

/// Checks that the program exists and that its CPU is available. Runs before anything is printed or written, because a
/// misspelled name is the most frequent mistake. Errors: those of linux::find_program() and linux::check_processor().
Result<void> check_launch(const backend::Order& order);

/// Whether to omit the notice about the selected backend: --quiet, or TALLY_QUIET=1 in the environment.
bool is_quiet(bool quiet);

/// Checks that a format can represent all requested events. `fits`: the format's own check of their names, or null.
/// Errors: bad_usage, with the event that does not fit, or that is absent and why.
Result<void> fits_format(std::string_view format, Result<void> (*fits)(const std::vector<EventName>& events),
                         const std::vector<event::Event>& events,
                         const std::function<backend::Outlook(const event::Event&)>& outlook);

/// The exit code after a measurement: the program's, or tally's own. `written`: the exit code of writing the result.
/// Kills tally with the signal that ended the measurement, so that it ends as the program would.
int final_exit_code(const result::Stat& stat, int written, linux::Signals& signals);

}  // namespace tally::launch
