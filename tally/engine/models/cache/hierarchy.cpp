#include "tally/engine/models/cache/hierarchy.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/cache/vector_sets.hpp"

namespace tally::models {

namespace {

// Adds counts, which are words and nothing else.
template <class Counts>
void add_words(Counts& to, const Counts& from) {
  using Words = std::array<std::uint64_t, sizeof(Counts) / sizeof(std::uint64_t)>;
  auto sum = std::bit_cast<Words>(to);
  const auto added = std::bit_cast<Words>(from);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
  to = std::bit_cast<Counts>(sum);
}

}  // namespace

void LevelCounts::add(const LevelCounts& other) { add_words(*this, other); }
void MissCounts::add(const MissCounts& other) { add_words(*this, other); }
void HierarchyCounts::add(const HierarchyCounts& other) { add_words(*this, other); }

HierarchyShape fast(const HierarchyShape& shape) {
  HierarchyShape result = shape;
  result.l1i.replacement = result.l1d.replacement = Replacement::lru;
  result.l2.inclusive = result.llc.inclusive = false;
  result.prefetch.next_line = false;
  return result;
}

LowerLevels::LowerLevels(const HierarchyShape& shape, std::uint64_t* own_table, std::uint64_t* llc_table)
    : shape_(shape) {
  set_tables(own_table, llc_table);
}

LowerLevels LowerLevels::over(std::uint64_t* own_table, std::uint64_t* llc_table) const {
  LowerLevels made = *this;
  made.set_tables(own_table, llc_table);
  return made;
}

void LowerLevels::set_tables(std::uint64_t* own_table, std::uint64_t* llc_table) {
  const auto put = [&own_table](Cache& level, const CacheShape& shape) {
    if (shape.sets != 0) level = Cache(shape, own_table);
    own_table += table_words(shape);
  };
  put(l2_, shape_.l2);
  put(itlb_, shape_.misses.tlbs.itlb);
  put(dtlb_, shape_.misses.tlbs.dtlb);
  put(stlb_, shape_.misses.tlbs.stlb);
  if (shape_.llc.sets != 0) llc_ = Cache(shape_.llc, llc_table);
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
  return purpose_of(access) == Access::store && !level.shape().write_allocate ? level.use(address)
                                                                              : level.access(address);
}

// Counts one reference of a first level. The store of a modification hits the line that its load has just brought in.
void count_in(LevelCounts& counts, Access access, bool hit) {
  counts.count(access, hit);
  if (purpose_of(access) == Access::modify) counts.count(Access::store, true);
}

}  // namespace

// Counts what crowded sets of the first level add to the miss of this access. Chases are never under way together.
// Returns whether it is a busy load that no prefetcher has requested.
bool LowerLevels::crowd(std::uint64_t address, Access access, MissCounts& counts) {
  const Access purpose = purpose_of(access);
  if (shape_.misses.crowd == CrowdTimes{} || purpose == Access::fetch || is_chase(access)) return false;
  const CrowdedSets::Crowd crowd = sets_.pass(address, shape_.l1d);
  const bool is_busy = access == Access::busy_load;
  counts.crowded +=
      sets_.longer(crowd, shape_.l1d.ways, purpose != Access::store,
                   purpose != Access::load || access == Access::updated_load, is_busy, shape_.misses.crowd);
  return is_busy && crowd.is_far;
}

// Counts what a translation adds to the miss of this access.
void LowerLevels::translate(std::uint64_t address, Access access, MissCounts& counts) {
  Cache& first = access == Access::fetch ? itlb_ : dtlb_;
  if (first.exists() && !first.is_most_recent(address) && !first.access(address).hit)
    translate_again(address, access, counts);
}

// The same for requests in order.
void LowerLevels::translate_all(const std::uint64_t* requests, std::uint32_t n, MissCounts& counts) {
  constexpr std::uint32_t batch = 256;
  std::uint8_t hits[batch];
  VectorLevel levels[4];
  if (!itlb_.exists() || !dtlb_.exists() || !vector_levels(levels, itlb_.table(), dtlb_.table())) {
    for (std::uint32_t i = 0; i < n; ++i) translate(line_of_note(requests[i]), access_of(requests[i]), counts);
    return;
  }
  for (std::uint32_t here = 0; n != 0; requests += here, n -= here) {
    here = batch < n ? batch : n;
    use_vector_levels(levels, requests, here, hits);
    for (std::uint32_t i = 0; i < here; ++i)
      if (hits[i] == 0) translate_again(line_of_note(requests[i]), access_of(requests[i]), counts);
  }
}

// Counts what a translation adds that is missing in the first level.
void LowerLevels::translate_again(std::uint64_t address, Access access, MissCounts& counts) {
  const bool walks = !stlb_.exists() || !stlb_.access(address).hit;
  if (access == Access::fetch)
    ++(walks ? counts.walk_fetches : counts.stlb_fetches);
  else
    ++(walks ? counts.walk_data : counts.stlb_data);
  if (is_chase(access)) ++(walks ? counts.walk_chases : counts.stlb_chases);
  if (access == Access::deciding_load) ++(walks ? counts.deciding_walk : counts.deciding_stlb);
}

// Whether a request that missed L2 is for a line that a prefetcher has requested before, and something waits for it; or
// for code after the last line that missed.
bool LowerLevels::is_in_stream(std::uint64_t address, Access access) {
  if (!shape_.misses.streams) return false;
  if (access == Access::fetch)
    return std::exchange(fetched_, address) + (std::uint64_t{1} << shape_.l1i.line_bits) == address;
  return streams_.continues(address, shape_.l1d.line_bits) && access != Access::store;
}

