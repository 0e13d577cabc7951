// Prefetchers: which lines come without being asked for.
#pragma once

#include <cstdint>

namespace tally::models {

/// Which prefetchers work. Every model starts without.
struct PrefetchShape {
  bool next_line = false;  ///< brings the next line into L1D
  bool streamer = false;   ///< brings lines of a stream into L2
  bool operator==(const PrefetchShape&) const = default;
};

/// Prefetchers stay within a page of 4 KiB: they see physical addresses, and the next page may be anywhere.
constexpr unsigned prefetch_page_bits = 12;

/// The line after this one, or no_line where the page ends. The next-line prefetcher asks for it when a line is missed
/// in L1D, and when one that it brought itself is used for the first time, so that an ascending walk misses once a
/// page.
std::uint64_t next_line(std::uint64_t address, unsigned line_bits);

/// Follows streams of requests through pages, upwards and downwards: two requests in one page in the same direction
/// make a stream, and each further one brings `ahead` lines beyond it. Eight pages are followed, the one that was
/// followed longest ago is given up. Zeroes are the state at the beginning.
class Streamer {
 public:
  /// Lines brought ahead of a stream.
  static constexpr unsigned ahead = 2;

  /// The lines to bring for a request: `count` of them, each `step` bytes (negative for a stream that goes down) after
  /// the one before, from `first` on. None at the first two requests of a page, when the direction turns, and beyond
  /// the page.
  struct Lines {
    std::uint64_t first = 0;
    std::int64_t step = 0;
    unsigned count = 0;
    bool operator==(const Lines&) const = default;
  };

  /// A request for the line of this address.
  Lines request(std::uint64_t address, unsigned line_bits);

 private:
  static constexpr unsigned pages = 8;
  struct Page {
    std::uint64_t tag = 0;   ///< page number + 1; 0 is empty
    std::uint64_t last = 0;  ///< the line of the last request
    std::int64_t direction = 0;
  };
  Page pages_[pages] = {};  ///< the one followed last first
};

}  // namespace tally::models
