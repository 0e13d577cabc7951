/// Code that follows calls and returns, once in each arena: traces use it, and it enters the engine only for what its
/// thread has not seen yet.
///
/// A thread has a cache of calls, by the calling node and the call instruction. The code adds the sums of events to the
/// active node, looks the call up, counts it and pushes a frame; a return whose frame is the innermost one pops it.
#pragma once
#include "tally/engine/instrument/call_stacks.hpp"
#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::translate {
struct Builder;
struct Emitter;
}  // namespace tally::engine::translate

namespace tally::engine::instrument {

/// How a call is identified: the low bits of its word. Above them is the number of its site.
enum CallKind : u32 {
  call_direct,
  call_linked,    // of a jump in a linkage table: the target is in a pointer
  call_indirect,  // the target is in rcx
  call_return,    // a return; it has no site
};
static_assert(call_return + 1 == call_kinds);
/// In every word of a call or return: models use other words.
inline constexpr u32 call_tag = 1u << 30;

/// A recent call: most calls repeat. Small, because a program with many call paths uses more of them than the first
/// level of the cache holds.
struct RecentCall {
  CallNode* caller;  // node of the caller; null: free
  u32 word;          // of the call instruction
  s32 below;         // distance from `node`, in bytes, of the node that the calls of the called function are below
  CallNode* node;    // of the call
  u64 pointer;       // of call_linked: address of the pointer
};
inline constexpr u32 recent_bits = 14, recent_shift = 5;
static_assert(sizeof(RecentCall) == 1u << recent_shift);
/// Spreads the calls of different nodes.
inline constexpr u32 recent_caller_factor = 0x9e3779b1;

/// Offsets from the GS base. The low 12 bits of `calls_at` are those of the countdowns, which are not used with calls.
/// A thread that follows calls has no steps.
inline constexpr u32 calls_at = 0xf8000 + o_countdown, recent_calls_at = steps_table_at;
static_assert(sizeof(ActiveFrames) <= o_sums - o_countdown);
static_assert(sizeof(RecentCall) << recent_bits <= jump_table_entries * 8);

inline RecentCall& recent_call(Thread* t, const CallNode* caller, u32 word, u64 target) {
  const u32 hash = static_cast<u32>(reinterpret_cast<u64>(caller)) * recent_caller_factor + word +
                   ((word & (call_kinds - 1)) == call_indirect ? static_cast<u32>(target) : 0);
  constexpr u32 mask = (1u << (recent_bits + recent_shift)) - (1u << recent_shift);
  return *reinterpret_cast<RecentCall*>(reinterpret_cast<u64>(t) + recent_calls_at + (hash & mask));
}

/// Whether the sums of events begin again at each call and return. Functions of Python programs need them to go on.
inline bool calls_restart_sums() { return !python_on(); }

/// Increases when recent calls may have become something else. A thread's number follows its CallStacks and the sums of
/// events that its calls have already.
extern u32 calls_generation;
inline constexpr u32 o_calls_seen = calls_at + sizeof(CallStacks),
                     o_calls_generation = o_calls_seen + 8 * channel::call_event_limit;

/// Emits this code. If jumps are counted instead of calls, the code of call_indirect counts an indirect call, and that
/// of call_return an indirect jump, to which its trace jumps as a return does (jump_probes.hpp).
void make_call_code(Arena& a);

/// Emits the use of it for a call, before its return address is pushed; if the call is indirect, with rcx = the target
/// and r11 free. `word` identifies the call.
void emit_call(Builder& b, const Instruction& in, bool direct, u32 word);
/// The same for a return that has popped its address into rcx, with r11 free. True if the code continues at the target.
bool emit_return(Builder& b, const Instruction& in);
/// The same for an indirect jump that is counted; it continues at the target.
void emit_jump(Builder& b, const Instruction& in, u32 word);

/// Emits code that sets rcx to 0 if the innermost call executes the function at `target`; r11 is lost, flags are not.
void emit_distance_to_active(Emitter& e, u64 target);

/// Bytes that a return has removed in addition to its address, from `word` of code that does not continue itself.
inline u32 removed_bytes(u32 word) { return (word & ~call_tag) >> recent_shift; }

}  // namespace tally::engine::instrument
