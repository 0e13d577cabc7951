#include "tally/linux/files/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

namespace fs = std::filesystem;

std::string content(const fs::path& path, std::size_t limit) {
  // In a directory of others it may be a pipe without a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode)) return {};
  std::array<char, 1 << 14> buffer;
  std::string text;
  while (text.size() < limit) {
    const std::size_t wanted = std::min(buffer.size(), limit - text.size());
    const ssize_t n = retry([&] { return read(file.get(), buffer.data(), wanted); });
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return limit == std::numeric_limits<std::size_t>::max() ? trimmed(text) : text;
}

bool write_kernel_file(const fs::path& path, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return file &&
         retry([&] { return write(file.get(), text.data(), text.size()); }) == static_cast<ssize_t>(text.size());
}

std::vector<std::string> folder_entries(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string value_of(const std::string& text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(std::string_view(line).substr(0, colon)) == key) {
      return trimmed(std::string_view(line).substr(colon + 1));
    }
  }
  return {};
}

}  // namespace tally::linux
