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
};

struct Fixup {
  s32 value;
  u16 offset;  // from the body
  Fix what;
  u8 extra;
};

/// Program code that a template was made from.
struct CodeRange {
  s32 from;  // from the trace's pc
  u32 bytes;
};

struct Template {
  channel::RecordHead head;
  u64 low_pc;  // where the code lies low: addresses have shorter forms there, and it fits this one only; else 0
  u16 code_bytes, original_bytes, place_count, fixup_count;
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
  const Segment* segments() const { return behind<Segment>(ranges(), range_count); }
  const u8* code() const { return behind<u8>(segments(), segment_count); }
  const u8* originals() const { return code() + code_bytes; }

 private:
  template <class To, class From>
  static const To* behind(const From* from, u32 n) {
    return reinterpret_cast<const To*>(from + n);
  }
};
static_assert(sizeof(Template) % 16 == 0 && sizeof(Place) == 16 && sizeof(Fixup) == 8 && sizeof(CodeRange) == 8 &&
              sizeof(Segment) == 4);

/// Notes down, while a trace is made, what its template needs.
class Recorder {
 public:
  void begin(u64 pc, bool by_jump, u8 generation = 0);
  /// The trace relies on this instruction.
  void note(const Instruction& in);
  void fix(Fix what, u64 offset, s64 value, u32 extra = 0);
  /// It is not to be used again.
  void give_up() { on_ = false; }
  /// Adds the finished trace to the store. `use`: it takes the place of the template of that use, 0 = of none.
  void end(Trace& t, u32 use = 0);

 private:
  static constexpr u32 fixup_limit = 512, range_limit = 64, original_limit = 4096;
  bool on_ = false, by_jump_ = false;
  u8 generation_ = 0;
  u64 pc_ = 0;
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
/// The template at a place, which may be anything, or null.
const Template* template_at(channel::Use use);
/// The opposite, but for the distance.
channel::Use use_of(const Template& t);
/// Who looks for code that `t` fits finds `by`, which was added, instead; where `t` was kept, once it is kept too.
void replace_template(const Template& t, const Template& by);
/// What a program used in an earlier run, or earlier in this one.
struct Uses {
  const channel::Use* data = nullptr;
  u32 size = 0;
};
Uses find_sequence(u64 program);
/// For others to find; nothing happens where there is no room.
void add_sequence(u64 program, const channel::Use* uses, u32 n);
/// Each first of two is to be replaced by the second when what was added is kept.
void add_replacements(const channel::Use* pairs, u32 n);
/// Whether anything can be added.
bool store_is_written();

/// The process is about to do with fewer rights: from now on it, and what it executes, cannot write what others use.
/// The first takes cache_lock, the second wants it held.
void give_up_writing();
void give_up_writing_locked();

// --- sequence.cpp: which templates this program needs next ----------------------------------------------------------

/// `name`: of the program's file.
void sequence_init(const char* name);
/// The template that was used next in an earlier run, or null.
const Template* next_template();
/// Its program address, if the one before was for `pc`; 0 = not known.
u64 next_address(u64 pc);
/// It was used, or is not needed; or another one was used, and what comes next is what came after that one.
void pass_template();
void pass_to(const Template& t);
/// A trace for `pc` was made of this template, or the template of the trace. Returns the number of this use, or 0.
u32 note_use(const Template& t, u64 pc);
/// The template of a use, or null.
const Template* used_template(u32 use);
/// It is another one from now on, here and for others.
void replace_used(u32 use, const Template& by);
/// What this program used is complete. Takes cache_lock.
void keep_sequence();
/// The process goes on as a copy of another one: what it used is not the beginning of a program.
void drop_sequence();

}  // namespace tally::engine
