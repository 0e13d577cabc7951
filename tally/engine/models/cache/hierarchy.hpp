// A hierarchy of caches as one thread sees it: L1I and L1D of its own, an L2 for both, a last level that others share.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache.hpp"
#include "tally/engine/models/cache/prefetch.hpp"

namespace tally::models {

/// What an access is for.
enum class Access : std::uint8_t {
  load,
  store,
  modify,  ///< a load and then a store at the same place by one instruction: both are counted, only the load can miss
  fetch,   ///< of an instruction's bytes
};

/// References and misses of one level, by what they were for. A reference is a *line* that an access touches, so an
/// access that lies across two lines is two references and may be two misses; and what one level misses the next one is
/// asked for.
struct LevelCounts {
  std::uint64_t fetches = 0, fetch_misses = 0;
  std::uint64_t loads = 0, load_misses = 0;
  std::uint64_t stores = 0, store_misses = 0;
  bool operator==(const LevelCounts&) const = default;

  std::uint64_t references() const { return fetches + loads + stores; }
  std::uint64_t misses() const { return fetch_misses + load_misses + store_misses; }
  /// One reference.
  void count(Access access, bool hit) {
    switch (access) {
      case Access::fetch:
        ++fetches;
        fetch_misses += !hit;
        break;
      case Access::modify:
      case Access::load:
        ++loads;
        load_misses += !hit;
        break;
      case Access::store:
        ++stores;
        store_misses += !hit;
        break;
    }
  }
  void add(const LevelCounts& other);
};

/// What a hierarchy looks like. A level that does not exist (sets = 0) passes everything on; lines of all levels have
/// the same length.
struct HierarchyShape {
  CacheShape l1i, l1d, l2, llc;
  PrefetchShape prefetch;
  bool operator==(const HierarchyShape&) const = default;
};

/// The hierarchy as `fast` simulates it: LRU in the first levels, no level inclusive, no prefetch into L1D. So nothing
/// after the first level changes it, and its misses may be handed on later, many at a time.
HierarchyShape fast(const HierarchyShape& shape);

/// What is counted in a hierarchy.
struct HierarchyCounts {
  LevelCounts l1i, l1d, l2, llc;
  /// What loads and stores across lines add to l1d: each line after the first is a reference here, each missed line
  /// after the first one missed a miss. So l1d less this counts accesses, of which one that misses anything is one
  /// miss, as cachegrind and events of retired loads do.
  LevelCounts l1d_across;
  std::uint64_t prefetches = 0;  ///< lines that prefetchers brought into a level; they are no references
  bool operator==(const HierarchyCounts&) const = default;
  void add(const HierarchyCounts& other);
};

/// The levels behind the first: they see its misses, one line at a time, and nothing else.
class LowerLevels {
 public:
  LowerLevels() = default;
  LowerLevels(const HierarchyShape& shape, std::uint64_t* l2_table, std::uint64_t* llc_table);
  /// The same levels, as they go on over copies of their tables.
  LowerLevels over(std::uint64_t* l2_table, std::uint64_t* llc_table) const;

  /// The first level asks for a line. Loads and stores differ in the counts, and where a level does not allocate on
  /// writes; `modify` is a load here. What an inclusive level displaces is removed from L2 and from `l1i` and `l1d`,
  /// where those are given. Cost: some 10 ns where it hits in L2.
  void request(std::uint64_t address, Access access, HierarchyCounts& counts, Cache* l1i = nullptr,
               Cache* l1d = nullptr);

  /// Requests in their order: the address of each one's line, and in its low bits what it is for. The same as so many
  /// calls of request(), at half their cost. What stands there is lost.
  void request_all(std::uint64_t* requests, std::uint32_t n, HierarchyCounts& counts);

  /// This line will be asked for soon: what it takes is fetched from memory meanwhile, which for large tables is most
  /// of a request's time. Counts and changes nothing.
  void expect(std::uint64_t address) const;

  /// A prefetcher asks for a line: it comes into the levels that exist, and counts as a prefetch only.
  void prefetch(std::uint64_t address, HierarchyCounts& counts, Cache* l1i = nullptr, Cache* l1d = nullptr);

 private:
  bool can_go_level_by_level() const;
  void make_room(const Cache& level, std::uint64_t displaced, Cache* l1i, Cache* l1d);

  Cache l2_, llc_;
  Streamer streamer_;
  bool stream_ = false;
};

/// One thread's view of a whole hierarchy. Owns no memory.
class Hierarchy {
 public:
  /// Where the tables lie: table_words() of each level, null for one that does not exist. The last level's may be
  /// another thread's too; whoever shares it lets one thread in at a time.
  struct Tables {
    std::uint64_t* l1i = nullptr;
    std::uint64_t* l1d = nullptr;
    std::uint64_t* l2 = nullptr;
    std::uint64_t* llc = nullptr;
  };

  Hierarchy(const HierarchyShape& shape, const Tables& tables);

  /// An access of `bytes` bytes (at least 1) at `address`. Cost: some 5 ns where it hits in L1.
  void access(std::uint64_t address, std::uint64_t bytes, Access access);

  const HierarchyCounts& counts() const { return counts_; }
  /// They begin again; everything else stays as it is.
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
