#include "tally/tools/command/common_options.hpp"

namespace tally::command {

void add_format_option(Page& page, std::string& format, const std::vector<const output::Format*>& formats,
                       const std::string& text) {
  page.add_option("--format", format, text).value_name("FORMAT").words(output::names_of(formats));
}

void add_output_option(Page& page, std::string& output) {
  page.add_option("-o,--output", output, "write the result to FILE (default: standard output)").output_file();
}

Option add_backend_option(Page& page, std::string& backend, const std::string& text) {
  return page.add_option("--backend", backend, text).value_name("BACKEND").renamed("sim", "engine");
}

void add_quiet_option(Page& page, bool& quiet) {
  page.add_flag("-q,--quiet", quiet,
                "do not print the notice about the selected backend; TALLY_QUIET=1 in the environment does the same");
}

}  // namespace tally::command
