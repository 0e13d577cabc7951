/// Loads of what was stored just before by another address. At times, generated code passes the addresses of all
/// accesses at stable sites to the engine, because no entry of the table that it probes is a line: hundreds of accesses
/// in a row, of which each load is compared with the stores before it. The entries that these accesses would have made
/// are kept in the same slots, so no count changes, and nothing is added to the code between these times.
#pragma once
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/models/core/core_model.hpp"

namespace tally::engine::instrument {

/// An access that was watched, and where generated code continues after it; later the address of its instruction.
struct WatchedAccess {
  u64 address, at;
  u32 word;
};
inline constexpr u32 watched_at_a_time = 512;

/// A thread's watched accesses.
struct WatchedAccesses {
  u32 count, blocks;  // `blocks` of records and outcomes were processed so far
  WatchedAccess list[watched_at_a_time];
};

/// What was seen of a load instruction: how often it was watched, and how often its value came from one of the last
/// stores; most of them by the instruction `store`, whose executions since then, and that one, are summed.
struct ForwardedLoad {
  u64 pc, store;
  u32 seen, forwarded, distances, votes;

  /// The rounded share and distance; no share if it is small, or if little was seen.
  models::Forwarding forwarding() const {
    constexpr u32 least = 16, whole = models::Forwarding::whole;
    if (forwarded < least) return {};
    const u32 share = (forwarded * whole + seen / 2) / seen;
    // Of another store once in sixteen times, or at another distance: no core predicts which value it is.
    const bool is_last = share == whole && distances - forwarded <= forwarded / 16 && votes >= forwarded - forwarded / 8;
    const u32 distance = is_last ? 0 : (distances + forwarded / 2) / forwarded;
    return {0, 0, static_cast<u8>(distance), static_cast<u8>(share)};
  }
};

/// Called once, before the program runs.
void watch_init();
/// Called when a block of access records or outcomes was processed: begins to watch the thread's accesses at times.
TALLY_NO_SAVES void watch_at_times(Thread* t);
/// Adds an access of a thread that is watched.
TALLY_NO_SAVES void watch_access(Thread* t, u64 address, u32 word);
/// Called in the child of a fork.
void watch_after_fork();
/// The loads that were seen; those with `pc` 0 are free. The caller holds cache_lock.
std::span<const ForwardedLoad> forwarded_loads();

/// The entry that the table for the first level has, and its substitute while accesses are watched.
struct WatchedLine {
  u64 probed, last;

  /// Makes `line` the last one, and returns the one before.
  u64 exchange(u64 line, bool is_watched) {
    const u64 before = probed == no_line && is_watched ? last : probed;
    last = line;
    probed = is_watched ? no_line : line;
    return before;
  }
};
inline WatchedLine& watched_line(Thread* t, u64 line) {
  return *reinterpret_cast<WatchedLine*>(reinterpret_cast<u64>(t) + l1d_at + (line & model_plan.l1d_mask));
}

}  // namespace tally::engine::instrument
