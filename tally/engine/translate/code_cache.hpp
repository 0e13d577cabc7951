/// The code cache: how translated code is found, linked and dropped.
///
/// A trace is translated code with one entry and several exits. It is divided into segments. A segment ends at a
/// conditional branch, and the next segment is entered only if that branch is not taken; or it ends with the trace.
/// Each thread has one counter per segment, and the counter times the events of one execution is the exact count.
///
/// Arenas are mapped on demand within 2 GB of the program code they hold, so that RIP-relative operands stay valid. If
/// the program leaves no room there, they are mapped elsewhere (arenas.hpp).
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/code_pages.hpp"
#include "tally/engine/translate/decode.hpp"
#include "tally/engine/translate/emit.hpp"
#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::translate {

/// Kinds of calls and returns that instrumentation distinguishes.
inline constexpr u32 call_kinds = 4;

/// Bytes of a jump into the engine.
inline constexpr u32 gate_bytes = 16;

/// A region of address space with translated code. Hot code grows from the start, stubs and literals grow from `cold`.
struct Arena {
  u64 base = 0;
  bool far = false;  // from the code that it serves: RIP-relative operands are out of reach
  u64 hot = 0, cold = 0;
  mutable u64 usable_hot = 0, usable_cold = 0;         // their memory is usable up to here
  u64 to_link = 0, to_indirect = 0;                    // jumps into the engine, of gate_bytes each
  u64 to_syscall = 0, to_source = 0, to_emulated = 0;  // the same, in the order of Gate
  u64 to_far_return = 0;
  u64 to_model = 0, to_lookup = 0;  // with machine models
  u64 to_call[call_kinds] = {};     // with calls, by their kind
  u64 to_mark = 0;                  // with marked addresses
  u64 to_key_check = 0;             // before an instruction that may deny access to the engine's memory
  u64 to_unlike = 0;                // from a trace whose program code has changed
  u64 to_window = 0;                // if windows are counted
  Growing<u32> traces;              // in ascending order of address
};
inline constexpr u64 arena_bytes = channel::cache_bytes, arena_hot_bytes = 64ull << 20;
/// What a trace may need later of the other bytes: an entry check and, when it is dropped, a stub.
inline constexpr u64 later_bytes = 160;

/// How to restore the program registers that generated code uses temporarily.
enum class Borrowed : u8 { none, rcx_r11, one, rax_rdx, rax_rdx_rbx };

/// One instruction of a trace: the location of its copy, and how to find the program's state there.
struct InstructionMapping {
  s32 pc;      // relative to the trace's pc
  u16 offset;  // from the trace's body: here the program's state is complete, except for `borrowed`
  u8 segment;
  Kind kind;
  u8 loads, stores;
  u8 dynamic;  // the channel::Dynamic that counts at run time, with one of these; 0: nothing is known only then
  static constexpr u8 by_ecx = 0x80, by_mask = 0x40;
  Borrowed borrowed;
  u8 reg;  // the register, if `borrowed` is `one`
  union {
    ElementMask mask;
    u8 own_field;        // of a plain instruction without run-time counting: see plain_field()
    bool falls_through;  // of a branch in the middle of a segment: the segment continues if it is not taken
  };

  /// Whether it has iterations or elements that are completed one after another.
  bool counts_iterations() const { return (dynamic & ~(by_ecx | by_mask)) != 0; }
  /// The channel::Field that one execution increments, in addition to instructions, loads and stores; 0 = none.
  u8 plain_field() const { return kind == Kind::plain && dynamic == 0 ? own_field : 0; }
};

struct Segment {
  u16 counted;  // offset after the increment; for the segment of an exit, offset of the branch that leads there
  u16 first;    // its first place, within the trace

  /// Value of `first`: the segment is only an exit. Its counts correct those of the first segment.
  static constexpr u16 is_exit = 0xffff;
};

/// Alignment of the code of a trace.
inline constexpr u64 trace_alignment = 16;
/// Whether a displacement at this address crosses a cache line, so that it cannot be patched while threads execute it.
inline bool crosses_line(u64 displacement) { return displacement % 64 > 60; }
/// Space before each trace for the jump that is written when the trace is dropped.
inline constexpr u32 dead_jump_bytes = 5;

struct Trace {
  u64 pc, start, body;  // the entry check starts at `start`, the code at `body`
  u64 entry;            // the entry check for indirect jumps; 0 until one arrives
  const InstructionMapping* places;
  const Segment* segments;
  u32 bytes;  // from `body` on
  u32 place_count;
  u32 number;  // segment number of the first segment; the others follow
  u16 segment_count;
  bool dead;
  bool steps;           // it is a trace in steps: one instruction, see countdown.hpp
  bool looked_ahead;    // it relies on code outside of it
  bool jumps_replaced;  // it is dead, and no jump table leads to it any more
  u8 generation;        // how often it was reoptimized, if it has no template
  u16 suspended;  // number of suspended pages that it relies on (code_pages.hpp): it is dead until they are resumed
  u16 head;       // its first two bytes, while it is suspended
  u32 loop_jump;  // the displacement at `loop`, while it is suspended
  u32 use;        // number of the use of its template (note_use()); 0 = none
  u32 loop;       // offset from body: displacement of a jump to its middle, which exits if set to 0; 0 here = none
  u32 gate;       // offset from body: the end of its gate, if it starts at a marked address
  u32 check;      // offset from body: the end of its check, if it is a trace in steps
  u32 compared;   // offset from body: the end of the code comparison (compared_code.hpp); 0 = watched or constant code
  u64 forwarding_jump;  // the forwarding jump to which all dropped traces of its address lead; 0 = none was dropped yet
};

