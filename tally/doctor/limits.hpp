// What is still in the way of whoever may count.
#pragma once

#include <vector>

#include "tally/doctor/facts.hpp"
#include "tally/result/doctor.hpp"

namespace tally::doctor {

/// What cannot be done on a machine that counts, each with the exact setting: the kernel's part, whole processors,
/// reading counters without a system call, many counters at a time. Pure.
std::vector<result::Step> what_is_missing(const Facts& facts);

}  // namespace tally::doctor
