// Draws conclusions from the facts about a machine.
#pragma once

#include <string>
#include <vector>

#include "programs/doctor/diagnosis.hpp"
#include "programs/doctor/host_facts.hpp"

namespace tally::doctor {

/// Whether hardware events can be counted, if not why, and what to do. Names a cause only if it is certain; else
/// reports what was tried and the result. Pure.
Diagnosis diagnose(const Facts& facts);

/// The facts in the order and wording of the report. Pure.
std::vector<FactGroup> describe(const Facts& facts);

/// "ENOENT" for 2, for the errors of perf_event_open(2) and ptrace(2); "error 77" for others.
std::string errno_name(int os_errno);

}  // namespace tally::doctor
