#include "programs/lab/scratch.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tally/linux/process/tool.hpp"

namespace tally::lab {

namespace fs = std::filesystem;

Folder::~Folder() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

Result<fs::path> new_folder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string name = (base / "tally-lab-XXXXXX").string();
  if (error || !mkdtemp(name.data())) {
    return fail(Code::cannot_measure, "cannot create a directory for the assembler's files",
                "set TMPDIR to a writable directory");
  }
  return fs::path(name);
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

ToolOutput output_of(const std::vector<std::string>& command) {
  auto end = linux::run_tool(command);
  if (!end) return {end.error().message, -1, end.error().code == Code::not_found, false};
  return {std::move(end->output), end->exit_code, false, end->was_stopped};
}

}  // namespace tally::lab
