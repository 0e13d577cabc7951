// Values of the Python functions of a profile that its formats share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// The name of the row for what no Python function counted.
inline constexpr const char* outside_python_name = "[outside Python functions]";

/// Of each event, what was counted outside Python functions: the rest of the total.
std::vector<std::int64_t> outside_python(const result::Profile& profile);

/// Where a function is defined: "FILE:LINE", or the file if the line is unknown.
std::string location_of(const result::PythonFunction& function);

}  // namespace tally::output
