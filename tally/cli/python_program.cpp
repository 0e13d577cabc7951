#include "tally/cli/python_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tally/hardware/event/event.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/process/program_file.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t most_events = 4;

bool names_python(std::string_view path) { return path.substr(path.rfind('/') + 1).starts_with("python"); }

// Whether Python executes a script, by its first line: "#!/usr/bin/env python3".
bool is_python_script(std::string_view file) {
  if (!file.starts_with("#!")) return false;
  const std::string_view line = file.substr(2, file.find('\n') - 2);
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (names_python(line.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

bool are_countable(const std::vector<event::Event>& events) {
  return events.size() <= most_events && std::all_of(events.begin(), events.end(), [](const event::Event& one) {
           return event::definition(one.id).kind == event::Kind::hardware;
         });
}

/// Whether a format contains Python functions. The others consist of calls or of instructions.
bool can_show_python(const output::Format& format) {
  return format.is_for_people || format.is_page || format.name == "json" || format.name == "callgrind";
}

}  // namespace

bool is_python_program(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  if (names_python(command.front())) return true;
  const auto path = linux::find_program(command.front(), linux::search_path());
  if (!path) return false;
  const auto file = linux::FileBytes::of(*path);
  return file && is_python_script(file->bytes());
}

Result<void> choose_python(backend::Order& order, bool asked, const output::Format& format) {
  const bool can = are_countable(order.events) && can_show_python(format) && order.parts() == nullptr;
  if (asked && !can_show_python(format))
    return fail(Code::bad_usage, fmt::format("--python: the format {} has no Python functions", format.name),
                "use the format table, html, json or callgrind");
  if (asked && order.parts() != nullptr)
    return fail(Code::bad_usage, "--python and --parts cannot be used together: parts do not divide Python functions",
                "omit one of them");
  if (asked && !can)
    return fail(Code::bad_usage, "--python needs at most 4 events, and none of a machine model",
                "count the others in another run");
  order.profile()->python = can && (asked || is_python_program(order.target.command));
  return {};
}

}  // namespace tally::cli
