// The cache hierarchy of one thread: private L1I and L1D, a unified L2, and a last level that threads share.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache_level.hpp"
#include "tally/engine/models/cache/crowded_sets.hpp"
#include "tally/engine/models/cache/prefetch.hpp"
#include "tally/engine/models/cache/tlb_shape.hpp"

namespace tally::models {

/// The purpose of an access.
enum class Access : std::uint8_t {
  load,
  store,
  modify,  ///< a load and a store of one instruction at the same address: both are counted, only the load can miss
  fetch,   ///< of instruction bytes
  /// Accesses whose address depends on what their line holds, as in a walk over a list: the next one waits for the
  /// line.
  chase,  ///< a load. The low two bits of each are those of its purpose
  chase_store,
  chase_modify,
  /// A load by a loop that works for some cycles on each line: LoadWaits::busy. A flag, so that notes are cheap.
  busy_load = 16,
  /// A load, after which the program stores at the same address. No chase, in spite of its bits.
  updated_load = 20,
  /// A load whose value decides a branch soon: a misprediction of that branch waits for it.
  deciding_load = 32,
};
constexpr Access purpose_of(Access access) { return static_cast<Access>(static_cast<unsigned>(access) & 3); }
constexpr bool is_chase(Access access) { return (static_cast<unsigned>(access) & 20) == 4; }

/// References and misses of one level, by purpose. A reference is a *line* that an access touches: an access across two
/// lines is two references and may be two misses. Each miss is a reference of the next level.
struct LevelCounts {
  std::uint64_t fetches = 0, fetch_misses = 0;
  std::uint64_t loads = 0, load_misses = 0;
  std::uint64_t stores = 0, store_misses = 0;
  bool operator==(const LevelCounts&) const = default;

  std::uint64_t references() const { return fetches + loads + stores; }
  std::uint64_t misses() const { return fetch_misses + load_misses + store_misses; }
  /// Counts one reference.
  void count(Access access, bool hit) {
    switch (purpose_of(access)) {
      case Access::fetch:
        ++fetches;
        fetch_misses += !hit;
        break;
      case Access::store:
        ++stores;
        store_misses += !hit;
        break;
      default: ++loads; load_misses += !hit;
    }
  }
  void add(const LevelCounts& other);
};

/// What cycles need to know about the misses of the first levels, by models that change no other count.
struct MissShape {
  TlbShape tlbs;         ///< for the pages of these misses only
  bool streams = false;  ///< the processor prefetches lines of streams
  CrowdTimes crowd = {};
  bool operator==(const MissShape&) const = default;
};

/// The parameters of a hierarchy. A level that does not exist (sets = 0) passes every request on. Lines of all levels
/// have the same length.
struct HierarchyShape {
  CacheShape l1i, l1d, l2, llc;
  PrefetchShape prefetch;
  MissShape misses = {};
  bool operator==(const HierarchyShape&) const = default;
};

/// Returns the hierarchy that `fast` simulates: LRU first levels, no inclusive level, no prefetch into L1D. So no later
/// level changes the first, and its misses may be processed later in batches.
HierarchyShape fast(const HierarchyShape& shape);

/// The chases that each level served, without those that continued a stream. They are in LevelCounts, too.
struct ChaseCounts {
  std::uint64_t l2 = 0, llc = 0, memory = 0;
  bool operator==(const ChaseCounts&) const = default;
};

/// What delayed the misses of first levels, by MissShape. A `walk` is after a miss in both levels of a TLB, `stlb` in
/// the first one. `data` are loads and stores, those of chases too.
struct MissCounts {
  std::uint64_t stlb_data = 0, stlb_chases = 0, stlb_fetches = 0;
  std::uint64_t walk_data = 0, walk_chases = 0, walk_fetches = 0;
  std::uint64_t stream_llc = 0, stream_memory = 0;  ///< loads of streams that missed L2, by the level that served them
  std::uint64_t busy_llc = 0, busy_memory = 0;      ///< busy ones of these
  std::uint64_t next_llc = 0, next_memory = 0;      ///< the same of fetches of the line after the last one
  std::uint64_t busy_l2 = 0;                        ///< busy loads from L2 that no prefetcher has requested
  std::uint64_t crowded = 0;                        ///< cycles by which CrowdedSets delay accesses
  /// Access::deciding_load, without streams: by the level that served them, and their translations.
  std::uint64_t deciding_l2 = 0, deciding_llc = 0, deciding_memory = 0, deciding_stlb = 0, deciding_walk = 0;
  bool operator==(const MissCounts&) const = default;
  void add(const MissCounts& other);
};

/// The counts of a hierarchy.
struct HierarchyCounts {
  LevelCounts l1i, l1d, l2, llc;
  /// The part of l1d that comes from accesses across lines: each line after the first is a reference here, and each
  /// missed line after the first missed one is a miss. So l1d minus this counts accesses, each with at most one miss,
  /// like cachegrind and the events for retired loads.
  LevelCounts l1d_across;
  std::uint64_t prefetches = 0;      ///< lines that prefetchers brought into a level; not references
  ChaseCounts chases, chase_stores;  ///< loads, and stores
  MissCounts misses;
  std::uint64_t string_steps = 0;  ///< of repeated string instructions: Repeat::steps(). They are no accesses
  bool operator==(const HierarchyCounts&) const = default;
  void add(const HierarchyCounts& other);
};

/// The levels after the first one. They process its misses, one line at a time.
class LowerLevels {
 public:
  /// Returns the number of words of the table that a thread has for itself: of L2 and of the pages of misses.
  static constexpr std::uint64_t own_words(const HierarchyShape& shape) {
    return table_words(shape.l2) + tlb_words(shape.misses.tlbs);
  }

