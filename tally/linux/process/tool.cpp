#include "tally/linux/process/tool.hpp"

#include <array>
#include <cstdio>

#include "tally/base/text.hpp"
#include "tally/linux/process/program.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system.hpp"

namespace tally::linux {

Result<ToolEnd> run_tool(const std::vector<std::string>& command) {
  if (const auto found = find_program(command.front(), search_path()); !found) return fail(found.error());
  std::FILE* const pipe = popen((shell_words(command) + " 2>&1 </dev/null").c_str(), "re");
  if (!pipe) return system_failure(Code::cannot_measure, "cannot start " + command.front());
  ToolEnd end;
  std::array<char, 4096> part;
  for (;;) {
    const std::size_t got = std::fread(part.data(), 1, part.size(), pipe);
    if (got == 0) break;
    end.said.append(part.data(), got);
  }
  const int status = pclose(pipe);
  if (status == -1) return system_failure(Code::cannot_measure, "cannot wait for " + command.front());
  end.exit_code = exit_of(status).code;
  return end;
}

}  // namespace tally::linux
