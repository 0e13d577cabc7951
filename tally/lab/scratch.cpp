#include "tally/lab/scratch.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tally/base/text.hpp"

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
    return fail(Code::cannot_measure, "cannot make a folder for the assembler's files",
                "set TMPDIR to one that may be written");
  }
  return fs::path(name);
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool Said::is_missing() const {
  constexpr int not_found = 127 << 8;  // of the shell
  return status == not_found || status == -1;
}

Said output_of(const std::string& command) {
  Said said;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (pipe) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe);
    if (got == 0) break;
    said.text.append(buffer.data(), got);
  }
  said.status = pipe ? pclose(pipe) : -1;
  return said;
}

std::string shell_path(const fs::path& path) { return shell_words({path.string()}); }

}  // namespace tally::lab
