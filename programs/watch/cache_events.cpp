#include "programs/watch/cache_events.hpp"
#include "tally/core/base/parse_text.hpp"

namespace tally::watch {
namespace {

struct Candidate {
  Counted counts;
  const char* name;
  bool accesses = false;
};

// Intel: retired loads by data source (SDM vol. 3B, event D1H; CBH before Sandy Bridge). AMD: requests of the data
// cache to L2 (PPR for family 17H to 19H, PMCx064), and its fills by source (PMCx044). The first event that a table has
// is used.
constexpr Candidate by_libpfm4[] = {
    {Counted::l3_misses, "MEM_LOAD_RETIRED:L3_MISS"},
    {Counted::l3_misses, "MEM_LOAD_UOPS_RETIRED:L3_MISS"},
    {Counted::l3_misses, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR"},
    {Counted::l3_misses, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LOCAL:MEM_IO_REMOTE"},
    {Counted::l3_hits, "MEM_LOAD_RETIRED:L3_HIT"},
    {Counted::l3_hits, "MEM_LOAD_UOPS_RETIRED:L3_HIT"},
    {Counted::l3_hits, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX"},
    {Counted::l3_hits, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE"},
    {Counted::l2_misses, "MEM_LOAD_RETIRED:L2_MISS"},
    {Counted::l2_misses, "MEM_LOAD_UOPS_RETIRED:L2_MISS"},
    {Counted::l2_misses, "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C"},
    {Counted::l2_hits, "MEM_LOAD_RETIRED:L2_HIT"},
    {Counted::l2_hits, "MEM_LOAD_UOPS_RETIRED:L2_HIT"},
    {Counted::l2_hits, "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_L_HIT_X:LS_RD_BLK_L_HIT_S:LS_RD_BLK_X"},
};

// Arm Architecture Reference Manual, "Common event numbers": the kernel lists the available ones in events/.
constexpr Candidate by_kernel[] = {
    {Counted::l3_misses, "ll_cache_miss_rd"}, {Counted::l3_misses, "l3d_cache_refill"},
    {Counted::l3_hits, "ll_cache_rd", true},  {Counted::l3_hits, "l3d_cache", true},
    {Counted::l2_misses, "l2d_cache_refill"}, {Counted::l2_hits, "l2d_cache", true},
};

bool has(const std::vector<CacheEvent>& events, Counted counts) {
  for (const CacheEvent& event : events) {
    if (event.counts == counts) return true;
  }
  return false;
}

// Parses "event=0x0037".
std::optional<std::uint64_t> arm_code(const std::string& terms) {
  constexpr std::string_view start = "event=0x";
  return terms.starts_with(start) ? parse_digits<std::uint64_t>(terms.substr(start.size()), 16) : std::nullopt;
}

}  // namespace

std::vector<CacheEvent> cache_events(const event::pfm::Pmu* table, const linux::PmuDevice& device) {
  std::vector<CacheEvent> events;
  if (table) {
    for (const Candidate& candidate : by_libpfm4) {
      if (has(events, candidate.counts)) continue;
      const auto found = event::pfm::encode(*table, candidate.name);
      if (found && *found)
        events.push_back({candidate.counts, (*found)->name, (*found)->encoding.config, candidate.accesses});
    }
  }
  for (const Candidate& one : by_kernel) {
    const auto named = device.events.find(one.name);
    if (has(events, one.counts) || named == device.events.end()) continue;
    if (const auto code = arm_code(named->second)) {
      events.push_back({one.counts, device.name + "/" + one.name + "/", *code, one.accesses});
    }
  }
  return events;
}

}  // namespace tally::watch
