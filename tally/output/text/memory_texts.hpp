// What the table and the page of `tally memory` say in the same words.
#pragma once

#include <string>

#include "tally/output/result/memory.hpp"

namespace tally::report {

/// Whether the machine was quiet enough, and what was thrown away.
std::string verdict_text(const result::Memory& memory);

/// What to do next about a contended run; empty where there is nothing to do.
std::string advice_text(const result::Memory& memory);

/// What was counted beside the timings, by whom, and why something or all of it was not.
std::string counters_text(const result::Memory& memory);

}  // namespace tally::report
