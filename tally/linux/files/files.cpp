#include "tally/linux/files/files.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tally/base/text.hpp"

namespace tally::linux {

namespace fs = std::filesystem;

std::string content(const fs::path& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  if (limit != std::numeric_limits<std::size_t>::max()) {
    std::string bytes(limit, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(limit));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return bytes;
  }
  std::ostringstream text;
  text << file.rdbuf();
  return trimmed(text.str());
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
