#include "tally/linux/files/report_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

Result<std::string> write_report(std::string_view name, std::string_view text) {
  const char* const named = secure_getenv("TMPDIR");
  const std::string folder = named != nullptr && *named != '\0' ? named : "/tmp";
  std::string path = fmt::format("{}/{}-XXXXXX.txt", folder, name);
  const Descriptor file(mkostemps(path.data(), 4, O_CLOEXEC));
  if (!file) return fail(Code::cannot_write, fmt::format("{}: {}", path, std::strerror(errno)), "");
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written <= 0) return fail(Code::cannot_write, fmt::format("{}: {}", path, std::strerror(errno)), "");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return path;
}

}  // namespace tally::linux
