// What is known of windows only when the program has ended.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/windows_result.hpp"

namespace tally::windows {

/// Adds what the programs have read, and lowers the trust of events to that of the whole run. Returns a line for each
/// reason.
std::vector<std::string> complete(result::WindowsHead& head, const result::Stat& stat);

}  // namespace tally::windows
