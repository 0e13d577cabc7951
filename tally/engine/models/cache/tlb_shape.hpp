// The parameters of TLBs.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache_level.hpp"

namespace tally::models {

/// The parameters of the TLBs. All pages have the size in the shapes (line_bits, 12 for 4 KiB): a program cannot see
/// whether the kernel uses larger ones.
struct TlbShape {
  CacheShape itlb, dtlb;
  CacheShape stlb;  ///< the second level, for both
  bool operator==(const TlbShape&) const = default;

  /// Returns log2 of the bytes of a page.
  unsigned page_bits() const;
};

/// Returns the words of a thread's TLBs.
constexpr std::uint64_t tlb_words(const TlbShape& shape) {
  return table_words(shape.itlb) + table_words(shape.dtlb) + table_words(shape.stlb);
}

}  // namespace tally::models
