#include "tally/tools/command/program_main.hpp"

#include <algorithm>
#include <exception>

#include "tally/linux/files/output_file.hpp"
#include "tally/linux/process/large_stack.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::command {
namespace {

// Whether a user started the program by its own name. `tally memory` starts it as `tally memory`.
bool is_started_by_its_name(const Program& program, std::string_view first_word) {
  return first_word.substr(first_word.rfind('/') + 1) == "tally-" + std::string(program.name);
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  linux::reserve_standard_descriptors();
  return linux::on_large_stack([=] {
    try {
      const std::vector<std::string> words(argv, argv + argc);
      record_invocation(words);
      const std::size_t first = words.empty() || is_started_by_its_name(program, words.front()) ? 1 : 2;
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

}  // namespace tally::command
