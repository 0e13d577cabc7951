// From facts to an answer.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/doctor.hpp"
#include "tally/tools/doctor/facts.hpp"

namespace tally::doctor {

/// The answer: whether hardware events can be counted, if not why, and what to do. A cause is named only where it was
/// established; else the answer says what was tried and what came back. Pure.
result::Diagnosis diagnose(const Facts& facts);

/// What can be counted on this machine by this version of tally, and how far it can be believed; `by_pmu`: there is one
/// that counts. Pure.
std::vector<result::Countable> countable(const Facts& facts, bool by_pmu);

/// The facts in the order and words of the report. Pure.
std::vector<result::FactGroup> describe(const Facts& facts);

/// "ENOENT" for 2, for the errors that perf_event_open(2) and ptrace(2) have; "error 77" for others.
std::string errno_name(int os_errno);

}  // namespace tally::doctor
