/// Bundles: all traces that a program made of one file's code, laid out and linked when an earlier run ended. It is
/// copied as a whole when the first of its code is about to run, at a tenth of the cost of single traces.
///
/// Program addresses are relative to the start of the mapping of the code, cache addresses to the block that the code
/// is copied to. BundleHead and its arrays, in its order and 8-byte aligned, follow the names of the record.
///
/// The caller must hold cache_lock for everything here, unless noted otherwise.
#pragma once
#include "tally/engine/persist/translation_store.hpp"

namespace tally::engine::persist {

/// What is added to the words whose offsets in the block a list contains.
enum class Shift : u8 {
  counter,      // dword: 8 × the first segment number
  relative,     // dword: the mapping's address minus the block's
  address,      // qword: the mapping's address
  low_address,  // dword: the low half of that
  system_call,  // dword: the distance from the block to the arena's jump into the engine for system calls
};
inline constexpr u32 shift_count = 5;

/// Maximum number of traces in a bundle. The C compiler has 40,000 for a file of one line, the Rust compiler 200,000, a
/// browser 410,000, whose last ones are created in each run.
inline constexpr u32 bundle_limit = 400'000;
static_assert(bundle_limit * later_bytes < arena_bytes - arena_hot_bytes - (2 << 20), "an arena has room for a bundle");

struct BundleTrace {
  u32 pc, body;
  u32 number;          // segment number of its first segment, relative to the first of the block
  u32 place, segment;  // indices of its first place and segment
  u16 bytes, place_count;
  u8 segment_count;
  bool looked_ahead, by_jump;
  u8 pad;
};

/// An exit to code outside the bundle. Its jump leads to a stub; the stubs are adjacent.
struct BundleExit {
  u32 source;   // address of the displacement
  s32 target;   // program address of the target, or of the pointer to it
  u32 pointed;  // 1 + index of the trace that relies on that pointer; 0 = no pointer
};
/// mov rax, gs:[…]; mov eax, link; jmp to_link
inline constexpr u32 stub_bytes = 19;

/// The trace contains code of this page.
struct BundlePage {
  u32 page, trace;
};

struct BundleHead {
  u64 low_start;                // the mapping's address if it is low (see Template::low_pc), else 0
  u32 block_bytes, code_bytes;  // the stubs are between the two ends
  u32 traces, numbers, places, segments, exits, pages, ranges, original_bytes;
  u32 shifts[shift_count];
  u32 different_pages;
  s64 lowest, highest;  // range of addresses that the code reaches by displacements
};
static_assert(sizeof(BundleHead) % 8 == 0 && sizeof(BundleTrace) == 28);

/// The arrays of a bundle.
struct BundleParts {
  const BundleTrace* traces;
  const channel::SegmentVector* vectors;
  const InstructionMapping* places;
  const Segment* segments;
  const u8* code;
  const BundleExit* exits;
  const BundlePage* pages;
  const CodeRange* ranges;  // in ascending order, without overlaps
  const u32* shifts[shift_count];
  const u8* originals;
};

/// Calls f(pointer in BundleParts, number of elements) for each array, in order.
template <class Head, class Parts, class F>
void each_part(const Head& h, Parts& p, F&& f) {
  f(p.traces, h.traces);
  f(p.vectors, h.numbers);
  f(p.places, h.places);
  f(p.segments, h.segments);
  f(p.code, h.code_bytes);
  f(p.exits, h.exits);
  f(p.pages, h.pages);
  f(p.ranges, h.ranges);
  for (u32 i = 0; i < shift_count; i++) f(p.shifts[i], h.shifts[i]);
  f(p.originals, h.original_bytes);
}

/// Finds the arrays of a bundle. Never reads outside the record, whatever it contains: its finder has checked its
/// contents. Returns false if it has no traces.
bool read_bundle(const channel::Bundle& bundle, BundleHead& head, BundleParts& parts);
/// Whether the mapping at `start` has the code that the bundle was made from.
bool fits_bundle(const BundleHead& head, const BundleParts& parts, u64 start);

/// A mapping with code, and its bundle.
struct Module {
  u64 start, end;
  u64 key;  // of its bundle
  const channel::Bundle* found;
  u32 first_use, loaded;  // the traces that came from the bundle
  u32 fresh, better;      // additional traces; traces that replaced those of the bundle
  u32 reused;             // of the additional ones: those made from templates
  bool collects;          // this process keeps its templates until it makes a bundle of them
};

/// A trace that was made from a template.
struct Used {
  u64 pc;
  u32 place;    // identifies the template
  u32 bundled;  // the template according to the bundle, `use_own` if none is stored; 0 = not from a bundle
  u32 trace;    // 0 = it was discarded

  bool is_better() const { return bundled != 0 && bundled != place; }
};

/// All uses of this run, in order.
extern Growing<Used> uses;

/// Sets the first instruction of the program.
void bundles_init(u64 first_instruction);

/// Returns a key for data of this program in the store, which is no key of a bundle of code.
u64 key_in_program(u64 key);
/// Code at `pc` is about to run and has no translation. Creates all traces that an earlier run of the program made of
/// the code around it. Returns false if none were created.
bool load_bundle(u64 pc);
/// Whether templates of this code are searched: not if few of the first ones of a large file existed.
bool has_templates(u64 pc);
/// Which process stores the template of new code. Storing all templates takes two fifths of the time of a first run, so
/// a process stores the first templates of a file only. It keeps the others in its own memory, makes a bundle of them,
/// and stores that alone. If it was killed before, those of later runs store each template at once.
Keep keep_of(u64 pc);
/// Whether the trace of a use came from a bundle, and its template is not stored.
bool is_only_in_bundle(u32 use, bool& by_jump);
/// The code at these addresses has changed.
void forget_modules(u64 start, u64 end);
/// Records that the trace and the template belong together. Returns the number of this use, or 0.
u32 note_use(const Template& t, const Trace& trace, bool is_reused);
/// The cache was discarded.
void forget_used_traces();
/// Returns the template of a use, or null.
const Template* used_template(u32 use);
/// Replaces the template of a use, in this process and for others.
void replace_used(u32 use, const Template& by);
/// Stores the bundles when the process has finished using code. Takes cache_lock.
void keep_bundles();
/// The process continues as a copy of another one, so it has only a part of the program's uses: do not store them.
void drop_uses();

}  // namespace tally::engine::persist
