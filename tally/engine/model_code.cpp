#include "tally/engine/model_code.hpp"

#include "tally/engine/frame.hpp"
#include "tally/engine/model_emit.hpp"

namespace tally::engine {

ModelCode model_code;

namespace {

/// Ranges of all traces, by trace.
struct RangesOf {
  u32 first, count;
};
Growing<RangesOf> ranges_of;
Growing<ModelRange> ranges;

void ranges_init() {
  if (ranges.data != nullptr) return;
  ranges_of.init(1u << 20);
  ranges.init(8u << 20);
}

}  // namespace

// --- stretches ------------------------------------------------------------------------------------------------------

void ModelCode::begin_trace() {
  ranges_init();
  last_line_ = 0;
  range_count_ = way_count_ = 0;
  outcomes_ = taken_ = 0;
  loop_entry_ = 0;
  open_ = away_ = passed_ = in_range_ = false;
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
  predict(b, passed_pc_, passed_target_, false, n == 0 ? live : facts_[0].live);
  note_outcome(false);
  mark(b);
}

bool ModelCode::wants_window(u32 i) const {
  const ModelFacts& f = facts_[i];
  if (!f.known) return false;
  const Instruction& in = in_[i];
  if (model_plan.each || f.accesses != 0 || f.repeat.bytes != 0) return true;
  if (model_plan.branches && (in.kind == Kind::call || in.kind == Kind::call_indirect || in.resolved)) return true;
  const u64 line = model_plan.line_bytes;
  return model_plan.l1i &&
         (in.pc / line != last_line_ / line || (in.next() - 1) / line != last_line_ / line || last_line_ == 0);
}

void ModelCode::mark(const Builder& b) {
  if (in_range_) {
    ranges_[range_count_].end = b.offset();
    if (range_count_ + 1 < sizeof ranges_ / sizeof *ranges_) range_count_++;
  }
  in_range_ = open_ || away_ || outcomes_ != 0;
  if (!in_range_) return;
  ranges_[range_count_] = {b.offset(), 0xffff, open_ ? a_ : u8{no_register}, open_ ? b_ : u8{no_register}, outcomes_,
                           taken_,     away_};
}

void ModelCode::open(Builder& b, u32 i) {
  u16 free = static_cast<u16>(~facts_[i].registers & ~(1u << rsp | 1u << rax));
  for (u32 k = i + 1; k < n_ && facts_[k].known; k++) {
    const u16 still = static_cast<u16>(free & ~facts_[k].registers);
    if (bits_set(still) < 2) break;
    free = still;
  }
  static const u8 order[] = {r11, r10, r9, r8, rdi, rsi, rcx, rdx, rbx, r13, r14, r15, rbp, r12};
  u32 found = 0;
  for (const u8 reg : order)
    if ((free >> reg & 1) && found < 2) (found++ == 0 ? a_ : b_) = reg;
  b.e.store(a_, o_model_a);
  b.e.store(b_, o_model_b);
  open_ = true;
  mark(b);
}

void ModelCode::close(Builder& b) {
  if (!open_) return;
  b.e.load(a_, o_model_a);
  b.e.load(b_, o_model_b);
  open_ = false;
  mark(b);
}

void ModelCode::before(Builder& b, u32 i, bool leaves) {
  const Instruction& in = in_[i];
  const ModelFacts& f = facts_[i];
  if (open_ && (!f.known || (f.registers >> a_ & 1) || (f.registers >> b_ & 1))) close(b);
  if (!open_ && wants_window(i)) open(b, i);
  if (open_) {
    Emitter& e = b.e;
    if (model_plan.l1i) {
      const u64 line = model_plan.line_bytes;
      for (u64 at = in.pc & ~(line - 1); at < in.next(); at += line) {
        if (last_line_ == at) continue;
        look_at_line(b, at, f.live);
        last_line_ = at;
      }
    }
    if (model_plan.each) {
      e.move_constant(a_, in.pc);
      e.store(a_, o_model_argument);
      ask(e, b.arena.to_model, word_of(Ask::plain_fetch, in.length), a_, 0);
    }
    for (u32 k = 0; k < f.accesses; k++) look_at_data(b, f.access[k], f.live);
    if (f.repeat.bytes != 0) {
      e.store(rcx, o_model_repeat);
      e.store(rsi, o_model_repeat + 8);
      e.store(rdi, o_model_repeat_rdi);
      store_constant(e, o_model_repeat_word, f.repeat.word());
    }
    if (in.kind == Kind::call || (in.kind == Kind::call_indirect && in.resolved)) push_return(b, in);
    if (in.resolved) resolved_target(b, in, f.live);
    if (model_plan.each_branch && in.kind == Kind::jump) {
      e.move_constant(a_, in.target());
      e.store(a_, o_model_target);
      e.move_constant(a_, in.pc);
      e.store(a_, o_model_argument);
      ask(e, b.arena.to_model, word_of(Ask::plain_jump), a_, 0);
    }
  }
  if (f.live == 0 || !f.known || f.touches_flags || flags_read(in) != 0) bring_flags_back(b, f.live);
  if (leaves) leave(b, f.live);
}

void ModelCode::after(Builder& b, u32 i) {
  if (!open_ || facts_[i].repeat.bytes == 0) return;
  ask(b.e, b.arena.to_model, facts_[i].repeat.word(), a_, 0);
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
  first_a_ = a_, first_b_ = b_;
  loop_entry_ = b.offset();
}

u32 ModelCode::loops(Builder& b) {
  if (loop_entry_ == 0 || !open_ || a_ != first_a_ || b_ != first_b_) return 0;
  bring_flags_back(b, facts_[0].live);
  write_history(b);
  return loop_entry_;
}

void ModelCode::leave(Builder& b, u16 live) {
  bring_flags_back(b, live);
  write_history(b);
  close(b);
}

void ModelCode::end_trace(Builder& b, u32 trace) {
  mark(b);
  if (ranges_of.size <= trace) ranges_of.size = trace + 1;
  ranges_of[trace] = {ranges.size, range_count_};
  for (u32 i = 0; i < range_count_ && !ranges.full(); i++) ranges.add(ranges_[i]);
}

void settle_model(Thread* t, Context* c, const Spot& s) {
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
    if (range.a != no_register) c->reg(range.a) = m.spill[0], c->reg(range.b) = m.spill[1];
    m.history = m.history << range.outcomes | range.taken;
    return;
  }
}

