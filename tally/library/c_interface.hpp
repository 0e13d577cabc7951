// The errors and texts of the C interface.
#pragma once

#include <string>

#include "tally/core/base/error.hpp"

namespace tally::detail {

/// Two texts of the calling thread, which are valid until the next call: an error and its hint, or an event and the
/// reason of its count.
struct TwoTexts {
  const char* first;
  const char* second;
};
TwoTexts keep_texts(const std::string& first, const std::string& second);

/// Sets what tally_error() and tally_hint() return. Returns -1.
int fail_with(const Error& error);

struct Shared;

/// Returns the counters of C regions, and opens them first if needed; null if they cannot be opened.
Shared* shared_of_marks();

/// Returns why the counters of C regions did not open; null if they did, or if no region was entered.
const Error* why_no_regions();

}  // namespace tally::detail
