// --native-times: a second, native run of the command that supplies what the engine's overhead distorts: times, page
// faults and peak memory.
#pragma once

#include "tally/core/base/result.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::why {

void add_native_times_option(command::Page& page, bool& native_times);

/// The line of the notice about the second run.
inline constexpr const char* native_times_notice =
    "the program runs a second time, natively, for its times, page faults and peak memory (--native-times)";

/// Checks that a second run can supply counts for this order. Errors: bad_usage for another backend than the engine,
/// for running processes, for parts of the time, for standard input that the first run uses up, and if no event of the
/// order is of that kind.
Result<void> check_native_times(const measure::StatOptions& options, const backend::Backend& backend);

/// Runs the command natively as often as the engine did, and replaces the counts of software events and the metrics
/// that use them. If the native runs fail, end in another way or are interrupted, the counts stay, and a notice says
/// why.
void add_native_times(result::Stat& stat, const measure::StatOptions& options, const linux::HostMachine& machine,
                      linux::Signals& signals);

/// The part of it that runs nothing: takes the counts of the events at `indexes` of `stat` from `native`, which has
/// only these events.
void replace_counts(result::Stat& stat, const std::vector<std::size_t>& indexes, const result::Stat& native);

}  // namespace tally::why