// --- looks ----------------------------------------------------------------------------------------------------------

namespace {

/// What is in `note` is noted down; `other` is lost. On at `back`, by way of the model where the notes are full.
void note_down(Emitter& e, u8 note, u8 other, u64 to_look, u64 back) {
  e.load(other, o_model_note);
  store_at(e, other, note);
  e.add_constant(other, 8);
  e.store(other, o_model_note);
  test_dword(e, other, page_bytes - 1);
  u8* const full = jump_if(e, equal);
  e.jump(back);
  lead(full, e.here());
  ask(e, to_look, word_of(Ask::noted), note, back);
}

}  // namespace

void ModelCode::look_at_data(Builder& b, const DataAccess& access, u16 live) {
  Emitter& e = b.e;
  if (model_plan.each) {
    load_address(e, access, a_, b_);
    e.store(a_, o_model_argument);
    ask(e, b.arena.to_model, word_of(plain(access.what), access.bytes), a_, 0);
  }
  if (!model_plan.l1d) return;
  const u32 line = model_plan.line_bytes;
  const bool fixed = access.fixed && !access.fs;
  const bool fits = access.bytes <= line && (!fixed || access.displacement % line + access.bytes <= line);
  load_address(e, access, a_, b_);
  put_flags_away(b, live);
  const u32 word = word_of(access.what, access.bytes);
  if (!fits) {
    e.store(a_, o_model_argument);
    ask(e, b.arena.to_look, word, a_, 0);
    return;
  }
  const u64 address = static_cast<u64>(access.displacement), first = address & ~u64{line - 1};
  const u32 set = l1d_at + (static_cast<u32>(address) & model_plan.l1d_mask);
  u8* away;
  if (fixed) {
    e.move_constant(a_, ~first);
    table_access(e, 0x3b, a_, no_register, 0, set);
    away = jump_if(e, not_equal);
  } else {
    low_halves(e, Between::move, b_, a_);
    with_constant(e, Operation::bit_and, b_, model_plan.l1d_mask);
    table_access(e, 0x33, a_, b_, 0, l1d_at);  // xor
    compare_constant(e, a_, static_cast<s32>(access.bytes) - static_cast<s32>(line) - 1);
    away = jump_if(e, below);
  }
  const u64 back = e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  if (fixed) {
    stub.store(a_, set);
    stub.move_constant(a_, sim_note(first, access.what));
    note_down(stub, a_, b_, b.arena.to_look, back);
  } else {
    table_access(stub, 0x33, a_, b_, 0, l1d_at);  // the address again
    address_of(stub, b_, a_, no_register, 0, static_cast<s32>(access.bytes) - 1, false);
    low_halves(stub, Between::bit_xor, b_, a_);
    test_dword(stub, b_, line);
    u8* const across = jump_if(stub, not_equal);
    and_wide(stub, a_, -static_cast<s32>(line));
    low_halves(stub, Between::move, b_, a_);
    with_constant(stub, Operation::bit_and, b_, model_plan.l1d_mask);
    stub.not_register(a_);
    table_access(stub, 0x89, a_, b_, 0, l1d_at);
    stub.not_register(a_);
    stub.add_constant(a_, static_cast<u8>(access.what));
    note_down(stub, a_, b_, b.arena.to_look, back);
    lead(across, stub.here());
    stub.store(a_, o_model_argument);
    ask(stub, b.arena.to_look, word, a_, back);
  }
  b.arena.cold = stub.here();
}

void ModelCode::look_at_line(Builder& b, u64 line, u16 live) {
  Emitter& e = b.e;
  const u32 number = line_number(line);
  if (number == 0) {
    mark_partial(current(), channel::partial_code_lines);
    return;
  }
  const u32 set = static_cast<u32>(line / model_plan.line_bytes) & (model_plan.l1i_sets - 1);
  const u32 last_of_set = l1i_at + set * 4;
  put_flags_away(b, live);
  static const u8 compare[] = {0x65, 0x81, 0x3c, 0x25};  // cmp dword gs:[…], constant
  e.bytes(compare, sizeof compare);
  e.dword(last_of_set);
  e.dword(number);
  u8* const away = jump_if(e, not_equal);
  const u64 back = e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  store_constant(stub, last_of_set, number, false);
  stub.move_constant(a_, sim_note(line, Ask::fetch));
  note_down(stub, a_, b_, b.arena.to_look, back);
  b.arena.cold = stub.here();
}

}  // namespace tally::engine
