// What commands that run a program have in common: options, the program's words, the end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::cli {

class Page;

/// How the program is started and waited for: --wait-all, --repeatable, --pin.
void add_launch_options(Page& page, backend::Conditions& conditions);
/// The engine's, for tests; not shown.
void add_engine_tuning(Page& page, backend::EngineTuning& tuning);

/// What follows the options: the program and its arguments. Nothing but an attachment makes sense without. Errors:
/// bad_usage for an unknown option, and where there is no program; `example` shows one.
Result<std::vector<std::string>> command_of(const Page& page, bool may_be_missing, std::string_view example);
/// "1234,1235", as they stand in ps, of a `what`, whose first letter is the option's. Errors: bad_usage.
Result<std::vector<int>> ids_of(const std::string& list, std::string_view what);

/// Before anything is said or written, for the likeliest mistake is a wrong name: whether the program is there, and the
/// processor that it is to run on. Errors: as linux::find_program() and linux::check_processor().
Result<void> check_launch(const backend::Order& order);

/// Whether the notice about the selected backend is left out: --quiet, or TALLY_QUIET=1 in the environment.
bool is_quiet(bool quiet);

/// Whether a format has a place for what is counted, where it needs all of it: `fits` by the names, null for any.
/// Errors: bad_usage with what is missing, or absent and why.
Result<void> fits_format(std::string_view format, Result<void> (*fits)(const std::vector<EventName>& events),
                         const std::vector<event::Event>& events,
                         const std::function<backend::Outlook(const event::Event&)>& outlook);

/// The exit code after a measurement whose result was `written` (an exit code): the program's, or tally's own. Dies of
/// the signal that ended the measurement, as the program would.
int end_as_measured(const result::Stat& stat, int written, linux::Signals& signals);

}  // namespace tally::cli
