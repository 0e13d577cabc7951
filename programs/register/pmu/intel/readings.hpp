// Explains values of Intel's registers in words.
#pragma once

#include <span>
#include <string>

#include "programs/register/pmu/codec.hpp"

namespace tally::pmu::intel {

/// IA32_PERFEVTSELn: "counts branches retired in user mode".
std::string event_select_summary(const Value& value);

/// The name of the event, for the row of the event field.
std::string event_select_reading(const Value& value, const Slot& slot);

/// IA32_FIXED_CTR_CTRL: "counter 0 (instructions): user, PMI; …".
std::string fixed_control_summary(const Value& value);

/// IA32_PERF_GLOBAL_CTRL: "counters 0–3 and fixed counters 0–2 may count".
std::string global_control_summary(const Value& value);

/// IA32_PERF_GLOBAL_STATUS: "overflow of counter 0".
std::string global_status_summary(const Value& value);

/// IA32_PERF_GLOBAL_OVF_CTRL: "clears the overflow of fixed counter 0".
std::string reset_summary(const Value& value);

/// IA32_PEBS_ENABLE: "PEBS records of counter 0".
std::string pebs_enable_summary(const Value& value);

/// LVT: "vector 33H, Fixed, masked".
std::string local_vector_summary(const Value& value);

/// RDPMC's ECX: "fixed counter 0 (instructions retired)".
std::string rdpmc_summary(const Value& value);

/// The event of fixed counter i: "instructions"; "unnamed" for unknown counters.
std::string_view fixed_counter_event(int index);

}  // namespace tally::pmu::intel
