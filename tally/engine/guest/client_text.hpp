/// Text that the program prints by VALGRIND_PRINTF.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// Writes a text to standard error, each line after "**PID** ", as valgrind does. `format`: address of a printf format
/// in the program; it may have integers (d i u x X p c), strings, width, '-', '0' and '#'. `arguments`: address of a
/// va_list. Returns the number of characters. Memory that cannot be read ends the text.
u64 print_client_text(s64 pid, u64 format, u64 arguments);

}  // namespace tally::engine::guest
