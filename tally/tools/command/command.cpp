#include "tally/tools/command/command.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"

namespace tally::command {

int exit_code(Code code) {
  switch (code) {
    case Code::bad_usage: return exit_bad_usage;
    case Code::not_found: return exit_not_found;
    case Code::not_executable: return exit_not_executable;
    case Code::cannot_measure:
    case Code::cannot_write: break;
  }
  return exit_cannot_measure;
}

void say(const std::vector<std::string>& lines) {
  std::string text;
  const std::size_t columns = linux::terminal_columns(linux::Stream::error);
  for (const std::string& line : lines) {
    const std::string_view first = text.empty() ? "tally: " : "       ";
    const bool fits = columns == 0 || first.size() + display_width(line) <= columns;
    text += fits ? fmt::format("{}{}\n", first, line) : hanging(first, line, columns);
  }
  text = ForeignText(text).in_lines();
  // A single write keeps it separate from the program's output. A failure cannot be reported anywhere.
  (void)linux::Output::standard_error().write(text);
}

int report_error(const Error& error) {
  if (error.code == Code::cannot_write && error.os_errno == EPIPE) return exit_ok;
  std::vector<std::string> lines = split(error.message, '\n');
  const bool lacks_descriptors = error.os_errno == EMFILE && error.hint.empty();
  const std::string& advice = lacks_descriptors ? "raise the limit of open files: `ulimit -n`" : error.hint;
  if (!advice.empty())
    for (std::string& hint : split(advice, '\n')) lines.push_back(std::move(hint));
  say(lines);
  return exit_code(error.code);
}

int print(std::string_view text) { return write_text("-", text); }

int write_text(const std::string& output, std::string_view text) {
  auto file = linux::Output::open_file_or_stream(output.empty() ? "-" : output);
  if (!file) return report_error(file.error());
  const auto written = file->write(text);
  return written ? exit_ok : report_error(written.error());
}

}  // namespace tally::command
