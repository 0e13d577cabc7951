#include "tally/cli/script.hpp"

#include "tally/cli/commands.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::cli {
namespace {

constexpr const char* script_example = "for example: tally stat --from-script -- python3 script.py";

// Whether the interpreter's option takes the next word.
bool takes_a_word(std::string_view option) {
  return option == "-W" || option == "-X" || option == "--check-hash-based-pycs";
}

// Whether the letters of an option include one that names the code to run instead of a script: -c, -m, -Sc.
bool names_code(std::string_view option) {
  if (option.size() < 2 || option[1] == '-' || option[1] == 'W' || option[1] == 'X') return false;
  return option.find_first_of("cm") != std::string_view::npos;
}

}  // namespace

void add_script_option(Page& page, bool& from_script) {
  page.add_flag(
          "--from-script", from_script,
          "the program is python3 SCRIPT: also count the script alone, from its first line to its end, as a region")
      .in(regions_group);
}

Result<std::vector<std::string>> script_command(std::vector<std::string> command, const std::string& runner) {
  if (command.empty()) return fail(Code::bad_usage, "--from-script needs a command", script_example);
  const std::string program = command.front().substr(command.front().rfind('/') + 1);
  if (!program.starts_with("python") && !program.starts_with("pypy")) {
    return fail(Code::bad_usage,
                fmt::format("--from-script needs a Python interpreter as the program, not '{}'", printable(program)),
                script_example);
  }
  std::size_t script = 1;
  while (script < command.size() && command[script].starts_with('-') && command[script].size() > 1) {
    if (names_code(command[script])) {
      return fail(Code::bad_usage,
                  fmt::format("--from-script needs a script: {} runs other code", printable(command[script])),
                  script_example);
    }
    script += takes_a_word(command[script]) ? 2 : 1;
  }
  if (script >= command.size() || command[script] == "-")
    return fail(Code::bad_usage, "--from-script needs a script after the interpreter", script_example);
  command.insert(command.begin() + static_cast<std::ptrdiff_t>(script), runner);
  return command;
}

Result<std::string> find_script_runner() {
  const std::string folder = linux::own_folder();
  for (const char* relative_path : {"/python_script.py", "/../libexec/tally/python_script.py"})
    if (linux::exists(folder + relative_path)) return folder + relative_path;
  return fail(Code::cannot_measure, "--from-script: no 'python_script.py' in " + printable(folder),
              "build or install tally again");
}

}  // namespace tally::cli
