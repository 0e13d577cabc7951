/// Finished translations that are used again: by another program of the run, or in a later run.
///
/// A template is a trace without a place: its code with a list of what depends on where the code and the program are,
/// and everything that is known of its instructions. It is found by program code and used only where all bytes that it
/// was made from are the same, and where they cannot change unnoticed.
///
/// Everything here wants cache_lock held, unless it says otherwise.
#pragma once
#include "tally/engine/channel/store.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::persist {

struct Template {
  channel::RecordHead head;
  u64 low_pc;  // where the code lies low: addresses have shorter forms there, and it fits this one only; else 0
  u64 kind;    // of code: what is woven into it, whether it checks protection keys
  u16 code_bytes, original_bytes, place_count, fixup_count;
  u16 trace_bytes;  // of the code, without the ways out that stand after the trace
  u16 stub_bytes, model_range_count;
  u16 loop;  // Trace::loop
  u8 segment_count, range_count;
  bool looked_ahead;
  bool by_jump;   // an indirect jump came first
  u8 generation;  // how often it was made again from what a process had counted
  u8 pad[11];

  // What follows, each after the one before:
  const channel::SegmentVector* vectors() const { return behind<channel::SegmentVector>(this + 1, 0); }
  const Place* places() const { return behind<Place>(vectors(), segment_count); }
  const Fixup* fixups() const { return behind<Fixup>(places(), place_count); }
  const CodeRange* ranges() const { return behind<CodeRange>(fixups(), fixup_count); }
  const KeptModelRange* model_ranges() const { return behind<KeptModelRange>(ranges(), range_count); }
  const Segment* segments() const { return behind<Segment>(model_ranges(), model_range_count); }
  const u8* code() const { return behind<u8>(segments(), segment_count); }
  const u8* stubs() const { return code() + code_bytes; }
  const u8* originals() const { return stubs() + stub_bytes; }

 private:
  template <class To, class From>
  static const To* behind(const From* from, u32 n) {
    return reinterpret_cast<const To*>(from + n);
  }
};
static_assert(sizeof(Template) % 16 == 0 && sizeof(Place) == 16 && sizeof(Fixup) == 8 && sizeof(CodeRange) == 8 &&
              sizeof(KeptModelRange) == 8 && sizeof(Segment) == 4);

/// Maps what the command offers: files with these numbers, 0 = none. Called once, at the start.
void store_init(u64 kept_inode, u64 added_inode);

/// A page at `address` cannot be read, because somebody cut the file or the disk fails: it is empty from now on. False
/// where it is none of a store. Takes no lock.
bool mend_store(u64 address);
/// How often that happened: what was copied from a store meanwhile is worth nothing.
u32 store_damage();

/// A template for the code at `pc`, or null.
const Template* find_template(u64 pc);
/// Whether this one is.
bool fits_template(const Template& t, u64 pc);
/// The template at a place, as Bundle::uses() names it, which may be anything; or null.
const Template* template_at(u32 use);
/// The opposite.
u32 use_of(const Template& t);
/// Who looks for code that `t` fits finds `by`, which was added, instead; where `t` was kept, once it is kept too.
void replace_template(const Template& t, const Template& by);
/// The bundle with this key, or null.
const channel::Bundle* find_bundle(u64 key);
/// Whether the names of a bundle are those that were written: another process may be writing.
bool has_sound_names(const channel::Bundle& bundle);
/// Room for a bundle with these names and so many bytes after them, from a multiple of 8 on; null where there is none.
channel::Bundle* begin_bundle(u64 key, const u32* uses, u32 n, u64 more_bytes);
/// It is complete: others may find it.
void end_bundle(channel::Bundle& bundle);
/// What the command is to do when what was added is kept: see the marks of engine/channel/store.hpp.
void add_names(u64 mark, u64 key, const u32* names, u32 n);
/// Adds the template of a finished trace; with `use` it takes the place of the template of that use.
void add_template(const Recording& r, const Builder& b, u32 use);
/// Whether anything can be added; false, too, once the process may do less than it could.
bool store_is_written();
/// What is made is for this run only: it fits nothing else, or its marks.
bool keeps_nothing();

/// The process is about to do with fewer rights: from now on it, and what it executes, cannot write what others use.
/// The first takes cache_lock, the second wants it held.
void give_up_writing();
void give_up_writing_locked();

// --- reuse.cpp ------------------------------------------------------------------------------------------------------

/// How far after `body` the code of a template must begin so that all its exits can be patched; room_nowhere where it
/// is so nowhere.
u64 room_before(const Template& t, u64 body);
inline constexpr u64 room_nowhere = 4 * trace_alignment;

/// A trace from a template. Null where it cannot be used from there; dead where there is no room.
Trace* reuse(const Template& t, u64 pc, u64 older, Arena& arena);

// --- bundle.cpp: which templates this program uses
// --------------------------------------------------------------------

/// The program begins there.
void bundles_init(u64 first_instruction);
/// Code at `pc` is about to run, and is not translated: makes all traces that an earlier run of the program made of the
/// code around it. False where nothing was made.
bool load_bundle(u64 pc);
/// What was known of code there does not hold any more.
void forget_modules(u64 start, u64 end);
/// The trace was made of this template, or the template of the trace. Returns the number of this use, or 0.
u32 note_use(const Template& t, const Trace& trace);
/// The cache was flushed.
void forget_used_traces();
/// The template of a use, or null.
const Template* used_template(u32 use);
/// It is another one from now on, here and for others.
void replace_used(u32 use, const Template& by);
/// What this program used is complete. Takes cache_lock.
void keep_bundles();
/// The process goes on as a copy of another one: what it used is not all that the program uses.
void drop_uses();

}  // namespace tally::engine::persist
