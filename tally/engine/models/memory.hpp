// How much memory the tables of a machine take, and where in it each lies.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"

namespace tally::models {

/// Words (8 bytes) of the tables that each thread has for itself: L1I, L1D, L2.
constexpr std::uint64_t private_words(const HierarchyShape& shape) {
  return table_words(shape.l1i) + table_words(shape.l1d) + table_words(shape.l2);
}

/// Words of the table that threads share: the last level's. 480 MB in 16 ways are 60 MB of table; what is never used of
/// it is never touched.
constexpr std::uint64_t shared_words(const HierarchyShape& shape) { return table_words(shape.llc); }

/// Words of a thread's TLBs.
constexpr std::uint64_t tlb_words(const TlbShape& shape) {
  return table_words(shape.itlb) + table_words(shape.dtlb) + table_words(shape.stlb);
}

/// The tables in private_words() and shared_words() words: the order is L1D, L1I, L2. `shared` may be null where there
/// is no memory for it; then the shape must have no last level.
inline Hierarchy::Tables tables_in(const HierarchyShape& shape, std::uint64_t* own, std::uint64_t* shared) {
  Hierarchy::Tables tables;
  tables.l1d = own;
  tables.l1i = tables.l1d + table_words(shape.l1d);
  tables.l2 = tables.l1i + table_words(shape.l1i);
  tables.llc = shared;
  return tables;
}

/// The tables in tlb_words() words: the order is dTLB, iTLB, second level.
inline Tlbs::Tables tables_in(const TlbShape& shape, std::uint64_t* own) {
  Tlbs::Tables tables;
  tables.dtlb = own;
  tables.itlb = tables.dtlb + table_words(shape.dtlb);
  tables.stlb = tables.itlb + table_words(shape.itlb);
  return tables;
}

}  // namespace tally::models
