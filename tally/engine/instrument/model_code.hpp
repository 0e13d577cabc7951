/// What is woven into a trace where a machine is simulated: looks at the tables of first levels and predictors, and the
/// ways into the model from there. Not used, and nothing of it in generated code, where nothing is simulated.
///
/// The order of what the model sees is that of the program: an instruction's lines, then its accesses, then where it
/// goes. Looks need two registers, one more with pages, and one more, which knows where the next note goes, where
/// something is noted whatever is found: over a stretch of instructions that leave so many alone these are borrowed
/// once, which a fault or signal within it has to know. What is the same wherever a trace is left is written once where
/// it is left: the history of its branches.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/instrument/facts.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/reading.hpp"

namespace tally::engine::instrument {

/// How much of a way has been gone that a record of the tape is for.
struct Evicted {
  u16 count, words, outcomes, branches;
  /// A conditional branch.
  void pass(bool taken) {
    count++;
    branches++;
    outcomes = static_cast<u16>(outcomes << 1 | static_cast<u16>(taken));
  }
};

/// A stretch of a trace in which the program's state is not all in place.
struct ModelRange {
  u16 begin, end;       // offsets from the body
  u8 a, b, note, page;  // registers that are borrowed, or no_register
  u8 outcomes;          // of branches that the history lacks, or the words that are told of them
  u8 taken;             // which of them were taken, the last one in bit 0
  bool flags;           // they are away
  Evicted gone;
};

/// A ModelRange of a trace without a tape. No register is the stack pointer's number, which is never borrowed.
struct KeptModelRange {
  u16 begin, end;
  u8 a : 4, b : 4, note : 4, page : 4;
  u8 outcomes : 7, flags : 1;
  u8 taken;
};

/// Of models_have_room() and models_forget_code(): the part of element_accesses.cpp.
bool element_accesses_have_room();
void element_accesses_forget_code();

class ModelCode {
 public:
  static constexpr u32 instruction_limit = 100, branch_limit = 8;
  /// Steps of a trace: more than any has.
  static constexpr u32 ops_limit = 4096, range_limit = 512;

  /// After the trace's head.
  void begin_trace();
  /// The instructions that follow. `live`: flags that are needed after them; `at_exits[i]`, unless null: where
  /// instruction `i` leads to when it leaves the trace; `executions[i]`, unless null: how often it ran until now.
  void begin_segment(Builder& b, const Instruction* in, u32 n, u16 live, const u16* at_exits = nullptr,
                     const u64* executions = nullptr);
  /// Before and after the copy of instruction `i`. `leaves`: it leads away and is no conditional branch.
  void before(Builder& b, u32 i, bool leaves);
  void after(Builder& b, u32 i);
  /// Before anything else of a trace: registers are borrowed, and a loop may come back after that.
  void open_first(Builder& b);
  /// Before what leads to the trace's own first instruction: the offset where it may come in with registers as they
  /// are; 0 where it has to leave.
  u32 loops(Builder& b);
  /// Before what leaves: all is as the program and other traces have it. `live`: flags that are needed.
  void leave(Builder& b, u16 live) { leave(b, live, true); }
  /// In an indirect branch or return: rcx = the target; rcx and r11 are saved. Leaves rcx as it was.
  void indirect(Builder& b, const Instruction& in);

  /// Before the copy of instruction `i`, a conditional branch that leaves the trace where it is `taken`, or not;
  /// `live`: flags that are needed there. Returns the number of the way out.
  u32 begin_way(Builder& b, u32 i, bool taken, u16 live);
  /// After it: the trace goes on. `live`: flags that are needed here.
  void stay(Builder& b, const Instruction& in, bool taken, u16 live);
  /// The same where that is known with the next segment.
  void stay_later(const Instruction& in) { passed_ = true, passed_pc_ = in.pc; }
  /// What stands at the beginning of that way out.
  void emit_way(Builder& b, u32 way);

  /// A conditional branch, in place of its copy: the trace goes on where it is not taken. `live`: flags that are needed
  /// where it leads to.
  void conditional(Builder& b, u32 i, u32 segment, u16 live_there);
  /// What stands after the trace: the ways out of it that are still to come, and what is to be known of it.
  void emit_ways(Builder& b);
  void end_trace(Builder& b, u32 trace);

  /// This register, or in its place one that is borrowed and holds nothing now.
  u8 spared(u8 reg) const { return open_ && reg == note_ ? a_ : reg; }
  u16 live_before(u32 i) const { return facts_[i].live; }

