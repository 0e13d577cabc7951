#include "tally/engine/model_code.hpp"

#include <initializer_list>

#include "tally/engine/frame.hpp"
#include "tally/engine/model_emit.hpp"

namespace tally::engine {

ModelCode model_code;

namespace {

/// Ranges of all traces, by trace.
struct RangesOf {
  u32 first, count;
  u32 op;  // the first one of its ways
};
Growing<RangesOf> ranges_of;
Growing<ModelRange> ranges;

void ranges_init() {
  if (ranges.data != nullptr) return;
  ranges_of.init(1u << 20);
  ranges.init(8u << 20);
}

}  // namespace

bool models_have_room() {
  constexpr u32 ways_of_trace = 4 * ModelCode::branch_limit;
  return !model_plan.any() || ranges.data == nullptr ||
         (!ranges_of.full() && !ranges.full(ModelCode::range_limit) && pieces_have_room() &&
          (!model_plan.each || (!tape_ways.full(ways_of_trace) && !tape_ops.full(ModelCode::ops_limit))));
}

void models_forget_code() {
  if (!model_plan.any() || ranges.data == nullptr) return;
  ranges_of.reset(0);
  ranges.reset(0);
  pieces_forget_code();
  if (!model_plan.each) return;
  tape_ways.reset(0);
  tape_ops.reset(0);
}

// --- stretches ------------------------------------------------------------------------------------------------------

void ModelCode::begin_trace() {
  ranges_init();
  last_line_ = 0;
  range_count_ = way_count_ = 0;
  outcomes_ = taken_ = 0;
  loop_entry_ = 0;
  open_ = away_ = passed_ = in_range_ = has_room_ = has_tape_ = false;
  records_ = model_plan.each && !tape_ways.full(4 * branch_limit) && !tape_ops.full(ops_limit);
  if (model_plan.each && !records_) mark_partial(current(), channel::partial_code_lines);
  first_op_ = tape_ops.size;
  last_fetched_ = 0;
  gone_ = {0, 1, 0, 0};
}

void ModelCode::begin_segment(Builder& b, const Instruction* in, u32 n, u16 live, const u16* at_exits) {
  in_ = in;
  n_ = n;
  for (u32 i = n; i-- > 0;) {
    facts_[i] = facts_of(in[i]);
    if (at_exits != nullptr) live |= at_exits[i];
    live = static_cast<u16>((live & ~flags_written(in[i])) | flags_read(in[i]));
    facts_[i].live = live;
  }
  if (!passed_) return;
  passed_ = false;
  // Behind a branch that was not taken: before anything else of what follows.
  predict(b, passed_pc_, false, n == 0 ? live : facts_[0].live);
  note_outcome(false);
  mark(b);
}

bool ModelCode::wants_window(u32 i) const {
  const ModelFacts& f = facts_[i];
  if (!f.known) return false;
  const Instruction& in = in_[i];
  if (records_ || f.accesses != 0 || f.repeat.bytes != 0 || f.scattered.pattern != Pattern::none) return true;
  if (model_plan.branches && (in.kind == Kind::call || in.kind == Kind::call_indirect || in.resolved)) return true;
  const u64 line = model_plan.line_bytes;
  return model_plan.code() &&
         (in.pc / line != last_line_ / line || (in.next() - 1) / line != last_line_ / line || last_line_ == 0);
}

void ModelCode::mark(const Builder& b) {
  if (in_range_) {
    ranges_[range_count_].end = b.offset();
    if (range_count_ + 1 < sizeof ranges_ / sizeof *ranges_) range_count_++;
  }
  in_range_ = open_ || away_ || outcomes_ != 0 || gone_.count != 0;
  if (!in_range_) return;
  const auto borrowed = [this](u8 reg) { return open_ ? reg : u8{no_register}; };
  ranges_[range_count_] = {b.offset(),      0xffff,    borrowed(a_), borrowed(b_), borrowed(note_),
                           borrowed(page_), outcomes_, taken_,       away_,        gone_};
}

void ModelCode::open(Builder& b, u32 i) {
  const bool notes = model_plan.data() || model_plan.code();
  const u32 wanted = !notes ? 2 : !model_plan.pages ? 3 : 4;
  u16 free = static_cast<u16>(~facts_[i].registers & ~(1u << rsp | 1u << rax));
  for (u32 k = i + 1; k < n_ && facts_[k].known; k++) {
    const u16 still = static_cast<u16>(free & ~facts_[k].registers);
    if (bits_set(still) < wanted) break;
    free = still;
  }
  static const u8 order[] = {r11, r10, r9, r8, rdi, rsi, rcx, rdx, rbx, r13, r14, r15, rbp, r12};
  u8 found[4] = {no_register, no_register, no_register, no_register};
  u32 n = 0;
  for (const u8 reg : order)
    if ((free >> reg & 1) && n < wanted) found[n++] = reg;
  a_ = found[0], b_ = found[1], note_ = found[2], page_ = found[3];
  b.e.store(a_, o_model_a);
  b.e.store(b_, o_model_b);
  if (notes) {
    b.e.store(note_, o_model_spill_note);
    b.e.load(note_, o_model_note);
  }
  if (page_ != no_register) b.e.store(page_, o_model_spill_page);
  open_ = true;
  mark(b);
}

void ModelCode::close(Builder& b) {
  if (!open_) return;
  b.e.load(a_, o_model_a);
  b.e.load(b_, o_model_b);
  if (note_ != no_register) {
    b.e.store(note_, o_model_note);
    b.e.load(note_, o_model_spill_note);
  }
  if (page_ != no_register) b.e.load(page_, o_model_spill_page);
  open_ = false;
  mark(b);
}

void ModelCode::before(Builder& b, u32 i, bool leaves) {
  const Instruction& in = in_[i];
  const ModelFacts& f = facts_[i];
  if (open_ && (!f.known || (f.registers & borrowed()) != 0)) close(b);
  if (!open_ && wants_window(i)) open(b, i);
  if (open_) {
    Emitter& e = b.e;
    if (model_plan.code()) {
      const u64 line = model_plan.line_bytes;
      for (u64 at = in.pc & ~(line - 1); at < in.next(); at += line) {
        if (last_line_ == at) continue;
        look_at_line(b, at, f.live);
        last_line_ = at;
      }
    }
    if (records_) record(b, i);
    for (u32 k = 0; k < f.accesses; k++) look_at_data(b, f.access[k], f.live);
    if (f.scattered.pattern != Pattern::none) ask_pieces(b, i);
    if (f.repeat.bytes != 0 && model_plan.data()) {
      e.store(rcx, o_model_repeat);
      e.store(rsi, o_model_repeat + 8);
      e.store(rdi, o_model_repeat_rdi);
      store_constant(e, o_model_repeat_word, word_of(f.repeat));
    }
    if (in.kind == Kind::call || (in.kind == Kind::call_indirect && in.resolved)) push_return(b, in);
    if (in.resolved) resolved_target(b, in, f.live);
    if (records_ && model_plan.each_branch) record_flow(b, in);
  }
  if (f.live == 0 || !f.known || f.touches_flags || flags_read(in) != 0) bring_flags_back(b, f.live);
  const bool by_target =
      !in.resolved && (in.kind == Kind::ret || in.kind == Kind::jump_indirect || in.kind == Kind::call_indirect);
  if (leaves) leave(b, f.live, !by_target);
}

void ModelCode::after(Builder& b, u32 i) {
  if (!open_ || facts_[i].repeat.bytes == 0) return;
  if (model_plan.data()) ask_look(b.e, b.arena.to_model, word_of(facts_[i].repeat));
  if (records_) record_repeat(b, i);
}

/// Before something that changes the flags.
void ModelCode::put_flags_away(Builder& b, u16 live) {
  if (away_ == (live != 0)) return;
  away_ = !away_;
  if (away_) save_flags(b.e);
  mark(b);
}

void ModelCode::bring_flags_back(Builder& b, u16 live) {
  if (!away_) return;
  if (live != 0) restore_flags(b.e);
  away_ = false;
  mark(b);
}

void ModelCode::open_first(Builder& b) {
  if (!wants_window(0)) return;
  open(b, 0);
  first_a_ = a_, first_b_ = b_, first_note_ = note_, first_page_ = page_;
  loop_entry_ = b.offset();
}

u32 ModelCode::loops(Builder& b) {
  if (loop_entry_ == 0 || !open_ || a_ != first_a_ || b_ != first_b_ || note_ != first_note_ || page_ != first_page_)
    return 0;
  bring_flags_back(b, facts_[0].live);
  write_history(b, facts_[0].live);
  finish_record(b);
  return loop_entry_;
}

void ModelCode::leave(Builder& b, u16 live, bool finishes) {
  bring_flags_back(b, live);
  write_history(b, live);
  if (finishes) finish_record(b);
  close(b);
}

void ModelCode::end_trace(Builder& b, u32 trace) {
  mark(b);
  if (ranges_of.size <= trace) ranges_of.size = trace + 1;
  ranges_of[trace] = {ranges.size, range_count_, first_op_};
  for (u32 i = 0; i < range_count_ && !ranges.full(); i++) ranges.add(ranges_[i]);
}

namespace {

/// What a record lacks that ends here.
void settle_record(Thread* t, Context* c, u32 first, Gone gone, bool repeats) {
  if (repeats) {
    for (const u8 reg : {rcx, rsi, rdi}) model_thread(t)->record[gone.words++] = c->reg(reg);
    gone.count++;
  }
  if (gone.count != 0) models_play_partial(t, {first, gone.count, gone.words, gone.outcomes, gone.branches});
}

}  // namespace

void settle_model(Thread* t, Context* c, const Spot& s, bool repeats) {
  const u32 trace = static_cast<u32>(s.trace - tables.traces.data);
  if (trace >= ranges_of.size) return;
  const RangesOf& r = ranges_of[trace];
  for (u32 i = 0; i < r.count; i++) {
    const ModelRange& range = ranges[r.first + i];
    if (s.offset < range.begin || s.offset >= range.end) continue;
    ModelThread& m = *model_thread(t);
    if (range.flags) {
      c->flags = (c->flags & ~u64{every_flag}) | (m.flags_away >> 8 & every_flag & ~u64{overflow}) |
                 (m.flags_away & 1 ? overflow : 0);
    }
    if (range.note != no_register) {
      m.next_note = reinterpret_cast<u64*>(c->reg(range.note));
      c->reg(range.note) = m.spill_note;
    }
    if (range.page != no_register) c->reg(range.page) = m.spill_page;
    if (range.a != no_register) c->reg(range.a) = m.spill[0], c->reg(range.b) = m.spill[1];
    if (model_plan.outcomes)
      m.next_outcome += range.outcomes;
    else
      m.history = m.history << range.outcomes | range.taken;
    if (model_plan.each) settle_record(t, c, r.op, range.gone, repeats);
    return;
  }
}

// --- looks ----------------------------------------------------------------------------------------------------------
//
// A look never leaves the line of code for what cannot be foretold. Every access is noted down, and the note stays
// where it is not to the most recent line of its set: the next one comes behind it, and else over it.

/// Into the model, which may read and write notes. Register b is lost.
void ModelCode::ask_look(Emitter& e, u64 whom, u32 word) {
  if (note_ != no_register) e.store(note_, o_model_note);
  ask(e, whom, word, b_, 0);
  if (note_ != no_register) e.load(note_, o_model_note);
}

/// Before a trace's first note.
void ModelCode::make_room(Builder& b) {
  if (has_room_) return;
  has_room_ = true;
  test_dword(b.e, note_, model_plan.notes_full);
  u8* const full = jump_if(b.e, not_equal);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(full, stub.here());
  ask_look(stub, b.arena.to_look, word_of(Ask::noted));
  stub.jump(b.e.here());
  b.arena.cold = stub.here();
}

/// Notes the line in register a down, to stay if a level is looked at and the flags say "not equal". Register b is
/// where the next note goes if this one stays.
void ModelCode::note_line(Emitter& e, u64 kind, bool looks) {
  if (kind != 0) address_of(e, a_, a_, no_register, 0, static_cast<s32>(kind), false);
  store_at(e, note_, a_, 0);
  address_of(e, b_, note_, no_register, 0, sizeof(u64), false);
  if (looks) move_if_not_equal(e, note_, b_);
}

/// Lets the note of an access, which is in register a, stay if its page is not the most recent one of its set. Register
/// a is lost.
void ModelCode::note_page(Emitter& e) {
  low_halves(e, Between::move, page_, a_);
  shift_right(e, page_, model_plan.page_bits - page_stride_bits);
  with_constant(e, Operation::bit_and, page_, (model_plan.data_page_sets - 1) << page_stride_bits);
  table_access(e, 0x33, a_, page_, 0, data_pages_at);
  and_wide(e, a_, -(1 << model_plan.page_bits));
  move_if_not_equal(e, note_, b_);
  load_at(e, a_, b_, -8);
  table_access(e, 0x89, a_, page_, 0, data_pages_at);
}

/// A jump for an access to these bytes at register a: for one across lines, or for any other. Register b is lost.
u8* ModelCode::jump_across(Emitter& e, u32 bytes, int condition) {
  address_of(e, b_, a_, no_register, 0, static_cast<s32>(bytes) - 1, false);
  low_halves(e, Between::bit_xor, b_, a_);
  test_dword(e, b_, model_plan.line_bytes);
  return jump_if(e, condition);
}

void ModelCode::look_at_data(Builder& b, const DataAccess& access, u16 live) {
  Emitter& e = b.e;
  if (!model_plan.data()) return;
  const u32 line = model_plan.line_bytes;
  const u64 address = static_cast<u64>(access.displacement);
  const bool fixed = access.fixed && !access.fs;
  const bool fits = access.bytes <= line && (!fixed || address % line + access.bytes <= line);
  put_flags_away(b, live);
  make_room(b);
  const u64 kind = static_cast<u64>(access.what);
  if (fixed && fits) {
    const u32 set = l1d_at + (static_cast<u32>(address) & model_plan.l1d_mask);
    e.move_constant(a_, address & ~u64{line - 1});
    if (model_plan.l1d) {
      table_access(e, 0x3b, a_, no_register, 0, set);
      e.store(a_, set);
    }
    note_line(e, kind, model_plan.l1d);
    if (model_plan.pages) note_page(e);
    return;
  }
  load_address(e, access, a_, b_);
  if (!fits) {
    e.store(a_, o_model_argument);
    return ask_look(e, b.arena.to_look, word_of(access.what, access.bytes));
  }
  const bool mostly_aligned = access.bytes > 1 && access.bytes <= 8 && bits_set(access.bytes) == 1;
  u8* away = nullptr;
  if (mostly_aligned)
    test_byte(e, a_, static_cast<u8>(access.bytes - 1)), away = jump_if(e, not_equal);
  else if (access.bytes > 1)
    away = jump_across(e, access.bytes, not_equal);
  const u64 whole = e.here();
  if (model_plan.l1d) {
    low_halves(e, Between::move, b_, a_);
    with_constant(e, Operation::bit_and, b_, model_plan.l1d_mask);
  }
  and_wide(e, a_, -static_cast<s32>(line));
  if (model_plan.l1d) {
    table_access(e, 0x3b, a_, b_, 0, l1d_at);
    table_access(e, 0x89, a_, b_, 0, l1d_at);
  }
  note_line(e, kind, model_plan.l1d);
  if (model_plan.pages) note_page(e);
  if (away == nullptr) return;
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  if (mostly_aligned) lead(jump_across(stub, access.bytes, equal), whole);
  stub.store(a_, o_model_argument);
  ask_look(stub, b.arena.to_look, word_of(access.what, access.bytes));
  stub.jump(e.here());
  b.arena.cold = stub.here();
}

void ModelCode::look_at_line(Builder& b, u64 line, u16 live) {
  Emitter& e = b.e;
  const u64 page = line >> model_plan.page_bits;
  const u32 number = line_number(line),
            number_of_page = model_plan.pages ? line_number(page << model_plan.page_bits) : number;
  if (number == 0 || number_of_page == 0) {
    mark_partial(current(), channel::partial_code_lines);
    return;
  }
  const u32 set = static_cast<u32>(line / model_plan.line_bytes) & (model_plan.l1i_sets - 1);
  put_flags_away(b, live);
  make_room(b);
  if (model_plan.l1i) replace_dword(e, l1i_at + set * 4, number);
  e.move_constant(a_, line + static_cast<u64>(Ask::fetch));
  note_line(e, 0, model_plan.l1i);
  if (!model_plan.pages) return;
  replace_dword(e, code_pages_at + static_cast<u32>(page & (model_plan.code_page_sets - 1)) * 4, number_of_page);
  move_if_not_equal(e, note_, b_);
}

}  // namespace tally::engine
