/// The code cache: translated code, how it is found, linked and dropped.
///
/// A trace is a piece of translated code with one entry and several exits. It is cut into segments: a segment ends at
/// a conditional branch (the next one is entered only when the branch is not taken) or where the trace ends. Each
/// segment has one counter per thread, so that counter × what the segment holds gives every count exactly.
///
/// Caches are made on demand within 2 GB of the program code they hold, so that RIP-relative operands stay valid; where
/// the program has no room for them there, elsewhere (arenas.hpp).
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/decode.hpp"
#include "tally/engine/translate/emit.hpp"
#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::translate {

/// One piece of address space with translated code. Hot code grows from the start, stubs and literals from `cold`.
struct Arena {
  u64 base = 0;
  bool far = false;  // from code that it serves: operands are not within reach
  u64 hot = 0, cold = 0;
  u64 to_link = 0, to_indirect = 0, to_syscall = 0;  // jumps into the engine
  u64 to_far_return = 0;
  u64 to_model = 0, to_lookup = 0;  // where a machine is simulated
  u64 to_mark = 0;                  // where addresses are marked
  u64 to_key_check = 0;             // before an instruction that may deny the program the engine's memory
  u64 to_unlike = 0;                // from a trace whose code is another one by now
  u64 to_window = 0;                // where windows are counted
  Growing<u32> traces;              // by rising address
};
inline constexpr u64 arena_bytes = channel::cache_bytes, arena_hot_bytes = 64ull << 20;

/// How a program register that generated code had to borrow comes back.
enum class Borrowed : u8 { none, rcx_r11, one };

/// One instruction of a trace: where its copy is, and what the program's state is there.
struct Place {
  s32 pc;      // from the trace's pc
  u16 offset;  // from the trace's body: here all of the program's state is in place but what `borrowed` says
  u8 segment;
  Kind kind;
  u8 loads, stores;
  u8 dynamic;  // bit 7: by ECX; bit 6: by a mask (gather, scatter)
  Borrowed borrowed;
  u8 reg;  // the one, when it is one
  union {
    u8 pad[3];
    u8 own_field;        // of a plain instruction that counts nothing when it runs: see plain_field()
    bool falls_through;  // of a branch in the middle of a segment: the segment goes on where it is not taken
  };

  /// The channel::Field that one execution adds 1 to, in addition to instructions, loads and stores; 0 = none.
  u8 plain_field() const { return kind == Kind::plain && dynamic == 0 ? own_field : 0; }
};

struct Segment {
  u16 counted;  // offset after the increment; of an exit's segment, of the branch that leads there
  u16 first;    // its first Place, within the trace

  /// As `first`: the segment is nothing but an exit. What it counts makes up for what the first one counted, or did
  /// not.
  static constexpr u16 is_exit = 0xffff;
};

/// Where the code of a trace begins.
inline constexpr u64 trace_alignment = 16;
/// Whether a displacement there lies in two cache lines: then it cannot be patched while other threads run over it.
inline bool crosses_line(u64 displacement) { return displacement % 64 > 60; }
/// Room in front of each trace for the jump that is taken when it is dropped.
inline constexpr u32 dead_jump_bytes = 5;

struct Trace {
  u64 pc, start, body;  // from start on: its entry check, its code
  u64 entry;            // for indirect jumps: checks the target first; 0 until one comes
  const Place* places;
  const Segment* segments;
  u32 bytes;  // from body
  u32 place_count;
  u32 number;  // segment number of the first one, the others follow
  u16 segment_count;
  bool dead;
  bool steps;         // it is one of steps: one instruction, see countdown.hpp
  bool looked_ahead;  // it relies on code that it does not hold, of pages that it is registered for
  u8 entries;         // entry checks that were made for it out of its line
  u8 generation;      // how often it was made again, where no template says it
  u32 use;            // of a template: note_use() says which; 0 = none
  u32 loop;           // from body: the displacement of a jump into its middle; 0 leads out of it, 0 here = none
  u32 gate;           // from body: the end of its gate, where it begins at a marked address
  u32 check;          // from body: the end of its check, where it is one of steps
  u32 compared;  // from body: the end of what compares its code (compared_code.hpp); 0 = it is watched, or constant
  u64 grave;     // where those of its address lead that are dead, and it too then; 0 = none was dropped yet
};

