#include "tally/engine/models/cache/hierarchy.hpp"

#include <initializer_list>

#include "tally/engine/models/cache/note.hpp"

namespace tally::models {

void LevelCounts::add(const LevelCounts& other) {
  fetches += other.fetches;
  fetch_misses += other.fetch_misses;
  loads += other.loads;
  load_misses += other.load_misses;
  stores += other.stores;
  store_misses += other.store_misses;
}

void HierarchyCounts::add(const HierarchyCounts& other) {
  l1i.add(other.l1i);
  l1d.add(other.l1d);
  l2.add(other.l2);
  llc.add(other.llc);
  l1d_across.add(other.l1d_across);
  prefetches += other.prefetches;
  chases.l2 += other.chases.l2;
  chases.llc += other.chases.llc;
  chases.memory += other.chases.memory;
}

HierarchyShape fast(const HierarchyShape& shape) {
  HierarchyShape result = shape;
  result.l1i.replacement = result.l1d.replacement = Replacement::lru;
  result.l2.inclusive = result.llc.inclusive = false;
  result.prefetch.next_line = false;
  return result;
}

LowerLevels::LowerLevels(const HierarchyShape& shape, std::uint64_t* l2_table, std::uint64_t* llc_table)
    : stream_(shape.prefetch.streamer) {
  if (shape.l2.sets != 0) l2_ = Cache(shape.l2, l2_table);
  if (shape.llc.sets != 0) llc_ = Cache(shape.llc, llc_table);
}

LowerLevels LowerLevels::over(std::uint64_t* l2_table, std::uint64_t* llc_table) const {
  LowerLevels made = *this;
  if (l2_.exists()) made.l2_ = Cache(l2_.shape(), l2_table);
  if (llc_.exists()) made.llc_ = Cache(llc_.shape(), llc_table);
  return made;
}

void LowerLevels::make_room(const Cache& level, std::uint64_t displaced, Cache* l1i, Cache* l1d) {
  if (displaced == no_line || !level.shape().inclusive) return;
  if (&level == &llc_ && l2_.exists()) l2_.remove(displaced);
  if (l1i != nullptr && l1i->exists()) l1i->remove(displaced);
  if (l1d != nullptr && l1d->exists()) l1d->remove(displaced);
}

namespace {

// A store into a level that does not allocate on writes uses the line if it is present, and otherwise changes nothing.
Lookup reach(Cache& level, std::uint64_t address, Access access) {
  return access == Access::store && !level.shape().write_allocate ? level.use(address) : level.access(address);
}

// Counts one reference of a first level. The store of a modification hits the line that its load has just brought in.
void count_in(LevelCounts& counts, Access access, bool hit) {
  counts.count(access, hit);
  if (access == Access::modify) counts.count(Access::store, true);
}

}  // namespace

void LowerLevels::request(std::uint64_t address, Access access, HierarchyCounts& counts, Cache* l1i, Cache* l1d) {
  bool hit = false;
  if (l2_.exists()) {
    const Lookup lookup = reach(l2_, address, access);
    hit = lookup.hit;
    counts.l2.count(access, hit);
    make_room(l2_, lookup.displaced, l1i, l1d);
  }
  if (!hit && llc_.exists()) {
    const Lookup lookup = reach(llc_, address, access);
    counts.llc.count(access, lookup.hit);
    make_room(llc_, lookup.displaced, l1i, l1d);
    if (access == Access::chase) ++(lookup.hit ? counts.chases.llc : counts.chases.memory);
  } else if (access == Access::chase) {
    ++(hit ? counts.chases.l2 : counts.chases.memory);
  }
  if (!stream_ || !l2_.exists()) return;
  const Streamer::Lines lines = streamer_.request(address, l2_.shape().line_bits);
  for (unsigned i = 0; i < lines.count; ++i)
    prefetch(lines.first + static_cast<std::uint64_t>(lines.step * static_cast<std::int64_t>(i)), counts, l1i, l1d);
}

bool LowerLevels::can_go_level_by_level() const {
  const auto simple = [](const Cache& level) {
    return !level.exists() ||
           (level.shape().replacement == Replacement::lru && level.shape().write_allocate && !level.shape().inclusive);
  };
  return !stream_ && simple(l2_) && simple(llc_);
}

namespace {

constexpr std::uint64_t purpose = 3;  // a chase is a load

std::uint64_t chases_in(const std::uint64_t* requests, std::uint32_t n) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < n; ++i) count += access_of(requests[i]) == Access::chase ? 1 : 0;
  return count;
}

