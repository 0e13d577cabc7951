// The timed code: assembly, one file per architecture, so that no compiler changes what is measured.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::memory {

/// A reading of the time-stamp counter, ordered against everything before and after it.
struct Stamp {
  std::uint64_t ticks = 0;
  std::uint32_t processor = 0;  ///< that it was read on; 0 if the counter does not report it (aarch64)
};

/// The stamps around a timed body, and its result.
struct Timed {
  Stamp start;
  Stamp end;
  std::uint64_t offset = 0;  ///< where the chase ended and the next one continues

  std::uint64_t ticks() const { return end.ticks - start.ticks; }
  bool stayed() const { return start.processor == end.processor; }
};

/// Follows a chain of offsets: `steps` ≥ 1 loads of 8 bytes, each from base + the value of the previous load.
Timed chase(const std::byte* base, std::uint64_t offset, std::uint64_t steps);

/// The maximum number of rings that can be walked together.
constexpr int most_rings = 16;

/// Follows `rings` chains at once, one load of each in turn; loads of different rings are independent. `offsets`
/// contains the current offset of each ring, and is updated.
Timed chase_together(const std::byte* base, std::uint64_t* offsets, int rings, std::uint64_t steps);

/// Repeats `steps` times: stores 8 bytes at `store_at`, then loads 8 bytes at `load_at`, which are stored next.
Timed store_and_load(std::byte* base, std::uint64_t store_at, std::uint64_t load_at, std::uint64_t steps);

/// Executes `count` additions (a multiple of 16, at least 16), each dependent on the previous: one core cycle each.
Timed adds(std::uint64_t count);

/// Two stamps with only the full fence between them.
Timed nothing();

/// Writes back the line at each multiple of `line`, drops it from all caches, and waits until that is done. False if
/// the architecture has no such instruction for programs.
bool flush(const std::byte* first, std::size_t bytes, std::size_t line);

}  // namespace tally::memory
