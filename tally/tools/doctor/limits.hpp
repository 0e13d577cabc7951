// What is still in the way of whoever may count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/doctor.hpp"
#include "tally/tools/doctor/facts.hpp"

namespace tally::doctor {

/// What cannot be done on a machine that counts, each with the exact setting: the kernel's part, whole processors,
/// reading counters without a system call, many counters at a time. Pure.
std::vector<result::Step> what_is_missing(const Facts& facts);

/// How many counters programs may read in user mode at a time: each has a page that counts as locked memory.
struct UserModeRoom {
  std::optional<std::int64_t> counters;  ///< nothing where there is no limit
  std::string words;                     ///< what that means
};

/// Nothing where the kernel's settings are not known. Pure.
std::optional<UserModeRoom> user_mode_room(const linux::Survey& survey);

}  // namespace tally::doctor
