/// Finished translations that are used again: by another program of the run, or in a later run.
///
/// A template is a trace without a place: its code with a list of what depends on where the code and the program are,
/// and everything that is known of its instructions. It is found by program code and used only where all bytes that it
/// was made from are the same, and where they cannot change unnoticed.
///
/// Everything here wants cache_lock held, unless it says otherwise.
#pragma once
#include "tally/channel/store.hpp"
#include "tally/engine/cache.hpp"

namespace tally::engine {

struct Builder;

/// What depends on where a trace stands.
enum class Fix : u8 {
  counter,      // dword: displacement of the counter of segment `value`
  relative,     // dword: program address pc + value, from `extra` bytes behind the dword
  exit,         // dword: a direct exit to program address pc + value
  exit_by,      // dword: a direct exit to where the pointer at program address pc + value leads, which must hold
  pushed,       // dword: displacement of a literal, the program address pc + value
  system_call,  // dword: displacement of the arena's door for system calls
  address,      // qword: program address pc + value
  low_address,  // dword: the low half of it

  // Of code that asks the models of a machine; `stubs` is what stands beside the way:
  negated,     // qword: program address pc + value, negated
  negated_by,  // qword: where the pointer at that address leads, which must hold, negated
  line,        // dword: the number of the line or page of code at program address pc + value
  page_entry,  // dword: displacement of what is known of the set of that page
  outcome,     // dword: what is told of the branch at program address pc + value; extra: whether it was taken
  site,        // dword: displacement of the counter of site `extra` of the instruction at program address pc + value
  restless,    // nothing: that site is taken to be restless
  to_body,     // dword: `value` bytes behind the beginning of the body
  to_stubs,    // dword: `value` bytes behind that of the stubs
  to_look,     // dword: displacement of the arena's door for looks
  to_model,    // dword: displacement of the one for all else
};

/// Below it addresses may have short forms: a template has those of its own address. Nothing that code above refers to
/// by a displacement lies in the low 4 GB.
inline constexpr u64 low_limit = 0x180000000;

struct Fixup {
  s32 value;
  u16 offset;  // from the body, or from the stubs
  Fix what;
  u8 extra : 7, in_stubs : 1;
};

/// Program code that a template was made from.
struct CodeRange {
  s32 from;  // from the trace's pc
  u32 bytes;
};

/// A ModelRange of a trace without a tape. No register is the stack pointer's number, which is never borrowed.
struct KeptModelRange {
  u16 begin, end;
  u8 a : 4, b : 4, note : 4, page : 4;
  u8 outcomes : 7, flags : 1;
  u8 taken;
};

struct Template {
  channel::RecordHead head;
  u64 low_pc;  // where the code lies low: addresses have shorter forms there, and it fits this one only; else 0
  u64 models;  // models_key() of what was simulated
  u16 code_bytes, original_bytes, place_count, fixup_count;
  u16 trace_bytes;  // of the code, without the ways out that stand behind the trace
  u16 stub_bytes, model_range_count;
  u16 loop;  // Trace::loop
  u8 segment_count, range_count;
  bool looked_ahead;
  bool by_jump;   // an indirect jump came first
  u8 generation;  // how often it was made anew from what a process had counted
  u8 pad[11];

  // What follows, each behind the one before:
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

/// Notes down, while a trace is made, what its template needs.
class Recorder {
 public:
  /// Behind begin_trace().
  void begin(const Builder& b, bool by_jump, u8 generation = 0);
  /// The trace relies on this instruction.
  void note(const Instruction& in);
  void fix(Fix what, u64 offset, s64 value, u32 extra = 0);
  /// The same by a cache address, in the body or in the stubs, and a program address.
  void fix_at(Fix what, const u8* at, u64 address, u32 extra = 0);
  /// The dword at this cache address is a displacement to that one, of the trace or a door of its arena.
  void refer(const u8* at, u64 to);
  /// It is not to be used again.
  void give_up() { on_ = false; }
  /// Adds the finished trace to the store. `use`: it takes the place of the template of that use, 0 = of none.
  void end(const Builder& b, u32 use = 0);

 private:
  void add(const Fixup& fixup);
  bool is_in_body(u64 address) const { return address - body_ < max_bytes; }

  static constexpr u32 fixup_limit = 2048, range_limit = 64, original_limit = 4096, max_bytes = 0xffff;
  bool on_ = false, by_jump_ = false;
  u8 generation_ = 0;
  u64 pc_ = 0, body_ = 0, stubs_ = 0;
  u64 to_look_ = 0, to_model_ = 0;
  u32 fixups_ = 0, ranges_ = 0, originals_ = 0;
  Fixup fixup_[fixup_limit];
  CodeRange range_[range_limit];
  u8 original_[original_limit];
};
extern Recorder recorder;

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
/// Room for a bundle with these names and so many bytes behind them, from a multiple of 8 on; null where there is none.
channel::Bundle* begin_bundle(u64 key, const u32* uses, u32 n, u64 more_bytes);
/// It is complete: others may find it.
void end_bundle(channel::Bundle& bundle);
/// What the command is to do when what was added is kept: see the marks of channel/store.hpp.
void add_names(u64 mark, u64 key, const u32* names, u32 n);
/// Whether anything can be added; false, too, once the process may do less than it could.
bool store_is_written();
/// What is made is for this run only: it fits nothing else, or its marks.
bool keeps_nothing();

/// The process is about to do with fewer rights: from now on it, and what it executes, cannot write what others use.
/// The first takes cache_lock, the second wants it held.
void give_up_writing();
void give_up_writing_locked();

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

}  // namespace tally::engine
