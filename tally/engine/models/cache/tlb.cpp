#include "tally/engine/models/cache/tlb.hpp"

#include <algorithm>
#include <initializer_list>

namespace tally::models {

void TlbCounts::add(const TlbCounts& other) {
  itlb.add(other.itlb);
  dtlb.add(other.dtlb);
  stlb.add(other.stlb);
}

unsigned TlbShape::page_bits() const {
  for (const CacheShape* level : {&dtlb, &itlb, &stlb})
    if (level->sets != 0) return level->line_bits;
  return 12;
}

Tlbs::Tlbs(const TlbShape& shape, const Tables& tables) : page_bits_(shape.page_bits()) {
  if (shape.itlb.sets != 0) itlb_ = Cache(shape.itlb, tables.itlb);
  if (shape.dtlb.sets != 0) dtlb_ = Cache(shape.dtlb, tables.dtlb);
  if (shape.stlb.sets != 0) stlb_ = Cache(shape.stlb, tables.stlb);
  const auto is_list = [](const Cache& level) {
    return level.exists() && level.shape().replacement == Replacement::lru;
  };
  if (is_list(itlb_) && is_list(dtlb_))
    first_ = FirstPair({shape.itlb, tables.itlb}, {shape.dtlb, tables.dtlb}, tables.times);
}

Tlbs Tlbs::over(const Tables& tables) const {
  Tlbs made = *this;
  if (itlb_.exists()) made.itlb_ = Cache(itlb_.shape(), tables.itlb);
  if (dtlb_.exists()) made.dtlb_ = Cache(dtlb_.shape(), tables.dtlb);
  if (stlb_.exists()) made.stlb_ = Cache(stlb_.shape(), tables.stlb);
  if (first_.code().exists()) made.first_ = first_.over(tables.itlb, tables.dtlb, tables.times);
  return made;
}

void Tlbs::access(std::uint64_t address, std::uint64_t bytes, Access access) {
  const std::uint64_t first = address >> page_bits_, last = (address + bytes - 1) >> page_bits_;
  touch(address, access);
  // None for a page after the last address, as in caches: that access faults.
  for (std::uint64_t page = first + 1; page <= last; ++page) touch(page << page_bits_, access);
}

void Tlbs::access_all(const Note* notes, std::uint32_t n, const PlacedNote* placed, Observer* observer) {
  if (first_.is_quick()) return access_quickly(notes, n, placed, observer);
  // Most accesses are to the most recent page of their set, so those are filtered first, without a jump that depends on
  // it.
  constexpr std::uint32_t batch = 256;
  std::uint32_t left[batch];
  const std::uint64_t masks[2] = {page_sets_distinguished(dtlb_.shape()) - 1,
                                  page_sets_distinguished(itlb_.shape()) - 1};
  std::uint64_t recent[2][page_sets];
  for (auto& kind : recent)
    for (std::uint64_t& page : kind) page = ~std::uint64_t{0};
  for (std::uint32_t at = 0; at < n; at += batch) {
    std::uint32_t count = 0;
    for (std::uint32_t i = at; i < n && i < at + batch; ++i) {
      const bool code = access_of(notes[i]) == Access::fetch;
      const std::uint64_t page = notes[i] >> page_bits_;
      std::uint64_t& last = recent[code][page & masks[code]];
      left[count] = i;
      count += last != page;
      last = page;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      touch(line_of_note(notes[left[i]]), access_of(notes[left[i]]));
      if (placed != nullptr) observer->stepped(placed[left[i]].site);
    }
  }
}

void Tlbs::access_quickly(const Note* notes, std::uint32_t n, const PlacedNote* placed, Observer* observer) {
  std::uint32_t missed[FirstPair::batch];
  for (std::uint32_t at = 0; at < n; at += FirstPair::batch) {
    const std::uint32_t here = n - at < FirstPair::batch ? n - at : FirstPair::batch;
    const std::uint32_t count = first_.find(notes + at, here, missed);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Note note = notes[at + missed[i]];
      miss_first(line_of_note(note), access_of(note));
      if (placed != nullptr) observer->stepped(placed[at + missed[i]].site);
    }
  }
}

void Tlbs::miss_first(std::uint64_t address, Access access) {
  LevelCounts& counts = access == Access::fetch ? counts_.itlb : counts_.dtlb;
  counts.count(access, false);
  // The store uses the translation of the load.
  if (purpose_of(access) == Access::modify) counts.count(Access::store, true);
  if (stlb_.exists()) counts_.stlb.count(access, stlb_.access(address).hit);
}

void Tlbs::touch(std::uint64_t address, Access access) {
  Cache& level = access == Access::fetch ? itlb_ : dtlb_;
  LevelCounts& counts = access == Access::fetch ? counts_.itlb : counts_.dtlb;
  bool hit = false;
  if (level.exists()) {
    hit = level.shape().replacement == Replacement::lru ? level.touch(address) : level.access(address).hit;
    counts.count(access, hit);
    // The store uses the translation of the load.
    if (purpose_of(access) == Access::modify) counts.count(Access::store, true);
  }
  if (!hit && stlb_.exists()) counts_.stlb.count(access, stlb_.access(address).hit);
}

}  // namespace tally::models