/// Whether its first segment is the whole trace, and every other one an exit.
inline bool counts_exits(const Trace& t) { return t.segment_count > 1 && t.segments[1].first == Segment::is_exit; }

/// The program location of a cache address.
struct CacheLocation {
  const Trace* trace;
  const InstructionMapping* place;
  u32 index;   // of the place in its trace
  u32 offset;  // of the address in the trace
  bool exact;  // the address is that of the place, where the program's state is complete
};

void cache_init();
/// Discards everything. The caller ensures that no thread holds an address or number of the cache: see flush.
void cache_reset();
/// A thread that held cache_lock was killed, so the tables may be half changed. They are not used until everything is
/// discarded, and no thread returns to translated code before (see dispatch). Takes no lock; later holders of
/// cache_lock see it.
bool cache_is_damaged();
void note_cache_damaged();
/// Increases each time code is discarded. A jump table from an older generation must be emptied before its next use.
u32 cache_generation();

/// The caller must hold cache_lock for everything below, unless noted otherwise.
extern Lock cache_lock;

/// Returns the arena for code at `pc`, created if needed. Null: no memory is available, or there are too many arenas.
Arena* arena_for(u64 pc);
/// Whether it has room for one trace, or for `traces` traces in a block of code of `block_bytes`.
bool has_room(const Arena& a, u32 traces = 0, u64 block_bytes = 0);
/// Whether code at `pc` is, or would be, translated there, with its operands within reach.
bool serves(const Arena& a, u64 pc);
/// Address space of arenas that reserved_bytes() does not include.
u64 arenas_bytes();
/// Whether there is an arena that can be released.
bool flush_makes_room();
/// Whether the kernel refuses every arena, because memory must not be writable and executable: PR_SET_MDWE, a filter of
/// system calls, or a security module.
bool arenas_are_forbidden();
/// Whether the tables of traces, places and links have room for one more trace.
bool tables_have_room();
/// Whether they have room for these numbers of entries. Enlarges the tables that can grow.
bool have_room(u32 traces, u32 exits, u32 page_nodes, u32 different_pages, u32 numbers);

/// Keys by which traces are found: their program address, and whether they are traces in steps, which lead only to one
/// another. The two highest bits of a user or kernel address are equal; in the key of a trace in steps they differ.
inline constexpr u64 steps_key = u64{1} << 62;
inline constexpr u64 key_of(u64 pc, bool steps) { return steps ? pc ^ steps_key : pc; }
inline u64 key_of(const Trace& t) { return key_of(t.pc, t.steps); }
inline constexpr bool is_key_of_steps(u64 key) { return key >> 63 != (key >> 62 & 1); }
inline constexpr u64 pc_of_key(u64 key) { return is_key_of_steps(key) ? key ^ steps_key : key; }

/// Returns the live trace with this key, or null.
Trace* find_trace(u64 key);
/// `start` is the next free cache address of the arena: traces are created in ascending order. `is_first`: there was no
/// trace of this code before, so that none is searched whose place it could take.
Trace* new_trace(Arena& arena, u64 key, u64 start, bool is_first = false);

u64 literal(Arena& a, u64 value);

/// Ends the use of a trace: threads that enter it continue at the next translation of its code.
void drop(Trace& t);
/// Whether the traces of this run depend on nothing but the program's code. Others are dropped, never suspended.
bool traces_can_be_suspended();
/// A page that the trace relies on is suspended, or resumed (code_pages.hpp). suspend() returns false if the trace must
/// be dropped.
bool suspend(Trace& t);
void resume(Trace& t);
/// Returns the suspended trace with this key, or null.
Trace* suspended_trace(u64 key);
/// Redirects jumps to `old`, which is dead, to `by`. If that is null, they lead to the next translation of its code.
void supersede(Trace& old, const Trace* by);
/// Empties the jump table of a thread that is not using it.
void forget_jumps(Thread* t);
/// Replaces the entries of dead traces in all jump tables. Until then, such jumps are forwarded.
void replace_dead_jumps();

/// Whether the code at this address continues to a trace, or enters the engine, without regard to pending requests.
bool in_generated_code(u64 address);
/// Takes no lock. Returns false for addresses between traces, such as stubs.
bool locate(u64 address, CacheLocation& out);

struct Tables {
  Growing<Trace> traces;
  Growing<InstructionMapping> places;
  Growing<Segment> segments;
  bool has_dead;  // one of the traces is dead, or was
};
extern Tables tables;

inline void mark_dead(Trace& t) { t.dead = tables.has_dead = true; }

/// Returns the last trace whose first number is not above that of a segment.
inline u32 trace_of(u32 segment) {
  return numbers_before(tables.traces.size, [=](u32 i) { return tables.traces[i].number <= segment; }) - 1;
}

// --- translate.cpp --------------------------------------------------------------------------------------------------

enum class Outcome { translated, step, unreadable, leave, no_room, no_space };

/// Translates the code at `pc`. With `steps`, translates only the one instruction there, see countdown.hpp. `by_jump`:
/// an indirect jump leads there, so that the trace needs an entry check.
Outcome make_trace(u64 pc, bool steps, bool by_jump, Trace*& out);

/// Takes all locks of data that threads share, except that of the mappings. Then no other thread is changing this data.
inline void lock_tables() {
  cache_lock.take();
  lock_code();
  threads_lock.take();
}
inline void unlock_tables() {
  threads_lock.release();
  unlock_code();
  cache_lock.release();
}

}  // namespace tally::engine::translate
