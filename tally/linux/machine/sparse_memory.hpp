// Zeroed memory that takes space only where it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tally/linux/files/memory_file.hpp"

namespace tally::linux {

/// A private range of zeroed memory. Can be moved; copied only by copy().
class SparseMemory {
 public:
  SparseMemory() = default;
  /// Nothing if there is not enough address space.
  static std::optional<SparseMemory> make(std::size_t bytes);

  /// Returns memory with the same content. Cost: copies the written pages, and checks one byte for each page.
  std::optional<SparseMemory> copy() const;

  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(mapping_.data()); }

 private:
  SparseMemory(std::uint8_t* at, std::size_t bytes) : mapping_(at, bytes), bytes_(bytes) {}

  Mapping mapping_;
  std::size_t bytes_ = 0;
};

}  // namespace tally::linux