  LowerLevels() = default;
  LowerLevels(const HierarchyShape& shape, std::uint64_t* own_table, std::uint64_t* llc_table);
  /// Returns the same levels over copies of their tables.
  LowerLevels over(std::uint64_t* own_table, std::uint64_t* llc_table) const;

  /// Processes a first-level miss. Loads and stores differ in the counts, and if a level does not allocate on writes;
  /// `modify` is a load here. A line that an inclusive level displaces is also removed from L2, `l1i` and `l1d`, if
  /// given. Cost: some 10 ns for an L2 hit.
  void request(std::uint64_t address, Access access, HierarchyCounts& counts, Cache* l1i = nullptr,
               Cache* l1d = nullptr);

  /// Processes requests in order: the address of each line, with its purpose in the low bits. Equal to n calls of
  /// request(), at half their cost. Overwrites `requests`.
  void request_all(std::uint64_t* requests, std::uint32_t n, HierarchyCounts& counts);

  /// Prefetches the sets of a line from host memory before a request, of whose time that is the largest part for large
  /// tables. Counts and changes nothing.
  void expect(std::uint64_t address) const;

  /// Prefetches a line into the existing levels. Counts as a prefetch only.
  void prefetch(std::uint64_t address, HierarchyCounts& counts, Cache* l1i = nullptr, Cache* l1d = nullptr);

 private:
  void set_tables(std::uint64_t* own_table, std::uint64_t* llc_table);
  bool can_go_level_by_level() const;
  void make_room(const Cache& level, std::uint64_t displaced, Cache* l1i, Cache* l1d);
  bool crowd(std::uint64_t address, Access access, MissCounts& counts);
  void translate(std::uint64_t address, Access access, MissCounts& counts);
  void translate_all(const std::uint64_t* requests, std::uint32_t n, MissCounts& counts);
  void translate_again(std::uint64_t address, Access access, MissCounts& counts);
  bool is_in_stream(std::uint64_t address, Access access);

  HierarchyShape shape_;
  Cache l2_, llc_, itlb_, dtlb_, stlb_;
  Streamer streamer_;
  Streamer streams_;           // of requests that miss L2
  CrowdedSets sets_;           // of the first level of data
  std::uint64_t fetched_ = 0;  // the last line of code that missed L2
};

/// One thread's view of a whole hierarchy. Owns no memory.
class Hierarchy {
 public:
  /// The tables: table_words() of each level, null for one that does not exist. Threads may share the last level's
  /// table if they access it one at a time.
  struct Tables {
    std::uint64_t* l1i = nullptr;
    std::uint64_t* l1d = nullptr;
    std::uint64_t* lower = nullptr;  ///< LowerLevels::own_words()
    std::uint64_t* llc = nullptr;
  };

  Hierarchy(const HierarchyShape& shape, const Tables& tables);

  /// Processes an access of `bytes` bytes (at least 1) at `address`. Cost: some 5 ns for an L1 hit.
  void access(std::uint64_t address, std::uint64_t bytes, Access access);

  /// Counts steps of a repeated string instruction, whose accesses are processed separately.
  void count_string_steps(std::uint64_t steps) { counts_.string_steps += steps; }

  const HierarchyCounts& counts() const { return counts_; }
  /// Resets the counts only.
  void clear_counts() { counts_ = {}; }

 private:
  bool touch(std::uint64_t address, Access access);
  void bring_next(std::uint64_t address);

  Cache l1i_, l1d_;
  LowerLevels lower_;
  HierarchyCounts counts_;
  unsigned line_bits_ = 6;
  bool next_line_ = false;
};

}  // namespace tally::models
