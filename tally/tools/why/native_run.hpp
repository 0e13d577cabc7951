// --native: another, native run of the command that supplies what the engine's overhead distorts (times, page faults
// and peak memory), and the estimated cycles: processor time × frequency.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/frequency_watch.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/result/code_values.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::why {

/// `use`: what the command does with that run.
void add_native_option(command::Page& page, bool& native, const char* use);

void add_roofline_option(command::Page& page, bool& roofline);

/// The line of the notice about the native run.
inline constexpr const char* native_notice =
    "the program runs again, natively (--native), for times, page faults, peak memory, estimated cycles, and samples "
    "of user and system time";
inline constexpr const char* native_profile_notice =
    "the program runs twice more, natively, for its estimated cycles and for samples that divide them among functions "
    "(--native)";

/// The metrics that --native prints: "estimated-IPC,estimated-GHz", and the model's error if cycles are modelled.
std::string native_metrics(const std::vector<event::Event>& events);

/// Checks that a native run can supply counts for this order. Errors: bad_usage for another backend than the engine,
/// for running processes, for parts of the time, and for standard input that the first run uses up. `option`: the one
/// that asks for the native run.
Result<void> check_native(const measure::StatOptions& options, const backend::Backend& backend,
                          const std::string& option = "--native");

/// Runs the command natively as often as the engine did, and replaces the counts of software events and the metrics
/// that use them. Runs a short command until it used 0.2 s of processor time. If the native runs fail, end in another
/// way or are interrupted, the counts stay, a notice says why, and it returns false. `simulation`: of the cycles;
/// nothing: of `host`. The cycles of another core have no model-error. `runs`, if not null, gets the native
/// runs, whose regions have their task-clock.
bool add_native_runs(result::Stat& stat, const measure::StatOptions& options, const linux::HostMachine& machine,
                     linux::Signals& signals, const std::optional<backend::Simulation>& simulation,
                     std::vector<result::Run>* runs = nullptr);

/// Runs the command again, natively, as `counted` was run under the engine. Returns its duration_time, user_time,
/// system_time and core-cycles-estimate. Errors: it cannot be used.
Result<result::Stat> native_times(const result::Stat& counted, const measure::StatOptions& options,
                                  const linux::HostMachine& machine, linux::Signals& signals);

/// Errors: those of check_native(), and bad_usage without cycles in user mode.
Result<void> check_native_profile(const measure::StatOptions& options, const backend::Backend& backend);

/// Runs the command of a profile natively, and adds the event core-cycles-estimate to the profile and its result.
/// If the native run fails, a notice says why. Returns the share of its processor time in the kernel, by clock ticks.
double add_native_cycles(result::CodeCounts& code, result::Stat& stat, const measure::StatOptions& options,
                         const linux::HostMachine& machine, linux::Signals& signals,
                         const std::optional<backend::Simulation>& simulation);

/// The part of it that runs nothing: adds an event with the total of `estimate`, whose rows have the shares of the
/// event at `index`.
void add_scaled_event(result::CodeCounts& code, result::Stat& stat, std::size_t index,
                      const result::EventCount& estimate);

/// The part of add_native_runs() that runs nothing: takes the counts of the events at `indexes` of `stat` from
/// `native`, which has only these events.
void replace_counts(result::Stat& stat, const std::vector<std::size_t>& indexes, const result::Stat& native);

/// Processor time in user and kernel mode, of a run or of the mean of several.
struct ProcessorTime {
  Nanoseconds user{0}, system{0};
  int runs = 1;
  Nanoseconds stolen = Nanoseconds{0};  ///< by the hypervisor meanwhile, of all runs together
  Nanoseconds others = Nanoseconds{0};  ///< processor time of other runs of the command that were made for this one
  Nanoseconds shortest = Nanoseconds{0}, longest = Nanoseconds{0};  ///< run, of several
  Nanoseconds sum() const { return user + system; }
};

/// The cycles of a run, or why they are absent: less than 7 ms of processor time in a run or 0.2 s in all runs, an
/// unknown frequency, or a possible error of more than 20 %. Most errors make the product of time and frequency too
/// large: it may be 2.5 % too small, and too large by 4 %, 1 ms for the start of the process, and what the hypervisor
/// took, which some kernels charge to programs; on both sides by the spread of the measurements. The value is the
/// middle between these bounds. Pure.
Count estimated_cycles(const ProcessorTime& time, const std::optional<linux::MeasuredFrequency>& frequency);

}  // namespace tally::why
