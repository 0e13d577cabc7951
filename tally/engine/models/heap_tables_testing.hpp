// Memory for tables in tests and benchmarks, because the models own none.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "tally/engine/models/cache/cache_level.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/table_memory.hpp"

namespace tally::models::testing {

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

/// Whether `a.add(b)` adds every number, for counts that consist of 64-bit numbers only.
template <class Counts>
bool adds_all() {
  constexpr std::size_t numbers = sizeof(Counts) / sizeof(std::uint64_t);
  std::array<std::uint64_t, numbers> low{}, high{}, sum{};
  for (std::size_t i = 0; i < numbers; ++i) low[i] = i + 1, high[i] = (i + 1) * 1000, sum[i] = (i + 1) * 1001;
  auto a = std::bit_cast<Counts>(low);
  a.add(std::bit_cast<Counts>(high));
  return a == std::bit_cast<Counts>(sum);
}

/// A hierarchy with its memory.
struct HierarchyWithTables {
  explicit HierarchyWithTables(const HierarchyShape& shape)
      : own(private_words(shape)),
        shared(shared_words(shape)),
        view(shape, tables_in(shape, own.data(), shared.data())) {}
  std::vector<std::uint64_t> own, shared;
  Hierarchy view;
};

/// TLBs with their memory.
struct OwnTlbs {
  explicit OwnTlbs(const TlbShape& shape) : own(tlb_words(shape)), view(shape, tables_in(shape, own.data())) {}
  std::vector<std::uint64_t> own;
  Tlbs view;
};

}  // namespace tally::models::testing
