/// Relocations: recorded while a trace is generated, for its template.
///
/// The caller must hold cache_lock for everything here.
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::persist {
struct Template;
}

namespace tally::engine::translate {

using persist::Template;

struct Builder;

/// The kinds of values that depend on the address of a trace.
enum class Fix : u8 {
  counter,   // dword: displacement of the counter of segment `value`
  relative,  // dword: program address pc + value, from `extra` bytes after the dword
  exit,      // dword: a direct exit to program address pc + value
  exit_by,   // dword: a direct exit to the target of the pointer at program address pc + value, which must not change
  pushed,    // dword: displacement of a literal, the program address pc + value
  gate,      // dword: displacement of the arena's jump into the engine; extra: a Gate
  address,   // qword: program address pc + value
  low_address,  // dword: the low half of that

  // For code that counts down windows or calls machine models; `stubs` is the code outside the trace:
  touched,      // dword: displacement of the flag that marks the counter of segment `value` as changed
  to_window,    // dword: displacement of the arena's jump into the engine for windows
  call_target,  // nothing: the target of the next call_site, program address pc + value; extra: or the pointer there
  call_site,    // dword: identifies the call or jump at program address pc + value; extra: its target is known
  negated,      // qword: program address pc + value, negated
  line,         // dword: the number of the line or page of code at program address pc + value
  page_entry,   // dword: displacement of the model state of the set of that page
  outcome,      // dword: identifies the branch at program address pc + value; extra: its OutcomeKind
  target_by,    // dword: low half of the target of the pointer at program address pc + value, which must not change
  code_site,    // dword: the high half of channel::code_site() of program address pc + value
  site,         // dword: displacement of the counter of site `extra` of the instruction at program address pc + value
  unstable,     // nothing: that site is assumed to be unstable
  to_body,      // dword: `value` bytes after the start of the body
  to_stubs,     // dword: `value` bytes after the start of the stubs
  to_lookup,    // dword: displacement of the arena's jump for lookups in models
  to_model,     // dword: displacement of the arena's jump for all other calls of models
  to_call,  // dword: displacement of the arena's code for the kind of the last call_site; extra: for returns or jumps
};

/// Why generated code enters the engine, other than for a jump. An arena has their jumps in this order: see Arena.
enum class Gate : u8 {
  system_call,
  source,    // the first read of a source, or each read that the engine answers
  emulated,  // an instruction that the engine executes
};

/// Addresses below this may have short forms, so a template contains them for its own address. Generated code never
/// uses a displacement to the low 4 GB.
inline constexpr u64 low_limit = 0x180000000;

struct Fixup {
  s32 value;
  u16 offset;  // from the body, or from the stubs
  Fix what;
  u8 extra : 7, in_stubs : 1;
};

/// A range of program code that a template was made from.
struct CodeRange {
  s32 from;  // relative to the trace's pc
  u32 bytes;

  /// Its address, for a trace at `pc`.
  u64 at(u64 pc) const { return pc + static_cast<u64>(static_cast<s64>(from)); }
};

/// The relocations and program code of one trace.
struct Recording {
  static constexpr u32 fixup_limit = 2048, range_limit = 64, original_limit = 4096, max_bytes = 0xffff;

  bool by_jump = false;  ///< an indirect jump reached it first
  u8 generation = 0;     ///< how often it was reoptimized
  u64 pc = 0, body = 0, stubs = 0;
  u32 fixups = 0, ranges = 0, originals = 0;
  Fixup fixup[fixup_limit];
  CodeRange range[range_limit];
  u8 original[original_limit];  // the program code of all ranges
};

/// Whether the template of a trace is stored. later: by a later process of the program; in_bundle: only until the
/// process makes a bundle of it.
enum class Keep : u8 { never, later, in_bundle, now };

class Recorder {
 public:
  /// Starts recording, after begin_trace().
  void begin(const Builder& b, bool by_jump, u8 generation = 0);
  /// The trace relies on this instruction.
  void note(const Instruction& in);
  void fix(Fix what, u64 offset, s64 value, u32 extra = 0);
  /// The same for a cache address in the body or the stubs, and a program address.
  void fix_at(Fix what, const u8* at, u64 address, u32 extra = 0);
  /// The dword at cache address `at` is a displacement to `to`, in the trace or a jump of its arena into the engine.
  void refer(const u8* at, u64 to);
  /// Stops recording: the trace gets no template.
  void give_up() { keep_ = Keep::never; }
  /// Ends recording. The new template replaces the one of that use, 0 = none.
  void end(const Builder& b, u32 use = 0);

 private:
  void add(const Fixup& fixup);
  bool records() const { return keep_ >= Keep::in_bundle; }
  bool is_in_body(u64 address) const { return address - r_.body < Recording::max_bytes; }

  Keep keep_ = Keep::never;
  u64 to_lookup_ = 0, to_model_ = 0, to_window_ = 0;
  Recording r_;
};
extern Recorder recorder;

/// The interface for stored templates. The base class stores nothing.
class PersistentCache {
 public:
  /// Creates all traces that an earlier run of the program made of the code around `pc`. Returns false if none exist.
  virtual bool load(u64 /*pc*/) { return false; }
  /// find() returns a template for the code at `pc`, or null. reuse() creates a trace from it; it returns null if the
  /// template cannot be used there, and a dead trace if there is no room. `by_jump` as for make_trace().
  virtual const Template* find(u64 /*pc*/) { return nullptr; }
  virtual Trace* reuse(const Template&, u64 /*pc*/, bool /*by_jump*/, Arena&) { return nullptr; }

  /// Whether it stores templates of traces at `pc` that were reoptimized this often; stores one.
  virtual Keep keeps(u64 /*pc*/, u8 /*generation*/) const { return Keep::never; }
  virtual void add(const Recording&, const Builder&, u32 /*use*/, Keep) {}
  /// The use of a trace whose template a later process stores.
  static constexpr u32 later_use = ~u32{0};
  /// What is known about the template of a use. used() returns false if it no longer exists.
  struct Used {
    u8 generation;
    bool by_jump;
  };
  virtual bool used(u32 /*use*/, Used&) const { return false; }

  /// Whether anything can be added; and whether additions are useful to others, not only to this run.
  virtual bool is_written() const { return false; }
  virtual bool keeps_any() const { return false; }
  /// Other data of this program, by a key: find_data() returns what any run kept; null if there is nothing. Program
  /// code may change what this run adds while it is used. begin_data() returns zeroed memory for `bytes` bytes, a
  /// multiple of 16, or null; end_data() keeps it instead of what the key has.
  virtual const u8* find_data(u64 /*key*/, u64& /*bytes*/) { return nullptr; }
  virtual u8* begin_data(u64 /*key*/, u64 /*bytes*/) { return nullptr; }
  virtual void end_data(u8*) {}
  /// How often kept data could not be read. It reads as zeros then.
  virtual u32 damage() const { return 0; }
  /// The process is about to drop privileges: from now on it writes nothing that others use.
  virtual void give_up_writing() {}

  /// All code was discarded; code in this range has changed. unmapped() needs no lock except that of exec_regions.cpp.
  virtual void discarded() {}
  virtual void unmapped(u64 /*start*/, u64 /*end*/) {}

 protected:
  ~PersistentCache() = default;
};
/// Never null.
extern PersistentCache* persistent_cache;

}  // namespace tally::engine::translate
