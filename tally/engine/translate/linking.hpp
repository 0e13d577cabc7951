/// How traces lead to one another: direct exits and their stubs, entries for indirect jumps.
///
/// Everything here wants cache_lock held.
#pragma once
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::translate {

/// A direct exit at `here`: (j)cc to the translation of `target`, patched when there is one. `condition` < 0: always.
/// Returns the cache address of the jump. Targets are keys of traces.
u64 emit_exit(Arena& a, Emitter& e, int condition, u64 target);
/// Where an exit whose displacement is at `displacement` leads for now.
void lead_exit(Arena& a, u8* displacement, u64 target);
/// Code for an exit whose displacement is at `source` and that is not linked: it asks for `target`.
void emit_stub(const Arena& a, Emitter& e, u64 source, u64 target);

/// The program address of a link's exit.
u64 link_target(u64 link);

/// Where thread `t` goes on in the cache, given that its pc is that of `trace`, which was made for it just now or
/// earlier; links the exit it came by.
void settle(Thread* t, Trace& trace, bool is_new);

/// A jump of dropped code at `grave` leads to `to` from now on; 0: on to the stub after it.
void patch_grave(u64 grave, u64 to);

/// The table of exits that are not linked yet.
void links_init();
void links_forget();
bool links_are_full(u32 more);

}  // namespace tally::engine::translate
