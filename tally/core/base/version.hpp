// The version of tally.
#pragma once

#include <string_view>

namespace tally {

/// "0.9.0".
std::string_view version();

}  // namespace tally
