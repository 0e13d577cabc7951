// Remaining limits on a machine that can count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/doctor/diagnosis.hpp"
#include "programs/doctor/host_facts.hpp"

namespace tally::doctor {

/// What is not possible on a machine that counts, each with the required setting: the kernel, whole processors, reading
/// counters without a system call, many counters at the same time. Pure.
std::vector<Step> remaining_limits(const Facts& facts);

/// How many counters programs may read in user mode at the same time: each needs a page of locked memory.
struct UserModeCounterLimit {
  std::optional<std::int64_t> counters;  ///< empty without a limit
  std::string words;                     ///< explanation
};

/// Empty if the kernel's settings are unknown. Pure.
std::optional<UserModeCounterLimit> user_mode_counter_limit(const linux::Survey& survey);

}  // namespace tally::doctor
