// What the table and the page of `tally memory` say in the same words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/result/memory.hpp"

namespace tally::report {

/// "48 K (measured 49.9 K)", "27 M [22 M, 31 M] effective"; "-" for memory; "contended" or "not seen".
std::string capacity_text(const result::MemoryLevel& level);

/// "high", "medium", "low"; "-" where there is nothing to be graded.
std::string grade_text(const result::MemoryLevel& level);

/// The size that the system reports; empty where it reports none.
std::string reported_text(const result::MemoryLevel& level);

/// "36.0 ns [34.0, 39.0]": the interval where it is wide enough to matter.
std::string latency_text(double ns, const std::optional<double>& low, const std::optional<double>& high);

/// "12 x 64"; empty where it is not known.
std::string geometry_text(const std::optional<std::int64_t>& ways, const std::optional<std::int64_t>& sets);

/// Whether the machine was quiet enough, and what was thrown away.
std::string verdict_text(const result::Memory& memory);

/// "0.0012", "1.003": a count for each step; empty where there is none.
std::string count_text(const std::optional<double>& count);

/// What was counted beside the timings, by whom, and why something or all of it was not.
std::string counters_text(const result::Memory& memory);

}  // namespace tally::report
