// The timed code: assembly, one file per architecture, so that no compiler sees what is measured.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::memory {

/// A reading of the time-stamp counter, ordered against everything before and after it.
struct Stamp {
  std::uint64_t ticks = 0;
  std::uint32_t processor = 0;  ///< that it was read on; 0 where the counter does not say (aarch64)
};

/// What a timed body leaves.
struct Timed {
  Stamp start;
  Stamp end;
  std::uint64_t offset = 0;  ///< where the chase stands: the next one goes on there

  std::uint64_t ticks() const { return end.ticks - start.ticks; }
  bool stayed() const { return start.processor == end.processor; }
};

/// Follows a chain of offsets: `steps` ≥ 1 loads of 8 bytes, each from base + what the one before gave.
Timed chase(const std::byte* base, std::uint64_t offset, std::uint64_t steps);

/// The most rings that can be walked together.
constexpr int most_rings = 16;

/// Follows `rings` chains at once, one load of each in turn; the loads of different rings do not wait for each other.
/// `offsets` holds where each stands, and afterwards where it came to.
Timed chase_together(const std::byte* base, std::uint64_t* offsets, int rings, std::uint64_t steps);

/// `steps` times: stores 8 bytes at `store_at` and loads 8 at `load_at`; what was loaded is what is stored next.
Timed store_and_load(std::byte* base, std::uint64_t store_at, std::uint64_t load_at, std::uint64_t steps);

/// `count` additions (a multiple of 16, at least 16), each of which waits for the one before: one core cycle each.
Timed adds(std::uint64_t count);

/// Two stamps with nothing between them but the full fence.
Timed nothing();

/// Writes the line at each multiple of `line` back and drops it from all caches, then waits for that. False where the
/// architecture has no such instruction for programs.
bool flush(const std::byte* first, std::size_t bytes, std::size_t line);

}  // namespace tally::memory
