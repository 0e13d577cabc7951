// From counts of instructions to functions and lines.
#pragma once

#include "tally/output/result/code.hpp"
#include "tally/output/result/profile.hpp"

namespace tally::profile {

/// Of what lines of source are wanted: that takes a file's debug information, which may be compressed.
enum class Lines { of_functions, of_rows };

/// Whether inlined functions are found: that takes all debug information of the functions that ran.
enum class Inlines { no, yes };

/// Finds the names of all code: functions, and lines of source where there is debug information. Files that were
/// replaced or removed since are named as such, and their code by addresses. Where a signal asks tally to end, names
/// that are not known yet are left out (linux::is_interrupted()). Cost: 1 us for each symbol of each file, 0.5 us for
/// each row.
result::Profile resolve(result::CodeCounts code, result::Stat stat, Lines lines, Inlines inlines = Inlines::no);

}  // namespace tally::profile
