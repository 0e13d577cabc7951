#include "programs/memory/reported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::memory {
namespace {

std::int64_t number_in(const std::filesystem::path& file) { return parse_integer(linux::content(file)).value_or(0); }

// Parses "32K" or "480M" (Documentation/ABI/testing/sysfs-devices-system-cpu).
std::int64_t size_in(const std::filesystem::path& file) {
  std::string text = linux::content(file);
  if (text.empty()) return 0;
  const char unit = text.back();
  if (unit == 'K' || unit == 'M') text.pop_back();
  const std::int64_t number = parse_integer(text).value_or(0);
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number;
}

}  // namespace

std::vector<ReportedCache> reported_caches(int processor, const std::string& root) {
  const std::filesystem::path folder =
      std::filesystem::path(root) / fmt::format("sys/devices/system/cpu/cpu{}", processor);
  const std::string siblings = linux::content(folder / "topology/thread_siblings_list");
  std::vector<ReportedCache> caches;
  for (const std::string& entry : linux::folder_entries(folder / "cache")) {
    const auto cache = folder / "cache" / entry;
    const std::string type = linux::content(cache / "type");
    if (type != "Data" && type != "Unified") continue;
    ReportedCache one;
    one.level = static_cast<int>(number_in(cache / "level"));
    one.bytes = size_in(cache / "size");
    one.ways = number_in(cache / "ways_of_associativity");
    one.sets = number_in(cache / "number_of_sets");
    one.line_bytes = number_in(cache / "coherency_line_size");
    one.shared = linux::content(cache / "shared_cpu_list") != siblings || one.level > 2;
    if (one.bytes > 0) caches.push_back(one);
  }
  std::sort(caches.begin(), caches.end(),
            [](const ReportedCache& a, const ReportedCache& b) { return a.level < b.level; });
  return caches;
}

std::vector<KnownCache> known_caches(const std::vector<ReportedCache>& reported) {
  std::vector<KnownCache> known;
  for (const ReportedCache& one : reported) known.push_back({one.level, one.bytes, one.shared});
  return known;
}

}  // namespace tally::memory
