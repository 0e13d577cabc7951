#include "tally/engine/machines/host_file.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/state_folder.hpp"

namespace tally::machines {
namespace {

constexpr std::uint64_t most_file_bytes = 64 << 10;

std::string host_line(const std::filesystem::path& root) {
  const std::string cpuinfo = linux::content(root / "proc/cpuinfo");
  return fmt::format("host: {}, {}, family {}, model {}\n", trimmed(linux::content(root / "proc/sys/kernel/hostname")),
                     linux::value_of(cpuinfo, "model name"), linux::value_of(cpuinfo, "cpu family"),
                     linux::value_of(cpuinfo, "model"));
}

}  // namespace

bool store_for_host(const std::string& name, const std::string& text, const std::filesystem::path& root) {
  const std::string path = linux::cache_folder();
  if (path.empty()) return false;
  const auto folder = linux::StateFolder::open(path, true);
  return folder && folder->write(name, host_line(root) + text).has_value();
}

std::optional<std::string> stored_for_host(const std::string& name, const std::filesystem::path& root) {
  const std::string path = linux::cache_folder();
  if (path.empty()) return std::nullopt;
  const auto folder = linux::StateFolder::open(path, false);
  const auto text = folder ? folder->read(name, most_file_bytes) : std::nullopt;
  const std::string line = host_line(root);
  if (!text || !text->starts_with(line)) return std::nullopt;
  return text->substr(line.size());
}

}  // namespace tally::machines
