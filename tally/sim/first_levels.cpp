#include "tally/sim/first_levels.hpp"

namespace tally::sim {

FirstLevels::FirstLevels(const HierarchyShape& shape, std::uint64_t* table) {
  if (shape.l1i.sets != 0) l1i_ = Cache(shape.l1i, table);
  if (shape.l1d.sets != 0) l1d_ = Cache(shape.l1d, table + table_words(shape.l1i));
}

std::uint32_t FirstLevels::access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts) {
  constexpr Note purpose = 3;
  const std::uint64_t line_mask = ~std::uint64_t{7};
  std::uint64_t missed_for[purpose + 1] = {};
  std::uint32_t missed = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Note note = notes[i];
    const auto access = static_cast<Access>(note & purpose);
    const bool hit = (access == Access::fetch ? l1i_ : l1d_).touch(note & line_mask);
    notes[missed] = note & ~same_access;
    missed += !hit;
    missed_for[note & purpose] += !hit;
    if (note & same_access) {
      (access == Access::store ? counts.l1d_across.store_misses : counts.l1d_across.load_misses) += missed_ && !hit;
      missed_ = missed_ || !hit;
    } else {
      missed_ = !hit;
    }
  }
  const auto of = [&](Access access) { return missed_for[static_cast<Note>(access)]; };
  counts.l1i.fetch_misses += of(Access::fetch);
  counts.l1d.load_misses += of(Access::load) + of(Access::modify);
  counts.l1d.store_misses += of(Access::store);
  return missed;
}

}  // namespace tally::sim
