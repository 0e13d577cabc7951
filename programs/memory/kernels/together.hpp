// Walks several chains at once: one instantiation for each number of rings, so that all offsets stay in registers if
// there are enough.
#pragma once

#include <array>
#include <utility>

#include "programs/memory/kernels/flavours.hpp"

namespace tally::memory {

/// `load(base, offset)` is the architecture's load of 8 bytes.
template <auto load, std::size_t... ring>
Timed chase_rings(const std::byte* base, std::uint64_t* offsets, std::uint64_t steps, std::index_sequence<ring...>) {
  std::array<std::uint64_t, sizeof...(ring)> at{offsets[ring]...};
  const Stamp start = begin_stamp();
  for (std::uint64_t i = 0; i < steps; ++i) ((at[ring] = load(base, at[ring])), ...);
  const Stamp end = end_stamp();
  ((offsets[ring] = at[ring]), ...);
  return {start, end, at[0]};
}

template <auto load, std::size_t... rings>
Timed chase_rings_of(const std::byte* base, std::uint64_t* offsets, int count, std::uint64_t steps,
                     std::index_sequence<rings...>) {
  using Chase = Timed (*)(const std::byte*, std::uint64_t*, std::uint64_t);
  static constexpr std::array<Chase, sizeof...(rings)> all{
      [](const std::byte* from, std::uint64_t* places, std::uint64_t times) {
        return chase_rings<load>(from, places, times, std::make_index_sequence<rings + 1>());
      }...};
  return all[static_cast<std::size_t>(count - 1)](base, offsets, steps);
}

}  // namespace tally::memory
