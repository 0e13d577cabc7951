/// Counts how often each indirect jump and call led to each target (channel::CodeJump).
///
/// A pair of both has a segment number, whose counter no other code uses. Generated code finds the pairs that its
/// thread executed recently (call_code.hpp), and enters the engine for others.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Whether jumps are counted; not together with calls. Set by jumps_init().
inline bool jumps_on() { return settings().counts_jumps != 0; }
void jumps_init();
/// Returns a number that identifies this instrumentation; 0 if jumps are not counted.
inline u64 jumps_key() { return jumps_on() ? 0x6a75'6d70 : 0; }

/// Returns the word by which generated code identifies the indirect jump or call at `pc`. Its low byte is jump_word.
/// The caller holds cache_lock and has checked Probes::has_room().
u32 jump_word_of(u64 pc);
inline constexpr u32 jump_word = 0x82, jump_word_shift = 8;

/// Called from generated code for a pair that is not among the recent ones of its thread.
void jumps_asked(Thread* t, u32 word);

/// A pair that a thread has executed recently. All zero: none.
struct RecentJump {
  u64 target;
  u32 word;
  u32 counter;  // offset from the GS base
};
inline constexpr u32 recent_jump_bits = 15, recent_jump_shift = 4, recent_jumps_at = steps_table_at;
inline constexpr u32 jump_word_factor = 0x9e37'79b1, jump_hash_shift = 12;
static_assert(sizeof(RecentJump) == 1u << recent_jump_shift);
static_assert(sizeof(RecentJump) << recent_jump_bits <= jump_table_entries * 8);

inline RecentJump& recent_jump(Thread* t, u32 word, u64 target) {
  constexpr u32 mask = (1u << recent_jump_bits) - 1;
  const u32 index = (word * jump_word_factor >> jump_hash_shift) + static_cast<u32>(target);
  return reinterpret_cast<RecentJump*>(reinterpret_cast<u64>(t) + recent_jumps_at)[index & mask];
}

}  // namespace tally::engine::instrument
