/// Stored translations, for other programs of the run and for later runs.
///
/// A template is a relocatable trace: its code, a list of everything in it that depends on the addresses of the code
/// and of the program, and the description of its instructions. It is found by program code. It is used only if all
/// bytes that it was made from are equal, and cannot change unnoticed.
///
/// The caller must hold cache_lock for everything here, unless noted otherwise.
#pragma once
#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::persist {

struct Template {
  channel::RecordHead head;
  u64 low_pc;  // address of low code, where addresses have shorter forms, so that the template fits only there; else 0
  u64 kind;    // identifies the instrumentation of the code, and whether it checks protection keys
  u16 code_bytes, original_bytes, place_count, fixup_count;
  u16 trace_bytes;  // bytes of the code without the exits after the trace
  u16 stub_bytes, model_range_count;
  u16 loop;  // Trace::loop
  u8 segment_count, range_count;
  bool looked_ahead;
  bool by_jump;   // an indirect jump reached it first
  u8 generation;  // how often it was reoptimized
  u8 pad[11];

  // The arrays that follow, in this order:
  const channel::SegmentVector* vectors() const { return after<channel::SegmentVector>(this + 1, 0); }
  const InstructionMapping* places() const { return after<InstructionMapping>(vectors(), segment_count); }
  const Fixup* fixups() const { return after<Fixup>(places(), place_count); }
  const CodeRange* ranges() const { return after<CodeRange>(fixups(), fixup_count); }
  const KeptModelRange* model_ranges() const { return after<KeptModelRange>(ranges(), range_count); }
  const Segment* segments() const { return after<Segment>(model_ranges(), model_range_count); }
  const u8* code() const { return after<u8>(segments(), segment_count); }
  const u8* stubs() const { return code() + code_bytes; }
  const u8* originals() const { return stubs() + stub_bytes; }

 private:
  template <class To, class From>
  static const To* after(const From* from, u32 n) {
    return reinterpret_cast<const To*>(from + n);
  }
};
static_assert(sizeof(Template) % 16 == 0 && sizeof(InstructionMapping) == 16 && sizeof(Fixup) == 8 &&
              sizeof(CodeRange) == 8 && sizeof(KeptModelRange) == 8 && sizeof(Segment) == 4);

/// Maps the files that the command offers, by their inode numbers, 0 = none. Called once at the start.
void store_init(u64 kept_inode, u64 added_inode);

/// A page at `address` could not be read, because the file was truncated or the disk fails. Replaces it with an empty
/// page. Returns false if the address is not in a store. Takes no lock.
bool repair_store(u64 address);
/// How often that happened. Data copied from a store meanwhile must not be used.
u32 store_damage();

/// Returns a template for the code at `pc`, or null.
const Template* find_template(u64 pc);
/// Whether this template fits the code at `pc`.
bool fits_template(const Template& t, u64 pc);
/// Returns the template that `use` identifies, as in Bundle::uses(), or null. Any value of `use` is allowed.
const Template* template_at(u32 use);
/// The inverse: returns the number that identifies a template.
u32 use_of(const Template& t);
/// Later searches for code that `t` fits find `by`, which was added. If `t` is from an earlier run, only once `by` is
/// moved there.
void replace_template(const Template& t, const Template& by);
/// Returns the bundle with this key, or null.
const channel::Bundle* find_bundle(u64 key);
/// Whether a process of this run added the record.
bool is_added(const channel::RecordHead& record);
/// Whether the names of a bundle (its list of templates) are intact: another process may be writing them.
bool has_sound_names(const channel::Bundle& bundle);
/// Reserves a bundle without names, of `bytes` bytes. Returns null without room.
channel::Bundle* begin_bundle(u64 key, u64 bytes);
/// Publishes a complete bundle.
void end_bundle(channel::Bundle& bundle);
/// Copies a complete bundle of `bytes` bytes, and publishes it. Returns false without room.
bool add_bundle(channel::Bundle& bundle, u64 bytes);
/// Adds instructions for the command, for when it moves the additions: see the marks in
/// engine/channel/stored_layout.hpp.
void add_names(u64 mark, u64 key, const u32* names, u32 n);
/// For a new template: a number for each kind of code that can be generated from the same program code, and the hash by
/// which templates are found. The hash is the same in every process that has this code at this offset in a page; 0 if
/// the program code at `pc`, which it reads, is not present.
u64 kind_of_code();
u32 tag_of(u64 pc);
/// Templates of traces of this process, for its bundles: their numbers have this bit. They have fixups and ranges only,
/// because the rest is in the code cache. Without other bits, it is the number of a template that is not stored.
inline constexpr u32 use_own = 1u << 29;
inline bool is_own(const Template& t) { return t.code_bytes == 0; }
/// Claims room for such a template, which is neither sealed nor published. Returns null without room.
u8* claim_own_record(u64 bytes);
/// Claims room for a record, and maps the pages of following records before these are written one by one. `bytes`: a
/// multiple of channel::record_unit. Returns null without room.
u8* claim_record(u64 bytes);
/// Completes a record. Without a key, other processes do not find it.
void seal_record(channel::RecordHead& head);
/// Lets searches find a complete record.
void publish_record(const channel::RecordHead& head);
/// End of what was added.
u64 bytes_added();
/// Whether anything can be added. False once the process has dropped privileges.
bool store_is_written();
/// Whether new code is only useful in this run, because it or its marks fit no other.
bool keeps_nothing();

/// The process is about to drop privileges: from now on it, and programs that it executes, cannot write what others
/// use. The first takes cache_lock; the caller of the second holds it.
void give_up_writing();
void give_up_writing_locked();

}  // namespace tally::engine::persist
