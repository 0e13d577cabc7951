#include "tally/tools/command/terminal_output.hpp"

#include "tally/linux/files/terminal_width.hpp"

namespace tally::command {

Result<void> check_binary_output(const output::Format& format, const linux::Output& output) {
  if (!format.is_binary || !output.is_terminal()) return {};
  return fail(Code::bad_usage, "refusing to write binary data to a terminal", "use `-o FILE`");
}

std::size_t terminal_columns(const linux::Output& output) {
  if (!output.is_terminal()) return 0;
  return linux::terminal_columns(output.is_standard_error() ? linux::Stream::error : linux::Stream::output);
}

}  // namespace tally::command
