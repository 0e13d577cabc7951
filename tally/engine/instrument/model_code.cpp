#include "tally/engine/instrument/model_code.hpp"

#include <initializer_list>

#include "tally/engine/context.hpp"
#include "tally/engine/instrument/chases.hpp"
#include "tally/engine/instrument/located_probes.hpp"
#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/instrument/model_ranges.hpp"
#include "tally/engine/instrument/sites.hpp"
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::instrument {

LARGE ModelCode model_code;

namespace {

constexpr Ask chase_of(Ask what) { return static_cast<Ask>(static_cast<u32>(what) | static_cast<u32>(Ask::chase)); }
static_assert(chase_of(Ask::store) == Ask::chase_store && chase_of(Ask::modify) == Ask::chase_modify);

/// Whether it may write an outcome when its target is known: for the predictors, or a return that was predicted
/// wrongly.
bool leads_by_target(const Instruction& in) {
  return in.kind == Kind::jump_indirect || in.kind == Kind::call_indirect ||
         (in.kind == Kind::ret && model_plan.notes_returns);
}

}  // namespace

// --- ranges ---------------------------------------------------------------------------------------------------------

void ModelCode::begin_trace() {
  ranges_init();
  last_line_ = 0;
  range_count_ = side_exit_count_ = 0;
  outcomes_ = 0;
  loop_entry_ = 0;
  open_ = away_ = passed_ = in_range_ = has_room_ = has_access_log_ = false;
  records_ = model_plan.each && !log_paths.full(4 * branch_limit) && !log_ops.full(ops_limit);
  if (model_plan.each && !records_) mark_partial(current(), channel::partial_code_lines);
  first_op_ = log_ops.size;
  last_fetched_ = 0;
  mapping_ = {};
  progress_ = {0, 1, 0, 0};
}

/// Returns the instruction with its mapping, if counts are recorded by instruction: channel::code_site().
u64 ModelCode::site_of(u64 pc) {
  if (!places_misses()) return pc;
  if (!mapping_.has(pc)) mapping_ = translate::logged_around(pc);
  return channel::code_site(pc, mapping_.number);
}

void ModelCode::begin_segment(Builder& b, const Instruction* in, u32 n, u16 live, const u16* at_exits,
                              const u64* executions) {
  const auto line_of = [](const Instruction& i) { return (i.next() - 1) / model_plan.line_bytes; };
  in_ = in;
  n_ = n;
  for (u32 i = n; i-- > 0;) {
    facts_[i] = facts_of(in[i]);
    if (model_plan.chases && facts_[i].accesses != 0) {
      const Reuse reuse = reuse_of(in[i]);
      for (u32 k = 0; k < facts_[i].accesses; k++) {
        Ask& what = facts_[i].access[k].what;
        if (reuse == Reuse::chase) what = chase_of(what);
        if (reuse == Reuse::busy && what == Ask::load) what = Ask::busy_load;
        if (reuse == Reuse::updated && what == Ask::load) what = Ask::updated_load;
        if (reuse == Reuse::deciding && what == Ask::load) what = Ask::deciding_load;
      }
    }
    const bool new_line = i == 0 || in[i - 1].next() != in[i].pc || line_of(in[i - 1]) != line_of(in[i]);
    facts_[i].unstable = unstable_sites(in[i], facts_[i].accesses, new_line, executions == nullptr ? 0 : executions[i]);
    if (at_exits != nullptr) live |= at_exits[i];
    live = static_cast<u16>((live & ~flags_written(in[i])) | flags_read(in[i]));
    facts_[i].live = live;
  }
  if (!passed_) return;
  passed_ = false;
  // The branch before this segment was not taken: its probe comes first.
  note_outcome(b, passed_pc_, false, n == 0 ? live : facts_[0].live);
  mark(b);
}

bool ModelCode::wants_window(u32 i) const {
  const ModelFacts& f = facts_[i];
  if (!f.known) return false;
  const Instruction& in = in_[i];
  if (records_ || f.accesses != 0 || f.repeat.bytes != 0 || f.scattered.pattern != Pattern::none) return true;
  if (model_plan.branches && (in.kind == Kind::call || leads_by_target(in))) return true;
  const u64 line = model_plan.line_bytes;
  return model_plan.code() &&
         (in.pc / line != last_line_ / line || (in.next() - 1) / line != last_line_ / line || last_line_ == 0);
}

bool ModelCode::is_wanted_from(u32 i) const {
  for (u32 k = i; k < n_ && facts_[k].known; k++)
    if (wants_window(k) || (model_plan.branches && is_branch(in_[k].kind))) return true;
  return false;
}

bool ModelCode::notes_at(u32 i) const {
  const ModelFacts& f = facts_[i];
  return f.known && f.unstable != 0 && (model_plan.data() || model_plan.code());
}

void ModelCode::mark(const Builder& b) {
  if (in_range_) {
    ranges_[range_count_].end = b.offset();
    if (range_count_ + 1 < sizeof ranges_ / sizeof *ranges_) range_count_++;
  }
  in_range_ = open_ || away_ || outcomes_ != 0 || progress_.count != 0;
  if (!in_range_) return;
  const auto borrowed = [this](u8 reg) { return open_ ? reg : u8{no_register}; };
  ranges_[range_count_] = {b.offset(),      0xffff,    borrowed(a_), borrowed(b_), borrowed(note_),
                           borrowed(page_), outcomes_, away_,        progress_};
}

u8 ModelCode::free_longest(u32 i, u32 not_these) const {
  u32 free = ~(not_these | 1u << rsp | 1u << rax) & 0xffff;
  if (i < n_) free &= ~u32{facts_[i].registers};
  for (u32 k = i + 1; k < n_ && facts_[k].known && (free & ~u32{facts_[k].registers}) != 0; k++)
    free &= ~u32{facts_[k].registers};
  static const u8 order[] = {r11, r10, r9, r8, rdi, rsi, rcx, rdx, rbx, r13, r14, r15, rbp, r12};
  for (const u8 reg : order)
    if (free >> reg & 1) return reg;
  return no_register;
}

bool ModelCode::notes_from(u32 i) const {
  for (u32 k = i; k < n_ && facts_[k].known; k++)
    if (notes_at(k)) return true;
  return false;
}

void ModelCode::borrow_note(Builder& b, u8 reg) {
  note_ = reg;
  b.e.store(note_, o_model_spill_note);
  b.e.load(note_, o_model_note);
}

void ModelCode::release_note(Builder& b) {
  b.e.store(note_, o_model_note);
  b.e.load(note_, o_model_spill_note);
  note_ = no_register;
}

void ModelCode::open(Builder& b, u32 i) {
  a_ = b_ = note_ = page_ = no_register;
  // First choose the register that holds a value for long.
  if (notes_from(i)) borrow_note(b, free_longest(i, 0));
  for (const auto& [role, place] : scratch_roles()) {
    if (place == o_model_spill_page && !model_plan.pages) continue;
    *role = free_longest(i, borrowed());
    b.e.store(*role, place);
  }
  open_ = true;
  mark(b);
}

/// Exchanges borrowed registers that instruction `i` uses for others. False if there are none.
bool ModelCode::exchange(Builder& b, u32 i) {
  const u32 named = facts_[i].registers;
  const auto is_named = [named](u8 reg) { return reg != no_register && (named >> reg & 1) != 0; };
  for (const auto& [role, place] : scratch_roles()) {
    if (!is_named(*role)) continue;
    const u8 other = free_longest(i, borrowed());
    if (other == no_register) return false;
    move_scratch(b, *role, place, other);
  }
  if (!is_named(note_)) return true;
  if (!notes_from(i)) {
    release_note(b);
    return true;
  }
  const u8 other = free_longest(i, borrowed());
  if (other != no_register) move_note(b, other);
  return other != no_register;
}

void ModelCode::move_scratch(Builder& b, u8& role, u32 place, u8 to) {
  b.e.load(role, place);
  b.e.store(to, place);
  role = to;
}

void ModelCode::move_note(Builder& b, u8 to) {
  wide_move(b.e, b_, note_);
  b.e.load(note_, o_model_spill_note);
  b.e.store(to, o_model_spill_note);
  wide_move(b.e, to, b_);
  note_ = to;
}

void ModelCode::close(Builder& b) {
  if (!open_) return;
  b.e.load(a_, o_model_a);
  b.e.load(b_, o_model_b);
  if (note_ != no_register) release_note(b);
  if (page_ != no_register) b.e.load(page_, o_model_spill_page);
  open_ = false;
  mark(b);
}

/// Before instruction `i`: ensures that the borrowed registers suffice and are none of its own, or returns them all.
void ModelCode::keep_open(Builder& b, u32 i) {
  const ModelFacts& f = facts_[i];
  if (!open_) return;
  const bool collides = (f.registers & borrowed()) != 0, lacks = note_ == no_register && notes_at(i);
  if (f.known && !collides && !lacks) return;
  if (!f.known || (collides && (!is_wanted_from(i) || !exchange(b, i)))) return close(b);
  if (note_ == no_register && notes_at(i)) {
    const u8 reg = free_longest(i, borrowed());
    if (reg == no_register) return close(b);
    borrow_note(b, reg);
  }
  mark(b);
}

void ModelCode::before(Builder& b, u32 i, bool leaves) {
  const Instruction& in = in_[i];
  const ModelFacts& f = facts_[i];
  keep_open(b, i);
  if (!open_ && wants_window(i)) open(b, i);
  if (open_) {
    Emitter& e = b.e;
    if (model_plan.code()) {
      const u64 line = model_plan.line_bytes;
      for (u64 at = in.pc & ~(line - 1); at < in.next(); at += line) {
        if (last_line_ == at) continue;
        probe_line(b, i, at);
        last_line_ = at;
      }
    }
    if (records_) record(b, i);
    for (u32 k = 0; k < f.accesses; k++) probe_data(b, i, k);
    if (f.scattered.pattern != Pattern::none) ask_element_accesses(b, i);
    if (f.repeat.bytes != 0 && model_plan.data()) {
      e.store(rcx, o_model_repeat);
      e.store(rsi, o_model_repeat + 8);
      e.store(rdi, o_model_repeat_rdi);
      store_constant(e, o_model_repeat_word, word_of(f.repeat));
      site_ = site_of(in_[i].pc);
      if (model_plan.notes_sites) store_site(e);
    }
    if (in.kind == Kind::call || (in.kind == Kind::call_indirect && in.resolved)) push_return(b, in);
    if (in.resolved)
      resolved_target(b, in, f.live);
    else if (model_plan.branches && leads_by_target(in))
      begin_outcome(b, f.live);
    if (records_ && model_plan.each_branch) record_flow(b, in);
  }
  if (f.live == 0 || !f.known || f.touches_flags || flags_read(in) != 0) reload_flags(b, f.live);
  const bool by_target =
      !in.resolved && (in.kind == Kind::ret || in.kind == Kind::jump_indirect || in.kind == Kind::call_indirect);
  if (leaves) leave(b, f.live, !by_target);
}

void ModelCode::after(Builder& b, u32 i) {
  if (!open_ || facts_[i].repeat.bytes == 0) return;
  if (model_plan.data()) ask_lookup(b.e, b.arena.to_model, word_of(facts_[i].repeat));
  if (records_) record_repeat(b, i);
}

/// Saves the flags before something changes them.
void ModelCode::spill_flags(Builder& b, u16 live) {
  if (away_ == (live != 0)) return;
  away_ = !away_;
  if (away_) save_flags(b.e, open_ ? b_ : u8{no_register});
  mark(b);
}

void ModelCode::reload_flags(Builder& b, u16 live) {
  if (!away_) return;
  if (live != 0) restore_flags(b.e, open_ ? b_ : u8{no_register});
  away_ = false;
  mark(b);
}

void ModelCode::open_first(Builder& b) {
  if (!wants_window(0)) return;
  open(b, 0);
  first_a_ = a_, first_b_ = b_, first_note_ = note_, first_page_ = page_;
  loop_entry_ = b.offset();
}

/// Exchanges the borrowed registers for those that were borrowed first. False if they occupy each other's.
bool ModelCode::borrow_as_first(Builder& b) {
  const u8 first[] = {first_a_, first_b_, first_page_};
  if (note_ != no_register && first_note_ == no_register) release_note(b);
  bool is_moved = true;
  while (is_moved) {
    is_moved = false;
    const auto is_free = [this](u8 to) { return (borrowed() >> to & 1) == 0; };
    const u8* to = first;
    for (const auto& [role, place] : scratch_roles()) {
      const u8 wanted = *to++;
      if (*role == wanted || !is_free(wanted)) continue;
      move_scratch(b, *role, place, wanted);
      is_moved = true;
    }
    if (note_ == first_note_ || !is_free(first_note_)) continue;
    if (note_ == no_register)
      borrow_note(b, first_note_);
    else
      move_note(b, first_note_);
    is_moved = true;
  }
  mark(b);
  return a_ == first_a_ && b_ == first_b_ && note_ == first_note_ && page_ == first_page_;
}

u32 ModelCode::loops(Builder& b) {
  if (loop_entry_ == 0 || !open_ || !borrow_as_first(b)) return 0;
  reload_flags(b, facts_[0].live);
  write_outcomes(b, facts_[0].live);
  finish_record(b);
  return loop_entry_;
}

void ModelCode::leave(Builder& b, u16 live, bool finishes) {
  reload_flags(b, live);
  write_outcomes(b, live);
  if (finishes) finish_record(b);
  close(b);
}

void ModelCode::end_trace(Builder& b, u32 trace) {
  mark(b);
  add_ranges(trace, ranges_, range_count_, first_op_);
}

}  // namespace tally::engine::instrument
