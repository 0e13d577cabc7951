#include "tally/sim/first_levels.hpp"

namespace tally::sim {

FirstLevels::FirstLevels(const HierarchyShape& shape, std::uint64_t* table) {
  if (shape.l1i.sets != 0) l1i_ = Cache(shape.l1i, table);
  if (shape.l1d.sets != 0) l1d_ = Cache(shape.l1d, table + table_words(shape.l1i));
}

std::uint32_t FirstLevels::access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts) {
  constexpr Note purpose = 3;
  std::uint64_t missed_for[purpose + 1] = {};
  std::uint32_t missed = 0;
  if (!l1i_.exists() || !l1d_.exists()) n = those_there(notes, n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Note note = notes[i];
    const Access access = access_of(note);
    const bool hit = (access == Access::fetch ? l1i_ : l1d_).touch(line_of_note(note));
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

std::uint32_t FirstLevels::those_there(Note* notes, std::uint32_t n) const {
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < n; ++i)
    if ((access_of(notes[i]) == Access::fetch ? l1i_ : l1d_).exists()) notes[left++] = notes[i];
  return left;
}

}  // namespace tally::sim
