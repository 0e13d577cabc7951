/// Instruments traces for a simulated machine: probes of the tables of first levels and predictors, and calls of the
/// model. If nothing is simulated it is not used, and generated code contains none of it.
///
/// The model sees events in program order: an instruction's lines, then its accesses, then its branch. Probes need two
/// registers, a third one with pages, and another one for the address of the next access record if records are written
/// unconditionally. They are borrowed once for a range of instructions that use few registers; a fault or signal within
/// the range must restore them. What is the same at every exit of a trace is written once at the exit: how far
/// the outcomes of its branches reach.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/instrument/instruction_facts.hpp"
#include "tally/engine/models/branch/outcome.hpp"
#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/logged_code.hpp"

namespace tally::engine::instrument {

/// How much of the path for a log record has been executed.
struct PathProgress {
  u16 count, words, outcomes, branches;
  /// Adds a conditional branch.
  void pass(bool taken) {
    count++;
    branches++;
    outcomes = static_cast<u16>(outcomes << 1 | static_cast<u16>(taken));
  }
};

/// A code range of a trace in which some of the program's state is elsewhere.
struct ModelRange {
  u16 begin, end;       // offsets from the body
  u8 a, b, note, page;  // borrowed registers, or no_register
  u8 outcomes;          // words that next_outcome does not include yet
  bool flags;           // they are in memory
  PathProgress progress;
};

/// A ModelRange of a trace without an access log. The stack pointer's number means no register: it is never borrowed.
struct KeptModelRange {
  u16 begin, end;
  u8 a : 4, b : 4, note : 4, page : 4;
  u8 outcomes : 7, flags : 1;
};

/// Parts of models_have_room() and models_forget_code(), in element_accesses.cpp.
bool element_accesses_have_room();
void element_accesses_forget_code();

/// What the first word of a branch contains in addition to its address: `extra` of Fix::outcome.
enum class OutcomeKind : u8 { not_taken, taken, indirect, wrong_return };
constexpr models::Outcome word_of(OutcomeKind kind, u64 pc) {
  switch (kind) {
    case OutcomeKind::indirect: return models::indirect_outcome_of(pc);
    case OutcomeKind::wrong_return: return models::wrong_return_of(pc);
    default: return models::outcome_of(pc, kind == OutcomeKind::taken);
  }
}

class ModelCode {
 public:
  static constexpr u32 instruction_limit = 100, branch_limit = 8;
  /// Most operations of a trace: more than any has.
  static constexpr u32 ops_limit = 4096, range_limit = 512;
  /// Words of outcomes that a trace writes before it advances their address: KeptModelRange has 7 bits for them.
  static constexpr u32 most_outcomes = 100;

  /// Begins a trace, after its head.
  void begin_trace();
  /// Begins a segment. `live`: flags that are needed after it; `at_exits[i]`, unless null: flags that are needed where
  /// instruction `i` leaves the trace; `executions[i]`, unless null: how often it ran so far.
  void begin_segment(Builder& b, const Instruction* in, u32 n, u16 live, const u16* at_exits = nullptr,
                     const u64* executions = nullptr);
  /// Called before and after the copy of instruction `i`. `leaves`: it leaves the trace, not by a conditional branch.
  void before(Builder& b, u32 i, bool leaves);
  void after(Builder& b, u32 i);
  /// Borrows registers before everything else of a trace; a loop may return to the code after that.
  void open_first(Builder& b);
  /// Prepares a jump to the trace's own first instruction. Returns the offset at which it may enter with the current
  /// registers; 0 if it must leave.
  u32 loops(Builder& b);
  /// Restores what the program and other traces expect, before an exit. `live`: flags that are needed.
  void leave(Builder& b, u16 live) { leave(b, live, true); }
  /// Called in an indirect branch or return: rcx = the target; rcx and r11 are saved. Preserves rcx.
  void indirect(Builder& b, const Instruction& in);

  /// Called before the copy of instruction `i`, a conditional branch that leaves the trace if its outcome is `taken`.
  /// `live`: flags that are needed at the exit. Returns the number of the exit.
  u32 begin_side_exit(Builder& b, u32 i, bool taken, u16 live);
  /// Called after that branch, where the trace continues. `live`: flags that are needed here.
  void stay(Builder& b, const Instruction& in, bool taken, u16 live);
  /// The same, if `live` is known only with the next segment.
  void stay_later(const Instruction& in) { passed_ = true, passed_pc_ = in.pc; }
  /// Emits the beginning of that exit.
  void emit_side_exit(Builder& b, u32 n);

  /// Emits a conditional branch, instead of its copy; the trace continues if it is not taken. `live_there`: flags that
  /// are needed at its target.
  void conditional(Builder& b, u32 i, u32 segment, u16 live_there);
  /// Emits the remaining exits after the trace; stores the ranges of the trace.
  void emit_side_exits(Builder& b);
  void end_trace(Builder& b, u32 trace);

  /// Returns `reg`, or a scratch register if `reg` holds the address of the next access record.
  u8 spared(u8 reg) const { return open_ && reg == note_ ? a_ : reg; }
  u16 live_before(u32 i) const { return facts_[i].live; }

