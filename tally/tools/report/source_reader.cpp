#include "tally/tools/report/source_reader.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tally/linux/files/input.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::report {

output::SourceReader source_reader() {
  const auto texts = std::make_shared<std::map<std::string, std::optional<std::string>>>();
  return [texts](const std::string& path, const std::string& object) -> std::optional<output::SourceFile> {
    // The paths come from debug information, which can name any file: read at most this much.
    constexpr std::uint64_t most_bytes = 64 << 20;
    const auto [text, is_new] = texts->try_emplace(path);
    if (is_new)
      if (auto read = linux::read_regular_file(path, most_bytes)) text->second = *std::move(read);
    if (!text->second) return std::nullopt;
    return output::SourceFile{*text->second, linux::is_newer(path, object)};
  };
}

}  // namespace tally::report
