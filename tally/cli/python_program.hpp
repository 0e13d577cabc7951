// --python of `tally profile`: whether a command is a Python program, and whether its functions can be counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/output/kinds/format.hpp"

namespace tally::cli {

/// Whether the command starts a Python interpreter: by the name of its file, or by the first line of a script.
bool is_python_program(const std::vector<std::string>& command);

/// Selects whether Python functions are counted: `asked`, or, if order and format allow it, for Python programs.
/// Errors: bad_usage if they are asked for and the events, the format or parts do not allow it.
Result<void> choose_python(backend::Order& order, bool asked, const output::Format& format);

}  // namespace tally::cli
