// Counts in the words of `perf stat`: value, unit and name of the event.
#pragma once

#include <string>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// The value as perf prints it in its fields: clocks in milliseconds; "<not counted>" if it is absent.
std::string perf_value(const result::EventCount& one);

/// "msec" for clocks, "ns", "bytes"; empty for events.
std::string perf_unit(const result::EventCount& one);

/// The requested name, so that scripts find it, with the mode if the request did not contain it: perf also adds it when
/// it excludes the kernel by default.
std::string perf_name(const result::EventCount& one);

}  // namespace tally::output