// Passes requests through one level and counts them by purpose; leaves those that miss for the next level.
std::uint32_t through(Cache& level, std::uint64_t* requests, std::uint32_t n, LevelCounts& counts) {
  if (!level.exists()) return n;
  std::uint64_t asked[purpose + 1] = {}, missed[purpose + 1] = {};
  for (std::uint32_t i = 0; i < n; ++i) ++asked[requests[i] & purpose];
  const std::uint32_t left = level.access_all(requests, n);
  for (std::uint32_t i = 0; i < left; ++i) ++missed[requests[i] & purpose];
  const auto count_of = [](const std::uint64_t(&list)[purpose + 1], Access access) {
    return list[static_cast<std::uint64_t>(access)];
  };
  counts.fetches += count_of(asked, Access::fetch);
  counts.fetch_misses += count_of(missed, Access::fetch);
  counts.loads += count_of(asked, Access::load) + count_of(asked, Access::modify);
  counts.load_misses += count_of(missed, Access::load) + count_of(missed, Access::modify);
  counts.stores += count_of(asked, Access::store);
  counts.store_misses += count_of(missed, Access::store);
  return left;
}

}  // namespace

void LowerLevels::request_all(std::uint64_t* requests, std::uint32_t n, HierarchyCounts& counts) {
  if (can_go_level_by_level()) {
    // Neither level affects the other, and each processes its requests in order.
    const std::uint64_t all = chases_in(requests, n);
    n = through(l2_, requests, n, counts.l2);
    const std::uint64_t beyond_l2 = all == 0 ? 0 : chases_in(requests, n);
    n = through(llc_, requests, n, counts.llc);
    const std::uint64_t beyond_llc = beyond_l2 == 0 ? 0 : chases_in(requests, n);
    counts.chases.l2 += all - beyond_l2;
    counts.chases.llc += beyond_l2 - beyond_llc;
    counts.chases.memory += beyond_llc;
    return;
  }
  for (std::uint32_t i = 0; i < n; ++i) request(line_of_note(requests[i]), access_of(requests[i]), counts);
}

void LowerLevels::expect(std::uint64_t address) const {
  if (l2_.exists()) l2_.expect(address);
  if (llc_.exists()) llc_.expect(address);
}

void LowerLevels::prefetch(std::uint64_t address, HierarchyCounts& counts, Cache* l1i, Cache* l1d) {
  bool hit = false;
  if (l2_.exists()) {
    const Lookup lookup = l2_.prefetch(address);
    hit = lookup.hit;
    counts.prefetches += !hit;
    make_room(l2_, lookup.displaced, l1i, l1d);
  }
  if (hit || !llc_.exists()) return;
  make_room(llc_, llc_.prefetch(address).displaced, l1i, l1d);
}

Hierarchy::Hierarchy(const HierarchyShape& shape, const Tables& tables)
    : lower_(shape, tables.l2, tables.llc), next_line_(shape.prefetch.next_line) {
  if (shape.l1i.sets != 0) l1i_ = Cache(shape.l1i, tables.l1i);
  if (shape.l1d.sets != 0) l1d_ = Cache(shape.l1d, tables.l1d);
  for (const CacheShape* level : {&shape.llc, &shape.l2, &shape.l1i, &shape.l1d})
    if (level->sets != 0) line_bits_ = level->line_bits;
}

void Hierarchy::access(std::uint64_t address, std::uint64_t bytes, Access access) {
  const std::uint64_t first = address >> line_bits_, last = (address + bytes - 1) >> line_bits_;
  bool missed = !touch(address, access);
  if (first == last) return;
  for (std::uint64_t line = first + 1; line <= last; ++line) {
    const bool hit = touch(line << line_bits_, access);
    if (access != Access::fetch) count_in(counts_.l1d_across, access, hit || !missed);
    missed = missed || !hit;
  }
}

bool Hierarchy::touch(std::uint64_t address, Access access) {
  Cache& level = access == Access::fetch ? l1i_ : l1d_;
  LevelCounts& counts = access == Access::fetch ? counts_.l1i : counts_.l1d;
  if (level.exists() && level.is_most_recent(address)) {
    count_in(counts, access, true);
    return true;
  }
  Lookup lookup;
  if (level.exists()) {
    lookup = reach(level, address, access);
    count_in(counts, access, lookup.hit);
  }
  if (!lookup.hit) lower_.request(address, access, counts_, &l1i_, &l1d_);
  if (next_line_ && access != Access::fetch && l1d_.exists() && (!lookup.hit || lookup.first_use)) bring_next(address);
  return lookup.hit;
}

void Hierarchy::bring_next(std::uint64_t address) {
  const std::uint64_t next = next_line(address, line_bits_);
  if (next == no_line || l1d_.holds(next)) return;
  l1d_.prefetch(next);
  ++counts_.prefetches;
  lower_.prefetch(next, counts_, &l1i_, &l1d_);
}

}  // namespace tally::models
