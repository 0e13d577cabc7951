/// Access sites: the memory accesses of instructions, and instructions that begin another line of code. At most sites
/// the line is nearly always the most recent one of its set; a comparison and a jump are then the cheapest probe. A
/// mispredicted jump costs more than a branch-free probe. So each site counts its jumps, and code that is translated
/// again probes unstable sites without a jump.
#pragma once
#include "tally/engine/channel/hash.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// The number, among an instruction's sites, of its line of code; accesses have the numbers from 0.
inline constexpr u32 line_site = 7;
inline constexpr u8 every_site = 0xff;
inline constexpr u32 site_count = 15360;

/// Returns the index of the counter of the k-th site of the instruction at `pc`. Sites may share a counter: that makes
/// a probe more expensive, but no count wrong.
constexpr u32 site_of(u64 pc, u32 k) { return channel::hash_below(pc * 8 + k, site_count); }

/// Returns the offset of a thread's counter for that site from the GS base.
constexpr u32 site_at(u64 pc, u32 k) { return sites_at + site_of(pc, k) * static_cast<u32>(sizeof(u32)); }

/// Zeroes the counters of a new thread.
void sites_forget(Thread* t);
/// Called in the child of a fork: its counters begin at zero.
void sites_after_fork();
/// Sums the counters of all threads. The caller holds threads_lock and cache_lock.
void sites_count_up();
/// Whether a stable site of the instruction at `pc`, which was executed `executions` times since, has become unstable.
/// The caller holds cache_lock.
bool has_become_unstable(u64 pc, u64 executions);
/// Records that the k-th site of the instruction at `pc` is unstable. The caller holds cache_lock.
void record_unstable(u64 pc, u32 k);
/// Returns a bit for each unstable site of an instruction, judged by its jumps among `executions` executions (0: the
/// last judgement). `new_line`: it may begin another line of code. The caller holds cache_lock.
u8 unstable_sites(const Instruction& in, u32 accesses, bool new_line, u64 executions);

}  // namespace tally::engine::instrument
