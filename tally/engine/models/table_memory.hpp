// Sizes and layout of the tables of a machine model in memory.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"

namespace tally::models {

/// Returns the words (8 bytes) of the private tables of a thread: L1I, L1D, L2, pages of misses.
constexpr std::uint64_t private_words(const HierarchyShape& shape) {
  return table_words(shape.l1i) + table_words(shape.l1d) + LowerLevels::own_words(shape);
}

/// Returns the words of the table that threads share, of the last level. For 480 MB in 16 ways the table has 60 MB; its
/// unused parts are never touched.
constexpr std::uint64_t shared_words(const HierarchyShape& shape) { return table_words(shape.llc); }

/// Returns the tables in private_words() and shared_words() words, in the order L1D, L1I, LowerLevels. `shared` may be
/// null without memory for it; the shape must then have no last level.
inline Hierarchy::Tables tables_in(const HierarchyShape& shape, std::uint64_t* own, std::uint64_t* shared) {
  Hierarchy::Tables tables;
  tables.l1d = own;
  tables.l1i = tables.l1d + table_words(shape.l1d);
  tables.lower = tables.l1i + table_words(shape.l1i);
  tables.llc = shared;
  return tables;
}

/// Returns the tables in tlb_words() words, in the order dTLB, iTLB, second level.
inline Tlbs::Tables tables_in(const TlbShape& shape, std::uint64_t* own) {
  Tlbs::Tables tables;
  tables.dtlb = own;
  tables.itlb = tables.dtlb + table_words(shape.dtlb);
  tables.stlb = tables.itlb + table_words(shape.itlb);
  return tables;
}

}  // namespace tally::models
