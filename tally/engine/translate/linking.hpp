/// Links between traces: direct exits and their stubs, and entries for indirect jumps.
///
/// The caller must hold cache_lock for everything here.
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

/// Emits a direct exit: a jump or jcc to the translation of `target` (the key of a trace), patched when that exists.
/// `condition` < 0: unconditional. Returns the cache address of the jump.
u64 emit_exit(Arena& a, Emitter& e, int condition, u64 target);
/// Sets the displacement of an exit: it leads to the trace of `target`, or to a new stub if there is none yet.
void link_exit(Arena& a, u8* displacement, u64 target);
/// Emits the stub of an unlinked exit (displacement at `source`), which asks the engine for the trace of `target`.
void emit_stub(const Arena& a, Emitter& e, u64 source, u64 target);

/// Returns the program address of a link's target.
u64 link_target(u64 link);

/// Determines where thread `t` continues in the cache, in `trace`, whose pc is that of the thread. Links the exit
/// through which the thread came. `is_new`: the trace was just created for it.
void settle(Thread* t, Trace& trace, bool is_new);

/// Redirects a forwarding jump to `to`; 0: to the stub that follows it.
void patch_forwarding_jump(u64 forwarding_jump, u64 to);

/// The table of exits that are not linked yet.
void links_init();
void links_forget();
bool links_are_full(u32 more);
/// Maps the memory of the next `n` exits, which will all be added.
void populate_links(u32 n);

}  // namespace tally::engine::translate
