// Reads ceilings that were stored.
#pragma once

#include <optional>
#include <string_view>

#include "tally/output/result/ceilings.hpp"

namespace tally::result {

/// Reads them from a JSON text with the key `ceilings`; nothing from another text.
std::optional<Ceilings> parse_ceilings(std::string_view text);

}  // namespace tally::result
