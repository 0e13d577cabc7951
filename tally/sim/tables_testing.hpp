// Memory for tables, for tests and benchmarks: the room itself owns none.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/sim/cache.hpp"
#include "tally/sim/hierarchy.hpp"
#include "tally/sim/tlb.hpp"

namespace tally::sim::testing {

/// A shape of 64-byte lines.
inline CacheShape lines(std::uint32_t sets, std::uint32_t ways, Replacement replacement = Replacement::lru) {
  CacheShape shape;
  shape.sets = sets;
  shape.ways = ways;
  shape.replacement = replacement;
  return shape;
}

/// A shape of 4 KiB pages.
inline CacheShape pages(std::uint32_t sets, std::uint32_t ways) {
  CacheShape shape = lines(sets, ways);
  shape.line_bits = 12;
  return shape;
}

/// One level with its memory.
struct OwnCache {
  explicit OwnCache(const CacheShape& shape) : table(table_words(shape)), cache(shape, table.data()) {}
  std::vector<std::uint64_t> table;
  Cache cache;
};

/// A hierarchy with its memory.
struct OwnHierarchy {
  explicit OwnHierarchy(const HierarchyShape& shape)
      : l1i(table_words(shape.l1i)),
        l1d(table_words(shape.l1d)),
        l2(table_words(shape.l2)),
        llc(table_words(shape.llc)),
        view(shape, {.l1i = l1i.data(), .l1d = l1d.data(), .l2 = l2.data(), .llc = llc.data()}) {}
  std::vector<std::uint64_t> l1i, l1d, l2, llc;
  Hierarchy view;
};

/// TLBs with their memory.
struct OwnTlbs {
  explicit OwnTlbs(const TlbShape& shape)
      : itlb(table_words(shape.itlb)),
        dtlb(table_words(shape.dtlb)),
        stlb(table_words(shape.stlb)),
        view(shape, {.itlb = itlb.data(), .dtlb = dtlb.data(), .stlb = stlb.data()}) {}
  std::vector<std::uint64_t> itlb, dtlb, stlb;
  Tlbs view;
};

}  // namespace tally::sim::testing
