// What the system reports about the caches of a processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/memory/analysis/findings.hpp"

namespace tally::memory {

/// One data or unified cache.
struct ReportedCache {
  int level = 0;
  std::int64_t bytes = 0;
  std::int64_t ways = 0;  ///< 0: not reported
  std::int64_t sets = 0;
  std::int64_t line_bytes = 0;
  bool shared = false;  ///< with other cores
  bool operator==(const ReportedCache&) const = default;
};

/// The caches that the kernel lists for a processor, lowest level first; empty if it lists none. `root` is the
/// directory that contains sys/. Reads some small files.
std::vector<ReportedCache> reported_caches(int processor, const std::string& root = "/");

/// The same caches in the form that the analysis uses.
std::vector<KnownCache> known_caches(const std::vector<ReportedCache>& reported);

}  // namespace tally::memory
