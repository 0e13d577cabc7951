// --roofline of stat and profile: compares what a program computes and moves with the ceilings of this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/output/result/profile_result.hpp"
#include "tally/output/result/regions_result.hpp"
#include "tally/output/result/roofline_result.hpp"

namespace tally::roofline {

/// The events that a roofline needs, with those of a model for the levels of the memory.
inline constexpr const char* events =
    "load-bytes,store-bytes,fp-operations,fp-operations-single,L1-dcache-load-misses,L1-dcache-store-misses,L2-misses,"
    "cache-misses,fp-operations-scalar,fp-operations-half,fp-operations-bf16,fp-operations-x87";

/// The events of the native run.
inline constexpr const char* native_events = "duration_time,user_time,system_time";

/// The ceilings of this host. Errors: cannot_measure if they were not measured.
Result<result::Ceilings> ceilings_of_host();

/// Time of the native run, and how many processors were busy meanwhile. If that is less than one, the program waited
/// for a processor, input or output, which no ceiling explains: then the time is the processor's time.
struct NativeTime {
  double seconds = 0;
  double busy_processors = 1;
  double kernel_share = 0;  ///< of the processor time
};

/// From the counts of `native_events`; nothing if one is missing.
std::optional<NativeTime> native_time(const result::Stat& stat);

/// The roofline with the point of the whole program. `stat` has the counts of `events`; without a time, the point has
/// none. Pure.
result::Roofline program_roofline(const result::Stat& stat, const std::optional<NativeTime>& time,
                                  result::Ceilings ceilings);

/// Adds the functions that most samples of `sampled`, a profile of cpu-clock, are in, with their times in that run.
/// `counted` has the counts of `events`. A function with few samples, or none of its own in `counted`, gets no point.
/// Pure.
void add_functions(result::Roofline& roofline, const result::Profile& counted, const result::Profile& sampled);

/// Gives the points of regions with these names, which are functions with what they call, their times: of `sampled`, a
/// profile of cpu-clock, the functions that `counted`, a profile of instructions with calls, has in their calls. The
/// interval includes the whole time of functions that are called elsewhere, too. Points without a time say why. Pure.
void add_function_times(result::Roofline& roofline, const std::vector<std::string>& functions,
                        const Result<result::Profile>& counted, const Result<result::Profile>& sampled);

/// Whether metrics of regions need their time.
bool need_times(const std::vector<result::ProgramRegions>& regions);

/// Adds the regions of the first run to the roofline, if there is one, and computes `metrics` of all runs' regions.
/// `native` has as many runs, or none: the task-clock of their regions is the time, the duration_time in metrics. Pure.
void add_native(result::Stat& stat, const std::vector<result::Run>& native, const std::vector<MetricChoice>& metrics);

}  // namespace tally::roofline
