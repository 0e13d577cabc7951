/// Sites: the places in a program where it accesses memory or comes to another line of code. At most of them the line
/// is nearly always the most recent one of its set, and then a comparison and a jump are the cheapest look. A jump that
/// is predicted wrongly costs more than a look without one: so what jumped is counted, by site, and code that is made
/// again looks at unstable sites without a jump.
#pragma once
#include "tally/engine/channel/hash.hpp"
#include "tally/engine/instrument/models.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// The number that the line of an instruction has among its sites; its accesses have those from 0 on.
inline constexpr u32 line_site = 7;
inline constexpr u8 every_site = 0xff;
inline constexpr u32 site_count = 15360;

/// Where the k-th site of the instruction at `pc` is counted. Others may share it: that makes a look more expensive,
/// and no count wrong.
constexpr u32 site_of(u64 pc, u32 k) { return channel::hash_below(pc * 8 + k, site_count); }

/// Where a thread counts it: an offset from the GS base.
constexpr u32 site_at(u64 pc, u32 k) { return sites_at + site_of(pc, k) * static_cast<u32>(sizeof(u32)); }

/// A thread begins, with nothing counted.
void sites_forget(Thread* t);
/// In the child of a fork, whose counters begin again.
void sites_after_fork();
/// Takes down what all threads have counted. Wants threads_lock and cache_lock.
void sites_count_up();
/// Whether an access of the instruction at `pc` was made at a steady site and has not been one since, which it was
/// executed so often. Wants cache_lock.
bool has_become_restless(u64 pc, u64 executions);
/// The k-th site of the instruction at `pc` is one. Wants cache_lock.
void record_unstable(u64 pc, u32 k);
/// The unstable sites of an instruction, a bit for each, judged by what has been counted among so many executions (0:
/// as they were judged before). `new_line`: it may come to another line. Wants cache_lock.
u8 unstable_sites(const Instruction& in, u32 accesses, bool new_line, u64 executions);

}  // namespace tally::engine::instrument
