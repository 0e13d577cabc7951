#include "tally/linux/process/program_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "tally/core/base/text.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// Returns 0 if the file can be executed, else the errno that execve would return. The kernel decides in the end.
int why_not_executable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  // AT_EACCESS: execve checks the effective user.
  if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) return errno;
  return 0;
}

/// What to type instead of several words that are one argument.
std::string hint_for_words(const std::string& name) {
  const std::size_t blank = name.find(' ');
  if (blank == std::string::npos) return {};
  return name.find('=') < blank ? "set a variable of the environment by `env NAME=VALUE PROGRAM`, in separate words"
                                : "write program and arguments as separate words; a line for the shell: `sh -c 'LINE'`";
}

tl::unexpected<Error> refused(const std::string& path, int why) {
  const std::string shown = printable(path);
  switch (why) {
    case ENOENT:
      return fail(Code::not_found, fmt::format("cannot run '{}': there is no such file", shown), hint_for_words(path),
                  why);
    case ENOTDIR:
      return fail(Code::not_found, fmt::format("cannot run '{}': a part of the path is not a directory", shown), "",
                  why);
    case EISDIR: return fail(Code::not_executable, fmt::format("cannot run '{}': it is a directory", shown), "", why);
    case EACCES:
      return fail(Code::not_executable, fmt::format("cannot run '{}': permission denied", shown),
                  "the file must be executable (chmod +x), and you need search permission for its directories", why);
    default: break;
  }
  return fail(Code::not_executable, fmt::format("cannot run '{}': {}", shown, errno_text(why)), "", why);
}

}  // namespace

std::string search_path() {
  if (const char* path = secure_getenv("PATH")) return path;
  return "/bin:/usr/bin";  // confstr(_CS_PATH) of the GNU C library, which execvp uses without PATH
}

Result<std::string> find_program(const std::string& name, const std::string& search_path) {
  if (name.empty()) return fail(Code::not_found, "cannot run '': the command's name is empty", "", ENOENT);
  if (name.find('/') != std::string::npos || name == "." || name == "..") {
    if (const int why = why_not_executable(name)) return refused(name, why);
    return name;
  }
  std::optional<std::pair<std::string, int>> seen;
  for (const std::string& folder : split(search_path, ':')) {
    const std::string path = folder.empty() ? "./" + name : folder + "/" + name;
    const int why = why_not_executable(path);
    if (why == 0) return path;
    // Like execvp: a directory of that name, or one that may not be searched, does not end the search.
    if ((why == EACCES || why == EISDIR) && !seen) seen = {path, why};
  }
  if (seen) return refused(seen->first, seen->second);
  return fail(Code::not_found,
              fmt::format("cannot run '{}': no directory in PATH contains a program with this name", printable(name)),
              hint_for_words(name), ENOENT);
}

Error become(const std::string& path, const std::vector<std::string>& command_line) {
  std::vector<std::string> copies = command_line;
  std::vector<char*> words;
  for (std::string& copy : copies) words.push_back(copy.data());
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  return refused(path, errno).value();
}

}  // namespace tally::linux
