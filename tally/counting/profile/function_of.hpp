// Names of addresses.
#pragma once

#include <cstdint>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// Returns the function that contains this address, or null.
const NamedCode* function_of(const CodeNames& names, std::uint64_t address);

}  // namespace tally::profile
