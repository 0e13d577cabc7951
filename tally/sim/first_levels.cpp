#include "tally/sim/first_levels.hpp"

namespace tally::sim {

FirstLevels::FirstLevels(const HierarchyShape& shape, std::uint64_t* table) {
  if (shape.l1i.sets != 0) l1i_ = Cache(shape.l1i, table);
  if (shape.l1d.sets != 0) l1d_ = Cache(shape.l1d, table + table_words(shape.l1i));
  by_vectors_ = vector_levels(vector_levels_, {shape.l1i, table}, {shape.l1d, table + table_words(shape.l1i)});
}

void FirstLevels::find(const Note* notes, std::uint32_t n, std::uint8_t* hits) {
  if (by_vectors_) return use_vector_levels(vector_levels_, notes, n, hits);
  for (std::uint32_t i = 0; i < n; ++i)
    hits[i] = (access_of(notes[i]) == Access::fetch ? l1i_ : l1d_).touch(line_of_note(notes[i]));
}

std::uint32_t FirstLevels::access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts) {
  constexpr std::uint32_t stretch = 512;
  constexpr Note purpose = 3;  // the bits of its Access
  std::uint8_t hits[stretch] = {};
  if (!l1i_.exists() || !l1d_.exists()) n = those_there(notes, n);
  std::uint32_t missed = 0;
  for (std::uint32_t at = 0; at < n; at += stretch) {
    const std::uint32_t here = n - at < stretch ? n - at : stretch;
    find(notes + at, here, hits);
    const std::uint32_t before = missed;
    for (std::uint32_t i = 0; i < here; ++i) {
      const Note note = notes[at + i];
      const bool miss = hits[i] == 0;
      notes[missed] = note & ~same_access;
      missed += static_cast<std::uint32_t>(miss);
      if (note & same_access) {
        (access_of(note) == Access::store ? counts.l1d_across.store_misses : counts.l1d_across.load_misses) +=
            missed_ && miss;
        missed_ = missed_ || miss;
      } else {
        missed_ = miss;
      }
    }
    // 16 bits for each Access: a word in memory for each would wait for the one before.
    std::uint64_t missed_for = 0;
    for (std::uint32_t i = before; i < missed; ++i) missed_for += std::uint64_t{1} << (notes[i] & purpose) * 16;
    const auto of = [&](Access access) { return missed_for >> static_cast<unsigned>(access) * 16 & 0xffff; };
    counts.l1i.fetch_misses += of(Access::fetch);
    counts.l1d.load_misses += of(Access::load) + of(Access::modify);
    counts.l1d.store_misses += of(Access::store);
  }
  return missed;
}

std::uint32_t FirstLevels::those_there(Note* notes, std::uint32_t n) const {
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < n; ++i)
    if ((access_of(notes[i]) == Access::fetch ? l1i_ : l1d_).exists()) notes[left++] = notes[i];
  return left;
}

}  // namespace tally::sim
