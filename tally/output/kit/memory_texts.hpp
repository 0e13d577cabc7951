// Texts that the table and the page of `tally memory` share.
#pragma once

#include <string>

#include "tally/output/result/memory_result.hpp"

namespace tally::output {

/// Whether the machine was quiet enough, and how much was rejected.
std::string verdict_text(const result::Memory& memory);

/// What to do next about a contended run; empty for an undisturbed run.
std::string advice_text(const result::Memory& memory);

/// What was counted during the timings and by which PMU, and why some or all events were not.
std::string counters_text(const result::Memory& memory);

}  // namespace tally::output
