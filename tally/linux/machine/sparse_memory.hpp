// Zeroes that take no memory until they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tally/linux/files/memory_file.hpp"

namespace tally::linux {

/// A range of zeroed memory of this process alone. Moves, never copies by itself.
class SparseMemory {
 public:
  SparseMemory() = default;
  /// Nothing where there is no room for so many bytes.
  static std::optional<SparseMemory> make(std::size_t bytes);

  /// The same contents. Cost: what was written is copied; a byte is looked at for each page.
  std::optional<SparseMemory> copy() const;

  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(mapping_.data()); }

 private:
  SparseMemory(std::uint8_t* at, std::size_t bytes) : mapping_(at, bytes), bytes_(bytes) {}

  Mapping mapping_;
  std::size_t bytes_ = 0;
};

}  // namespace tally::linux
