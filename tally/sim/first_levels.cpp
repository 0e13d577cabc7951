#include "tally/sim/first_levels.hpp"

namespace tally::sim {

FirstLevels::FirstLevels(const HierarchyShape& shape, std::uint64_t* table) {
  if (shape.l1i.sets != 0) l1i_ = Cache(shape.l1i, table);
  if (shape.l1d.sets != 0) l1d_ = Cache(shape.l1d, table + table_words(shape.l1i));
  const auto fits = [](const CacheShape& level) { return level.sets == 0 || VectorLevel::fits(level); };
  by_vectors_ = fits(shape.l1i) && fits(shape.l1d);
  if (!by_vectors_) return;
  for (VectorLevel& level : vector_levels_)
    level = {table + table_words(shape.l1i), shape.l1d.sets, shape.l1d.line_bits};
  vector_levels_[static_cast<unsigned>(Access::fetch)] = {table, shape.l1i.sets, shape.l1i.line_bits};
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
    // 16 bits for each Access: a word in memory for each would wait for the one before.
    std::uint64_t missed_for = 0;
    for (std::uint32_t i = 0; i < here; ++i) {
      const Note note = notes[at + i];
      const std::uint64_t miss = hits[i] ^ 1u;
      notes[missed] = note & ~same_access;
      missed += static_cast<std::uint32_t>(miss);
      missed_for += miss << (note & purpose) * 16;
      if (note & same_access) {
        (access_of(note) == Access::store ? counts.l1d_across.store_misses : counts.l1d_across.load_misses) +=
            missed_ && miss != 0;
        missed_ = missed_ || miss != 0;
      } else {
        missed_ = miss != 0;
      }
    }
    std::uint64_t of[4];  // by Access
    for (unsigned access = 0; access < 4; ++access) of[access] = missed_for >> access * 16 & 0xffff;
    counts.l1i.fetch_misses += of[static_cast<unsigned>(Access::fetch)];
    counts.l1d.load_misses += of[static_cast<unsigned>(Access::load)] + of[static_cast<unsigned>(Access::modify)];
    counts.l1d.store_misses += of[static_cast<unsigned>(Access::store)];
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
