#include "tally/tools/command/program_main.hpp"

#include <algorithm>
#include <exception>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/process/large_stack.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::command {
namespace {

// Whether a user started the program by its own name. `tally memory` starts it as `tally memory`.
bool is_started_by_its_name(const Program& program, std::string_view first_word) {
  const std::string_view name = first_word.substr(first_word.rfind('/') + 1);
  return name == program.name || name == "tally-" + std::string(program.name);
}

// `first`: the number of words before the arguments.
int run_command(const Program& program, std::size_t first, int argc, char** argv) {
  linux::reserve_standard_descriptors();
  return linux::on_large_stack([=] {
    try {
      const std::vector<std::string> words(argv, argv + argc);
      record_invocation(words);
      const std::vector<std::string> arguments(words.begin() + std::min<std::ptrdiff_t>(first, argc), words.end());
      if (arguments.size() == 1 && arguments.front() == describe_option) {
        Page page;
        program.describe(page);
        return print(description_json(page.description()));
      }
      return program.run(arguments);
    } catch (const std::exception& failure) {
      // Libraries throw if memory runs out; tally's own code never throws.
      return report_error({Code::cannot_measure, failure.what(), "", 0});
    }
  });
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  return run_command(program, argc == 0 || is_started_by_its_name(program, argv[0]) ? 1 : 2, argc, argv);
}

int run_program_of(std::span<const Program> commands, int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const Program& command : commands)
    if (command.name == word) return run_command(command, 2, argc, argv);
  std::vector<std::string> names;
  for (const Program& command : commands) names.emplace_back(command.name);
  return report_error({Code::bad_usage, "the first argument is not the name of a command", join(names, ", "), 0});
}

}  // namespace tally::command
