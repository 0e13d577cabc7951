#include "tally/engine/models/cache/first_levels.hpp"

namespace tally::models {

namespace {

// Whether the notes after `from`, up to `to`, belong to the same access as the note at `from`.
bool is_one_access(const Note* notes, std::int32_t from, std::int32_t to) {
  while (to > from && (notes[to] & same_access) != 0) --to;
  return to == from;
}

}  // namespace

FirstLevels::FirstLevels(const HierarchyShape& shape, std::uint64_t* table, std::uint64_t* times)
    : levels_({shape.l1i, table}, {shape.l1d, table + table_words(shape.l1i)}, times) {}

FirstLevels FirstLevels::over(std::uint64_t* table, std::uint64_t* times) const {
  FirstLevels made = *this;
  made.levels_ = levels_.over(table, table + table_words(levels_.code().shape()), times);
  return made;
}

std::uint32_t FirstLevels::access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts, std::uint32_t* indexes) {
  constexpr Note purpose = 3;  // the bits of its Access, without whether it is a chase
  std::uint32_t places[FirstPair::batch];
  const bool some_are_left_out = !levels_.code().exists() || !levels_.data().exists();
  if (some_are_left_out) n = drop_missing_levels(notes, n, indexes);
  std::uint32_t missed = 0;
  for (std::uint32_t at = 0; at < n; at += FirstPair::batch) {
    const std::uint32_t here = n - at < FirstPair::batch ? n - at : FirstPair::batch;
    const std::uint32_t count = levels_.find(notes + at, here, places);
    const std::uint32_t before = missed;
    std::int32_t last = -1;  // the last one that missed
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto place = static_cast<std::int32_t>(places[i]);
      const Note note = notes[at + places[i]];
      const bool across = (note & same_access) != 0 && missed_ && is_one_access(notes + at, last, place);
      if (across)
        ++(purpose_of(access_of(note)) == Access::store ? counts.l1d_across.store_misses
                                                        : counts.l1d_across.load_misses);
      if (indexes != nullptr)
        indexes[missed] = (some_are_left_out ? indexes[at + places[i]] : at + places[i]) | (across ? is_across : 0);
      // `missed` is never after `place`.
      notes[missed++] = note & ~same_access;
      last = place;
      missed_ = true;
    }
    missed_ = missed_ && is_one_access(notes + at, last, static_cast<std::int32_t>(here) - 1);
    // 16 bits for each Access: separate words in memory would make each update wait for the previous one.
    std::uint64_t missed_for = 0;
    for (std::uint32_t i = before; i < missed; ++i) missed_for += std::uint64_t{1} << (notes[i] & purpose) * 16;
    const auto count_of = [&](Access access) { return missed_for >> static_cast<unsigned>(access) * 16 & 0xffff; };
    counts.l1i.fetch_misses += count_of(Access::fetch);
    counts.l1d.load_misses += count_of(Access::load) + count_of(Access::modify);
    counts.l1d.store_misses += count_of(Access::store);
  }
  return missed;
}

std::uint32_t FirstLevels::drop_missing_levels(Note* notes, std::uint32_t n, std::uint32_t* indexes) const {
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!(access_of(notes[i]) == Access::fetch ? levels_.code() : levels_.data()).exists()) continue;
    if (indexes != nullptr) indexes[left] = i;
    notes[left++] = notes[i];
  }
  return left;
}

}  // namespace tally::models
