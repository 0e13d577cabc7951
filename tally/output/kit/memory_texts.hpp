// Texts that the table and the page of `tally memory` share.
#pragma once

#include <string>

#include "tally/output/result/memory_result.hpp"

namespace tally::output {

/// Whether the machine was quiet enough, and how much was rejected.
std::string verdict_text(const result::Memory& memory);

/// What to do next about a contended run; empty for an undisturbed run.
std::string advice_text(const result::Memory& memory);

/// "L1 bandwidth", "double scalar", "single 256 bits".
std::string ceiling_name(const result::Ceiling& ceiling);

/// "188.7 GB/s", "59.2 GFLOP/s": with G and a unit.
std::string rate_text(double per_second, const char* unit);

/// What was counted during the timings and by which PMU, and why some or all events were not.
std::string counters_text(const result::Memory& memory);

}  // namespace tally::output
