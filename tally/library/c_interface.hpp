// The errors of the C interface.
#pragma once

#include "tally/core/base/error.hpp"

namespace tally::detail {

/// Sets what tally_error() and tally_hint() return. Returns -1.
int fail_with(const Error& error);

/// Returns why the counters of C regions did not open; null if they did, or if no region was entered.
const Error* why_no_regions();

}  // namespace tally::detail
