/// Bundles: all that a program made of the code of one file, laid out and led to one another when an earlier run of it
/// ended. It is copied whole when the first of this code is about to run, which costs a tenth of making each trace by
/// itself.
///
/// Addresses of the program count from the start of the mapping that has the code, cache addresses from that of the
/// block to which the code is copied. After the names of the record: BundleHead, then the arrays that it counts, in
/// its order, each from a multiple of 8 on.
#pragma once
#include "tally/engine/persist/store.hpp"

namespace tally::engine::persist {

/// What is added to the words whose offsets in the block a list holds.
enum class Shift : u8 {
  counter,      // dword: 8 × the first segment number
  relative,     // dword: the mapping's address less the block's
  address,      // qword: the mapping's address
  low_address,  // dword: the low half of it
  system_call,  // dword: the distance of the arena's door for system calls from the block
};
inline constexpr u32 shift_count = 5;

/// Most traces of a bundle: the C compiler has 40,000 for a file of one line.
inline constexpr u32 bundle_limit = 1 << 16;

struct BundleTrace {
  u32 pc, body;
  u32 number;          // segment number of the first one, from the first of the block
  u32 place, segment;  // index of its first one
  u16 bytes, place_count;
  u8 segment_count;
  bool looked_ahead, by_jump;
  u8 pad;
};

/// An exit to what is not in the bundle; its jump leads to a stub. The stubs stand side by side.
struct BundleExit {
  u32 source;   // of the displacement
  s32 target;   // where it leads; or where the pointer is that says so
  u32 pointed;  // 1 + the trace that relies on that pointer; 0 = there is none
};
/// mov rax, gs:[…]; mov eax, link; jmp to_link
inline constexpr u32 stub_bytes = 19;

/// Code of this page is in this trace.
struct BundlePage {
  u32 page, trace;
};

struct BundleHead {
  u64 low_start;                // the mapping's address where that is low (see Template::low_pc), else 0
  u32 block_bytes, code_bytes;  // stubs lie between
  u32 traces, numbers, places, segments, exits, pages, ranges, original_bytes;
  u32 shifts[shift_count];
  u32 different_pages;
  s64 lowest, highest;  // what the code refers to by a displacement
};
static_assert(sizeof(BundleHead) % 8 == 0 && sizeof(BundleTrace) == 28);

/// The arrays of a bundle.
struct BundleParts {
  const BundleTrace* traces;
  const channel::SegmentVector* vectors;
  const Place* places;
  const Segment* segments;
  const BundleExit* exits;
  const BundlePage* pages;
  const CodeRange* ranges;  // by rising address, none over another
  const u32* shifts[shift_count];
  const u8* originals;
  const u8* code;
};

/// Calls f(pointer of BundleParts, how many elements) for each array, in order.
template <class Head, class Parts, class F>
void each_part(const Head& h, Parts& p, F&& f) {
  f(p.traces, h.traces);
  f(p.vectors, h.numbers);
  f(p.places, h.places);
  f(p.segments, h.segments);
  f(p.exits, h.exits);
  f(p.pages, h.pages);
  f(p.ranges, h.ranges);
  for (u32 i = 0; i < shift_count; i++) f(p.shifts[i], h.shifts[i]);
  f(p.originals, h.original_bytes);
  f(p.code, h.code_bytes);
}

/// What is known of a mapping with code.
struct Module {
  u64 start, end;
  u64 key;  // of its bundle
  const channel::Bundle* found;
  u32 first_use, loaded;  // the traces that came of it
  u32 fresh, better;      // that were made besides; and in the place of others
};

/// One trace that was made of a template.
struct Used {
  u64 pc;
  u32 place;    // of the template
  u32 bundled;  // as its bundle named it; 0 = it is of none
  u32 trace;    // 0 = it was flushed

  bool is_better() const { return bundled != 0 && bundled != place; }
};

/// All of this run, one after the other.
extern Growing<Used> uses;

// --- bundle_make.cpp ------------------------------------------------------------------------------------------------

/// Adds a bundle of all uses with code of this mapping to the store.
void make_bundle(const Module& m);

}  // namespace tally::engine::persist