 private:
  void leave(Builder& b, u16 live, bool finishes);
  struct Way {
    u8* from;  // of a displacement; null: it is led there by others
    u64 pc, target;
    bool is_taken;
    u16 live;
    u8 a, b, note, page, outcomes, taken;
    bool away;
    Evicted gone;
  };
  void probe_data(Builder& b, u32 i, u32 k);
  /// A line of code: where the tables have those of its sets that were fetched last, and its numbers there.
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
  /// Whether instruction `i` notes something down wherever it finds it.
  bool notes_at(u32 i) const;
  /// Whether an instruction from `i` on does, before one that is not known.
  bool notes_from(u32 i) const;
  bool is_wanted_from(u32 i) const;
  /// The register that instructions from `i` on leave alone for longest, of those but `not_these`; no_register where
  /// `i` itself names all.
  u8 free_longest(u32 i, u32 not_these) const;
  /// The registers that hold nothing between two looks, and where what the program had there is kept.
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
  void give_note_back(Builder& b);
  void keep_open(Builder& b, u32 i);
  bool exchange(Builder& b, u32 i);
  static void move_scratch(Builder& b, u8& role, u32 place, u8 to);
  void move_note(Builder& b, u8 to);
  bool borrow_as_first(Builder& b);
  void predict(Builder& b, u64 pc, bool taken, u16 live);
  void emit_outcome(Builder& b, u64 pc, bool taken, u16 live);
  void push_return(Builder& b, const Instruction& in);
  void resolved_target(Builder& b, const Instruction& in, u16 live);
  /// The registers that are borrowed, a bit for each.
  u32 borrowed() const {
    const auto bit = [](u8 reg) { return reg == no_register ? 0 : 1u << reg; };
    return bit(a_) | bit(b_) | bit(note_) | bit(page_);
  }
  void note_line(Emitter& e, u64 kind, bool looks);
  void note_page(Emitter& e);
  u8* jump_across(Emitter& e, u32 bytes, int condition);
  void make_room(Builder& b);
  void ask_lookup(Emitter& e, u64 whom, u32 word);
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
  void write_history(Builder& b, u16 live);
  void spill_flags(Builder& b, u16 live);
  void reload_flags(Builder& b, u16 live);
  void mark(const Builder& b);
  void note_outcome(bool taken);
  bool wants_window(u32 i) const;
  u64 site_of(u64 pc);
  void add_op(models::Op op);

  const Instruction* in_ = nullptr;
  u64 site_ = 0;                        // of the instruction whose code is being made: channel::code_site()
  translate::LoggedMapping mapping_{};  // of the instruction whose site was asked for last
  u32 n_ = 0;
  ModelFacts facts_[instruction_limit];
  u64 last_line_ = 0;
  bool open_ = false;
  bool away_ = false;  // the flags are kept in memory: from the first look that needs it to who needs them
  u8 a_ = 0, b_ = 0, note_ = 0, page_ = 0;
  Evicted gone_ = {};
  u32 first_op_ = 0;
  u64 last_fetched_ = 0;
  bool records_ = false;         // what this trace does goes onto the tape
  bool has_access_log_ = false;  // this trace has looked whether there is room for its record
  bool has_room_ = false;        // this trace has looked whether there is room for its notes
  u8 outcomes_ = 0, taken_ = 0;
  ModelRange ranges_[range_limit];
  u32 range_count_ = 0;
  bool in_range_ = false;
  u8 first_a_ = 0, first_b_ = 0, first_note_ = 0, first_page_ = 0;
  u32 loop_entry_ = 0;
  Way ways_[branch_limit + 1];
  u32 way_count_ = 0;
  // The conditional branch before this segment, which was not taken.
  bool passed_ = false;
  u64 passed_pc_ = 0;
};
extern ModelCode model_code;

/// The program's state at this spot comes back: the registers, in `c`, the history or outcomes of branches, and what
/// the record lacks. The thread leaves the trace here. `repeats`: within a string instruction.
void restore_model_state(Thread* t, Context* c, const CacheLocation& s, bool repeats);

/// What is known of the stretches of a trace, in the form that a template has of it; returns how many there are. `out`
/// has room for ModelCode::range_limit.
u32 models_ranges_of(const Trace& trace, KeptModelRange* out);
/// The trace, which is a template's, has these.
void models_take_ranges(u32 trace, const KeptModelRange* kept, u32 n);

}  // namespace tally::engine::instrument
