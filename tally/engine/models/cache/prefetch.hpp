// Prefetchers: the lines that are loaded before they are requested.
#pragma once

#include <cstdint>

namespace tally::models {

/// The active prefetchers. None is active by default.
struct PrefetchShape {
  bool next_line = false;  ///< prefetches the next line into L1D
  bool streamer = false;   ///< prefetches lines of a stream into L2
  bool operator==(const PrefetchShape&) const = default;
};

/// Prefetchers stay within a 4 KiB page, because they see physical addresses and the next page may be anywhere.
constexpr unsigned prefetch_page_bits = 12;

/// Returns the next line, or no_line at the end of the page. The next-line prefetcher requests it after an L1D miss and
/// after the first use of a line that it prefetched itself, so an ascending walk misses once per page.
std::uint64_t next_line(std::uint64_t address, unsigned line_bits);

/// Follows ascending and descending streams of requests within pages: two requests in one page in the same direction
/// make a stream, and each further one prefetches `ahead` lines. Follows eight pages and drops the least recently
/// followed one. The initial state is all zero.
class Streamer {
 public:
  /// Lines prefetched ahead of a stream.
  static constexpr unsigned ahead = 2;

  /// The lines to prefetch for a request: `count` lines from `first` on, at a distance of `step` bytes (negative for a
  /// descending stream). None for the first two requests of a page, after a change of direction, and after the end of
  /// the page.
  struct Lines {
    std::uint64_t first = 0;
    std::int64_t step = 0;
    unsigned count = 0;
    bool operator==(const Lines&) const = default;
  };

  /// Processes a request for the line of this address.
  Lines request(std::uint64_t address, unsigned line_bits);
  /// Does the same, and only returns whether a prefetcher has requested the line before: it is at most `ahead` lines
  /// after the last one of a stream, or as far as that one was from the one before it.
  bool continues(std::uint64_t address, unsigned line_bits);

 private:
  static constexpr unsigned pages = 8;
  struct Page {
    std::uint64_t tag = 0;   ///< page number + 1; 0 is empty
    std::uint64_t last = 0;  ///< the line of the last request
    std::int64_t step = 0;   ///< lines from the one before it that differs
  };
  /// A request: lines from the last one of its page, and the step before it.
  struct Move {
    std::int64_t lines, before;
    /// Whether it continues a stream.
    bool goes_on() const { return lines != 0 && before != 0 && (lines > 0) == (before > 0); }
  };
  Move follow(std::uint64_t address, unsigned line_bits);

  Page pages_[pages] = {};  ///< the most recently followed one first
};

}  // namespace tally::models