/// Whether its first segment is all of it, and each other one an exit.
inline bool counts_exits(const Trace& t) { return t.segment_count > 1 && t.segments[1].first == Segment::is_exit; }

/// Where a cache address stands in the program.
struct CacheLocation {
  const Trace* trace;
  const Place* place;
  u32 index;   // of the place in its trace
  u32 offset;  // of the address in the trace
  bool exact;  // the address is the place's own: the program's state is in place there
};

void cache_init();
/// Throws everything away. Nobody knows an address or number of it: see flush.
void cache_reset();
/// Who held cache_lock was killed: the tables may be half changed. Nothing in them is used until all is thrown away,
/// and no thread goes back to its code before (see dispatch). Needs no lock; true for all who take it afterwards.
bool cache_is_damaged();
void note_cache_damaged();
/// How often something was thrown away: jump tables that are older must be emptied before they are used again.
u32 cache_generation();

/// Everything below wants cache_lock held, unless it says otherwise.
extern Lock cache_lock;

/// The arena for code at `pc`, made when there is none. Null when there is no memory for it, or there are too many.
Arena* arena_for(u64 pc);
/// Whether it has room for a trace, or for so many in a block of code.
bool has_room(const Arena& a, u32 traces = 0, u64 block_bytes = 0);
/// Whether code at `pc` is, or would be, translated there, its operands within reach.
bool serves(const Arena& a, u64 pc);
/// Address space of arenas that is not counted as reserved.
u64 arenas_bytes();
/// Whether there is an arena that can be given up.
bool flush_makes_room();
/// Whether the tables of traces, places, links have room for one more trace.
bool tables_have_room();
/// Whether they have room for so many more; makes them large enough where they grow.
bool have_room(u32 traces, u32 exits, u32 page_nodes, u32 different_pages, u32 numbers);

/// Traces are found by this: their program address, and whether they are steps, which lead to steps only. The two
/// highest bits of an address are the same, the program's or the kernel's, and of the key of steps they are not.
inline constexpr u64 steps_key = u64{1} << 62;
inline constexpr u64 key_of(u64 pc, bool steps) { return steps ? pc ^ steps_key : pc; }
inline u64 key_of(const Trace& t) { return key_of(t.pc, t.steps); }
inline constexpr bool is_key_of_steps(u64 key) { return key >> 63 != (key >> 62 & 1); }
inline constexpr u64 pc_of_key(u64 key) { return is_key_of_steps(key) ? key ^ steps_key : key; }

/// The live trace with this key, or null.
Trace* find_trace(u64 key);
/// `start`: the next free cache address of the arena; traces are made in rising order.
Trace* new_trace(Arena& arena, u64 key, u64 start);
/// The trace with this index holds code of the page of `pc`.
void register_page(u32 trace, u64 pc);

u64 literal(Arena& a, u64 value);
/// The code at the head of a trace that an indirect jump reaches: goes on when the target is the trace's pc, else
/// to `older`, what the slot of the jump table led to before. Returns the address of its first instruction.
u64 emit_entry_check(Arena& a, Emitter& e, u64 pc, u64 older);
u32 entry_check_bytes(u64 pc);

/// Drops what was translated from [a, a + n).
void invalidate(u64 a, u64 n);
/// What still leads to `old`, which is dead, leads to `by`; or, where there is none, to what is made of its code then.
void supersede(Trace& old, const Trace* by);
/// Empties the jump table of a thread that is not using it.
void forget_jumps(Thread* t);
/// Indirect jumps ask for their targets again: what they led to is dead.
void forget_all_jumps();
/// The same, where any target of theirs is: until then they go by way of what is dead.
void shorten_jumps();

bool in_cache(u64 address);
/// Takes no lock. False for addresses between traces: stubs and trampolines.
bool locate(u64 address, CacheLocation& out);

struct Tables {
  Growing<Trace> traces;
  Growing<Place> places;
  Growing<Segment> segments;
};
extern Tables tables;

// --- translate.cpp --------------------------------------------------------------------------------------------------

enum class Outcome { translated, step, unreadable, leave, no_room, no_space };

/// Translates from `pc` on; `steps`: the one instruction there, see countdown.hpp. `older`: an indirect jump is on its
/// way there, and what its slot leads to; else 0.
Outcome make_trace(u64 pc, bool steps, u64 older, Trace*& out);

/// All locks of what threads share, but that of mappings: no other thread is in the middle of a change.
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