 private:
  void leave(Builder& b, u16 live, bool finishes);
  struct SideExit {
    u8* from;  // address of the displacement that leads there; null: the caller sets it
    u64 pc, target;
    bool is_taken;
    u16 live;
    u8 a, b, note, page, outcomes;
    bool away;
    PathProgress progress;
  };
  void probe_data(Builder& b, u32 i, u32 k);
  /// A line of code: the table entries for its set and for the set of its page, and the numbers of both.
  struct FetchedLine {
    u64 address;
    u32 entry, number, page_entry, page_number;
    u64 page() const { return address >> model_plan.page_bits << model_plan.page_bits; }
  };
  void probe_line(Builder& b, u32 i, u64 address);
  void probe_stable_data(Builder& b, const DataAccess& access, u64 pc, u32 site);
  void probe_stable_line(Builder& b, const FetchedLine& line, u64 pc);
  void find_set(Emitter& e);
  void find_page_set(Emitter& e, u8 reg);
  void note_other_line(Builder& b, Emitter& stub, const DataAccess& access, u64 back);
  void note_access(Builder& b, Emitter& stub, const DataAccess& access, u64 back);
  void add_note(Builder& b, Emitter& stub, u64 back);
  /// Whether instruction `i` writes access records unconditionally.
  bool notes_at(u32 i) const;
  /// Whether an instruction from `i` on does, before the next unknown one.
  bool notes_from(u32 i) const;
  bool is_wanted_from(u32 i) const;
  /// Returns the register that is unused for longest from instruction `i` on, except `not_these`; no_register if `i`
  /// itself uses all others.
  u8 free_longest(u32 i, u32 not_these) const;
  /// The registers without a value between two probes, and where the program's values of them are saved.
  struct Role {
    u8* reg;
    u32 place;
  };
  struct Roles {
    Role role[3];
    const Role* begin() const { return role; }
    const Role* end() const { return role + 3; }
  };
  Roles scratch_roles() { return {{{&a_, o_model_a}, {&b_, o_model_b}, {&page_, o_model_spill_page}}}; }
  void borrow_note(Builder& b, u8 reg);
  void release_note(Builder& b);
  void keep_open(Builder& b, u32 i);
  bool exchange(Builder& b, u32 i);
  static void move_scratch(Builder& b, u8& role, u32 place, u8 to);
  void move_note(Builder& b, u8 to);
  bool borrow_as_first(Builder& b);
  void note_outcome(Builder& b, u64 pc, bool taken, u16 live);
  void begin_outcome(Builder& b, u16 live);
  void pop_return(Builder& b, u64 pc);
  void push_return(Builder& b, const Instruction& in);
  void resolved_target(Builder& b, const Instruction& in, u16 live);
  /// Returns a bit for each borrowed register.
  u32 borrowed() const {
    const auto bit = [](u8 reg) { return reg == no_register ? 0 : 1u << reg; };
    return bit(a_) | bit(b_) | bit(note_) | bit(page_);
  }
  void note_line(Emitter& e, u64 kind, bool looks);
  void note_page(Emitter& e);
  u8* jump_across(Emitter& e, u32 bytes, int condition);
  void make_room(Builder& b);
  void ask_lookup(Emitter& e, u64 entry, u32 word);
  void store_site(Emitter& e) const;
  void store_note(Emitter& e, u8 to) const;
  void record(Builder& b, u32 i);
  void record_repeat(Builder& b, u32 i);
  void ask_element_accesses(Builder& b, u32 i);
  void record_flow(Builder& b, const Instruction& in);
  void record_outcome(const Instruction& in, bool taken);
  void put(Emitter& e, u8 reg);
  void make_room_in_access_log(Builder& b, u16 live);
  void finish_record(Builder& b);
  void finish_by_target(Builder& b, const Instruction& in);
  void open(Builder& b, u32 i);
  void close(Builder& b);
  void write_outcomes(Builder& b, u16 live);
  void spill_flags(Builder& b, u16 live);
  void reload_flags(Builder& b, u16 live);
  void mark(const Builder& b);
  bool wants_window(u32 i) const;
  u64 site_of(u64 pc);
  void add_op(models::Op op);

  const Instruction* in_ = nullptr;
  u64 site_ = 0;                        // of the current instruction: channel::code_site()
  translate::LoggedMapping mapping_{};  // of the instruction whose site was requested last
  u32 n_ = 0;
  ModelFacts facts_[instruction_limit];
  u64 last_line_ = 0;
  bool open_ = false;
  bool away_ = false;  // the flags are in memory: from the first probe that changes them to their next use
  u8 a_ = 0, b_ = 0, note_ = 0, page_ = 0;
  PathProgress progress_ = {};
  u32 first_op_ = 0;
  u64 last_fetched_ = 0;
  bool records_ = false;         // this trace writes the access log
  bool has_access_log_ = false;  // this trace has checked for room for its log record
  bool has_room_ = false;        // this trace has checked for room for its access records
  u8 outcomes_ = 0;
  ModelRange ranges_[range_limit];
  u32 range_count_ = 0;
  bool in_range_ = false;
  u8 first_a_ = 0, first_b_ = 0, first_note_ = 0, first_page_ = 0;
  u32 loop_entry_ = 0;
  SideExit side_exits_[branch_limit + 1];
  u32 side_exit_count_ = 0;
  // The conditional branch before this segment; it was not taken.
  bool passed_ = false;
  u64 passed_pc_ = 0;
};
extern ModelCode model_code;

/// Restores the program's state at `s`, where the thread leaves the trace: the registers, in `c`, the
/// outcomes of branches, and the rest of the log record. `repeats`: within a string instruction.
void restore_model_state(Thread* t, Context* c, const CacheLocation& s, bool repeats);

/// Copies the ranges of a trace to `out` in the form of a template; returns their number. `out` has room for
/// ModelCode::range_limit.
u32 models_ranges_of(const Trace& trace, KeptModelRange* out);
/// Sets the ranges of a trace that was made from a template.
void models_take_ranges(u32 trace, const KeptModelRange* kept, u32 n);

}  // namespace tally::engine::instrument
