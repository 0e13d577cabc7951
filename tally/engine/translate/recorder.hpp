/// Relocations: what a template of a trace needs, noted down while the trace is made.
///
/// Everything here wants cache_lock held.
#pragma once
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::persist {
struct Template;
}

namespace tally::engine::translate {

using persist::Template;

struct Builder;

/// What depends on where a trace stands.
enum class Fix : u8 {
  counter,      // dword: displacement of the counter of segment `value`
  relative,     // dword: program address pc + value, from `extra` bytes after the dword
  exit,         // dword: a direct exit to program address pc + value
  exit_by,      // dword: a direct exit to where the pointer at program address pc + value leads, which must hold
  pushed,       // dword: displacement of a literal, the program address pc + value
  system_call,  // dword: displacement of the arena's door for system calls
  address,      // qword: program address pc + value
  low_address,  // dword: the low half of it

  // Of code that counts windows down, and that asks the models of a machine; `stubs` is what stands beside the way:
  touched,      // dword: displacement of what says that the counter of segment `value` was counted up
  to_window,    // dword: displacement of the arena's door for windows
  call_target,  // nothing: where the next call_site leads, program address pc + value; extra: or the pointer there
  call_site,    // dword: what is asked at the call at program address pc + value; extra: its target is known
  negated,      // qword: program address pc + value, negated
  negated_by,   // qword: where the pointer at that address leads, which must hold, negated
  line,         // dword: the number of the line or page of code at program address pc + value
  page_entry,   // dword: displacement of what is known of the set of that page
  outcome,      // dword: what is told of the branch at program address pc + value; extra: whether it was taken
  site,         // dword: displacement of the counter of site `extra` of the instruction at program address pc + value
  unstable,     // nothing: that site is taken to be unstable
  to_body,      // dword: `value` bytes after the beginning of the body
  to_stubs,     // dword: `value` bytes after that of the stubs
  to_lookup,    // dword: displacement of the arena's door for looks
  to_model,     // dword: displacement of the one for all else
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

/// All of it, of one trace.
struct Recording {
  static constexpr u32 fixup_limit = 2048, range_limit = 64, original_limit = 4096, max_bytes = 0xffff;

  bool by_jump = false;  ///< an indirect jump came first
  u8 generation = 0;     ///< how often it was made again from what a process had counted
  u64 pc = 0, body = 0, stubs = 0;
  u32 fixups = 0, ranges = 0, originals = 0;
  Fixup fixup[fixup_limit];
  CodeRange range[range_limit];
  u8 original[original_limit];  // the program code of all ranges
};

class Recorder {
 public:
  /// After begin_trace().
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
  /// The trace is finished. `use`: its template takes the place of the template of that use, 0 = of none.
  void end(const Builder& b, u32 use = 0);

 private:
  void add(const Fixup& fixup);
  bool is_in_body(u64 address) const { return address - r_.body < Recording::max_bytes; }

  bool on_ = false;
  u64 to_lookup_ = 0, to_model_ = 0, to_window_ = 0;
  Recording r_;
};
extern Recorder recorder;

/// Where templates are kept, as translation knows it. The empty form keeps nothing.
class PersistentCache {
 public:
  /// All traces that an earlier run of the program made of the code around `pc` are made at once. False: none.
  virtual bool load(u64 /*pc*/) { return false; }
  /// A template for the code at `pc`, or null; and a trace from it: null where it cannot be used there, dead where
  /// there is no room. `older`: as for make_trace().
  virtual const Template* find(u64 /*pc*/) { return nullptr; }
  virtual Trace* reuse(const Template&, u64 /*pc*/, u64 /*older*/, Arena&) { return nullptr; }

  /// Whether templates of traces that were made so often again are kept; and one of them.
  virtual bool records(u8 /*generation*/) const { return false; }
  virtual void add(const Recording&, const Builder&, u32 /*use*/) {}
  /// What is known of the template of a use; false where it is gone.
  struct Used {
    u8 generation;
    bool by_jump;
  };
  virtual bool used(u32 /*use*/, Used&) const { return false; }

  /// Whether anything can be added; whether it is of use to anybody: not what fits this run only.
  virtual bool is_written() const { return false; }
  virtual bool keeps_any() const { return false; }
  /// The process is about to do with fewer rights: it writes nothing any more that others use.
  virtual void give_up_writing() {}

  /// All code was thrown away; what was known of code in this range does not hold any more. The second needs no lock
  /// but that of exec_regions.cpp.
  virtual void discarded() {}
  virtual void unmapped(u64 /*start*/, u64 /*end*/) {}

 protected:
  ~PersistentCache() = default;
};
/// Never null.
extern PersistentCache* persistent_cache;

}  // namespace tally::engine::translate
