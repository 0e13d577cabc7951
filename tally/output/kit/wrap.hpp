// Text in lines of 80 columns.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/text.hpp"

namespace tally::output {

/// `start`, then `text` in lines of at most 80 columns if its words allow it; further lines begin below the text of the
/// first. Ends with a line break.
std::string hanging(std::string_view start, std::string_view text);
using tally::hanging;

/// The same in lines of this number of columns.
std::string hanging_within(std::size_t columns, std::string_view start, std::string_view text);

}  // namespace tally::output
