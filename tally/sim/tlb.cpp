#include "tally/sim/tlb.hpp"

#include <initializer_list>

namespace tally::sim {

void TlbCounts::add(const TlbCounts& other) {
  itlb.add(other.itlb);
  dtlb.add(other.dtlb);
  stlb.add(other.stlb);
}

Tlbs::Tlbs(const TlbShape& shape, const Tables& tables) {
  if (shape.itlb.sets != 0) itlb_ = Cache(shape.itlb, tables.itlb);
  if (shape.dtlb.sets != 0) dtlb_ = Cache(shape.dtlb, tables.dtlb);
  if (shape.stlb.sets != 0) stlb_ = Cache(shape.stlb, tables.stlb);
  for (const CacheShape* level : {&shape.stlb, &shape.itlb, &shape.dtlb})
    if (level->sets != 0) page_bits_ = level->line_bits;
}

void Tlbs::access(std::uint64_t address, std::uint64_t bytes, Access access) {
  const std::uint64_t last = (address + bytes - 1) >> page_bits_;
  for (std::uint64_t page = address >> page_bits_; page <= last; ++page) touch(page << page_bits_, access);
}

void Tlbs::touch(std::uint64_t address, Access access) {
  Cache& level = access == Access::fetch ? itlb_ : dtlb_;
  LevelCounts& counts = access == Access::fetch ? counts_.itlb : counts_.dtlb;
  bool hit = false;
  if (level.exists()) {
    hit = level.is_most_recent(address) || level.access(address).hit;
    counts.count(access, hit);
    // What the load has just translated is there for the store.
    if (access == Access::modify) counts.count(Access::store, true);
  }
  if (!hit && stlb_.exists()) counts_.stlb.count(access, stlb_.access(address).hit);
}

}  // namespace tally::sim
