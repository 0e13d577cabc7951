// The declared cache of the lab's processors: every access is a reference, and an access to an absent line is a miss.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tally::lab {

/// Direct-mapped, with lines of 64 bytes; only an access to another line displaces a line.
class LineTags {
 public:
  explicit LineTags(std::uint64_t cache_bytes) : tags_(std::max<std::uint64_t>(cache_bytes / 64, 1), ~0ULL) {}

  void access(std::uint64_t address) {
    const std::uint64_t line = address >> 6;
    std::uint64_t& tag = tags_[line % tags_.size()];
    ++references_;
    misses_ += tag != line;
    tag = line;
  }
  /// Resets the counts for the next instruction.
  void clear_counts() { references_ = misses_ = 0; }
  std::uint32_t references() const { return references_; }
  std::uint32_t misses() const { return misses_; }

 private:
  std::vector<std::uint64_t> tags_;
  std::uint32_t references_ = 0, misses_ = 0;
};

}  // namespace tally::lab
