// File names as valgrind's options contain them: %p, %n, %q{NAME}.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::callgrind {

/// Returns the value of an environment variable; null if it is not set.
using Variable = std::function<const char*(const std::string& name)>;

/// Replaces %p by the process ID, %n by 1, which is the number of the only file with this name, %q{NAME} by an
/// environment variable and %% by %. `option`: its name in errors. Errors: bad_usage for another character after %, and
/// for a missing variable.
Result<std::string> file_name_of(const std::string& option, const std::string& text, std::int64_t process,
                                 const Variable& variable);

}  // namespace tally::callgrind
