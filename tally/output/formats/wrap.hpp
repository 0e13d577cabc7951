// Text in lines of 80 columns.
#pragma once

#include <string>
#include <string_view>

namespace tally::report {

/// `start`, then `text` in lines that stay within 80 columns where their words allow it; further lines begin below the
/// first one's text. Ends with a line break.
std::string hanging(std::string_view start, std::string_view text);

}  // namespace tally::report