void LowerLevels::request(std::uint64_t address, Access access, HierarchyCounts& counts, Cache* l1i, Cache* l1d) {
  translate(address, access, counts.misses);
  const bool is_far = crowd(address, access, counts.misses);
  bool hit = false;
  if (l2_.exists()) {
    const Lookup lookup = reach(l2_, address, access);
    hit = lookup.hit;
    counts.l2.count(access, hit);
    make_room(l2_, lookup.displaced, l1i, l1d);
  }
  const bool stores = purpose_of(access) == Access::store;
  ChaseCounts& chases = stores ? counts.chase_stores : counts.chases;
  if (hit) {
    chases.l2 += is_chase(access) ? 1 : 0;
    counts.misses.busy_l2 += is_far ? 1 : 0;
    counts.misses.deciding_l2 += access == Access::deciding_load ? 1 : 0;
  } else {
    const bool in_stream = is_in_stream(address, access);
    bool in_llc = false;
    if (llc_.exists()) {
      const Lookup lookup = reach(llc_, address, access);
      in_llc = lookup.hit;
      counts.llc.count(access, in_llc);
      make_room(llc_, lookup.displaced, l1i, l1d);
    }
    if (in_stream && access == Access::fetch) {
      ++(in_llc ? counts.misses.next_llc : counts.misses.next_memory);
    } else if (in_stream && !stores) {
      ++(in_llc ? counts.misses.stream_llc : counts.misses.stream_memory);
      if (access == Access::busy_load) ++(in_llc ? counts.misses.busy_llc : counts.misses.busy_memory);
    } else if (!in_stream && is_chase(access)) {
      ++(in_llc ? chases.llc : chases.memory);
    } else if (access == Access::deciding_load) {
      ++(in_llc ? counts.misses.deciding_llc : counts.misses.deciding_memory);
    }
  }
  if (!shape_.prefetch.streamer || !l2_.exists()) return;
  const Streamer::Lines lines = streamer_.request(address, l2_.shape().line_bits);
  for (unsigned i = 0; i < lines.count; ++i)
    prefetch(lines.first + static_cast<std::uint64_t>(lines.step * static_cast<std::int64_t>(i)), counts, l1i, l1d);
}

bool LowerLevels::can_go_level_by_level() const {
  const auto simple = [](const Cache& level) {
    return !level.exists() ||
           (level.shape().replacement == Replacement::lru && level.shape().write_allocate && !level.shape().inclusive);
  };
  return !shape_.prefetch.streamer && simple(l2_) && simple(llc_);
}

namespace {

constexpr std::uint64_t purpose = 3;         // without whether it is a chase
constexpr std::uint64_t of_stream = 8;       // set in a load that misses L2, in place of its being a chase; in a fetch
constexpr std::uint64_t is_far = of_stream;  // until then, of busy loads

struct Kinds {
  std::uint64_t chases = 0, chase_stores = 0, streams = 0, busy = 0, next_lines = 0, deciding = 0;
};

Kinds kinds_in(const std::uint64_t* requests, std::uint32_t n) {
  Kinds kinds;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Access access = access_of(requests[i]);
    kinds.chases += is_chase(access) && access != Access::chase_store ? 1 : 0;
    kinds.chase_stores += access == Access::chase_store ? 1 : 0;
    const bool streams = (requests[i] & of_stream) != 0;
    if (streams) ++(access == Access::fetch ? kinds.next_lines : kinds.streams);
    kinds.busy += streams && access == Access::busy_load ? 1 : 0;
    kinds.deciding += access == Access::deciding_load ? 1 : 0;
  }
  return kinds;
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
    // No level affects another, and each processes its requests in order.
    translate_all(requests, n, counts.misses);
    for (std::uint32_t i = 0; i < n; ++i)
      if (crowd(line_of_note(requests[i]), access_of(requests[i]), counts.misses)) requests[i] |= is_far;
    const Kinds all = kinds_in(requests, n);
    n = through(l2_, requests, n, counts.l2);
    const Kinds left = kinds_in(requests, n);
    counts.chases.l2 += all.chases - left.chases;
    counts.chase_stores.l2 += all.chase_stores - left.chase_stores;
    counts.misses.busy_l2 += all.busy - left.busy;
    counts.misses.deciding_l2 += all.deciding - left.deciding;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint64_t line = line_of_note(requests[i]);
      const Access access = access_of(requests[i]);
      requests[i] &= ~is_far;
      if (!is_in_stream(line, access)) continue;
      const bool stores = access == Access::chase_store;
      const Access what = access == Access::fetch || access == Access::busy_load ? access : Access::load;
      requests[i] = stores ? note_of(line, Access::store) : note_of(line, what) | of_stream;
    }
    const Kinds missed = kinds_in(requests, n);
    n = through(llc_, requests, n, counts.llc);
    const Kinds beyond = kinds_in(requests, n);
    counts.chases.llc += missed.chases - beyond.chases;
    counts.chases.memory += beyond.chases;
    counts.chase_stores.llc += missed.chase_stores - beyond.chase_stores;
    counts.chase_stores.memory += beyond.chase_stores;
    counts.misses.stream_llc += missed.streams - beyond.streams;
    counts.misses.stream_memory += beyond.streams;
    counts.misses.busy_llc += missed.busy - beyond.busy;
    counts.misses.busy_memory += beyond.busy;
    counts.misses.next_llc += missed.next_lines - beyond.next_lines;
    counts.misses.next_memory += beyond.next_lines;
    counts.misses.deciding_llc += missed.deciding - beyond.deciding;
    counts.misses.deciding_memory += beyond.deciding;
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
    : lower_(shape, tables.lower, tables.llc), next_line_(shape.prefetch.next_line) {
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
