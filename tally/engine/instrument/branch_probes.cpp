// Records the outcomes of branches for the predictors, and probes the return stack.
//
// A trace has one path, so what its conditional branches did is known at each exit. Until then the address of the next
// outcome in memory is that of the trace's entry.
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/models/branch/outcome.hpp"

namespace tally::engine::instrument {
namespace {

constexpr u32 word_bytes = sizeof(models::Outcome);

/// Writes the first word of a branch, `words` after the next outcome, whose address is in `reg`.
void write_outcome(Emitter& e, u8 reg, u64 pc, OutcomeKind kind, u32 words) {
  store_dword_at(e, reg, word_of(kind, pc), words * word_bytes);
  recorder.fix_at(Fix::outcome, e.p - sizeof(u32), pc, static_cast<u32>(kind));
}

}  // namespace

void ModelCode::write_outcomes(Builder& b, u16 live) {
  if (outcomes_ == 0) return;
  Emitter& e = b.e;
  const u32 bytes = outcomes_ * word_bytes;
  outcomes_ = 0;
  if (live == 0 && bytes < 128) {
    add_byte(e, o_model_outcome, static_cast<u8>(bytes));
    return mark(b);
  }
  const u8 reg = open_ ? a_ : u8{r11};
  if (!open_) e.store(reg, o_model_a);
  e.load(reg, o_model_outcome);
  address_of(e, reg, reg, no_register, 0, static_cast<s32>(bytes), false);
  e.store(reg, o_model_outcome);
  if (!open_) e.load(reg, o_model_a);
  mark(b);
}

/// Loads the address of the next outcome, with room for those of the trace. Another one is written from there on; an
/// exit advances the address.
void ModelCode::begin_outcome(Builder& b, u16 live) {
  Emitter& e = b.e;
  if (outcomes_ > most_outcomes) write_outcomes(b, live);
  e.load(a_, o_model_outcome);
  if (outcomes_ != 0) return;
  spill_flags(b, live);
  test_dword(e, a_, model_plan.notes_full);
  u8* const full = jump_if(e, not_equal);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(full, stub.here());
  ask_lookup(stub, b.arena.to_lookup, word_of(Ask::outcomes));
  stub.load(a_, o_model_outcome);
  jump_to(stub, e.here());
  b.arena.cold = stub.here();
}

void ModelCode::note_outcome(Builder& b, u64 pc, bool taken, u16 live) {
  if (!model_plan.branches) return;
  begin_outcome(b, live);
  write_outcome(b.e, a_, pc, taken ? OutcomeKind::taken : OutcomeKind::not_taken, outcomes_);
  outcomes_++;
}

u32 ModelCode::begin_side_exit(Builder& b, u32 i, bool taken, u16 live) {
  if (!open_) open(b, i);
  side_exits_[side_exit_count_] = {nullptr, in_[i].pc, in_[i].target(), taken,     live,  a_,
                                   b_,      note_,     page_,           outcomes_, away_, progress_};
  if (records_ && model_plan.each_branch) side_exits_[side_exit_count_].progress.pass(taken);
  return side_exit_count_++;
}

void ModelCode::stay(Builder& b, const Instruction& in, bool taken, u16 live) {
  if (records_ && model_plan.each_branch) record_outcome(in, taken);
  note_outcome(b, in.pc, taken, live);
  mark(b);
}

void ModelCode::emit_side_exit(Builder& b, u32 n) {
  const SideExit& w = side_exits_[n];
  open_ = true;
  a_ = w.a, b_ = w.b, note_ = w.note, page_ = w.page;
  outcomes_ = w.outcomes;
  away_ = w.away;
  progress_ = w.progress;
  mark(b);
  note_outcome(b, w.pc, w.is_taken, w.live);
  leave(b, w.live);
}

void ModelCode::conditional(Builder& b, u32 i, u32 segment, u16 live_there) {
  Emitter& e = b.e;
  const Instruction& in = in_[i];
  SideExit& begun = side_exits_[begin_side_exit(b, i, true, live_there)];
  b.place(in, segment);
  if (in.kind == Kind::loop) {
    if (in.address_bits == 32) e.byte(0x67);
    e.byte(in.opcode);
    e.byte(5);
    u8* const over = jump_if(e, -1);
    begun.from = jump_if(e, -1);
    set_jump_target(over, e.here());
  } else {
    begun.from = jump_if(e, in.opcode & 15);
  }
  stay_later(in);
  if (records_ && model_plan.each_branch) record_outcome(in, false);
}

void ModelCode::emit_side_exits(Builder& b) {
  for (u32 i = 0; i < side_exit_count_; i++) {
    set_jump_target(side_exits_[i].from, b.e.here());
    emit_side_exit(b, i);
    b.exit(-1, side_exits_[i].target);
  }
}

void ModelCode::push_return(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (!model_plan.branches) return;
  byte_access(e, Byte::load, a_, o_model_top);
  move_negated(e, b_, in.next());
  table_access(e, 0x89, b_, a_, 0, return_stack_at);
  address_of(e, a_, a_, no_register, 0, 8, false);
  byte_access(e, Byte::store, a_, o_model_top);
}

/// Records an indirect branch whose target is known at translation time.
void ModelCode::resolved_target(Builder& b, const Instruction& in, u16 live) {
  if (!model_plan.branches) return;
  begin_outcome(b, live);
  write_outcome(b.e, a_, in.pc, OutcomeKind::indirect, outcomes_);
  store_dword_at(b.e, a_, static_cast<u32>(in.target()), (outcomes_ + 1) * word_bytes);
  recorder.fix_at(Fix::target_by, b.e.p - sizeof(u32), in.rip_operand());
  outcomes_ += 2;
  mark(b);
}

void ModelCode::indirect(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (records_) finish_by_target(b, in);
  if (!model_plan.branches) return;
  if (in.kind == Kind::ret) return pop_return(b, in.pc);
  e.load(r11, o_model_outcome);  // with room: begin_outcome()
  write_outcome(e, r11, in.pc, OutcomeKind::indirect, 0);
  store_dword_at(e, r11, rcx, u8{word_bytes});
  address_of(e, r11, r11, no_register, 0, 2 * word_bytes, false);
  e.store(r11, o_model_outcome);
  if (in.kind != Kind::call_indirect) return;
  byte_access(e, Byte::load, r11, o_model_top);
  e.store(rax, o_model_rax);
  move_negated(e, rax, in.next());
  table_access(e, 0x89, rax, r11, 0, return_stack_at);
  e.load(rax, o_model_rax);
  address_of(e, r11, r11, no_register, 0, 8, false);
  byte_access(e, Byte::store, r11, o_model_top);
}

/// Probes the return stack. rcx: the target.
void ModelCode::pop_return(Builder& b, u64 pc) {
  Emitter& e = b.e;
  byte_access(e, Byte::load, r11, o_model_top);
  address_of(e, r11, r11, no_register, 0, -8, false);
  byte_access(e, Byte::store, r11, o_model_top);
  extend_byte(e, r11);
  table_access(e, 0x8b, r11, r11, 0, return_stack_at);
  e.add_registers(rcx, r11, rcx);  // the table contains the negated prediction: 0 if it is right
  e.byte(0xe3);                    // jrcxz over the jump
  e.byte(5);
  u8* const away = jump_if(e, -1);
  const u64 back = e.here();
  e.not_register(r11);
  address_of(e, rcx, rcx, r11, 0, 1, false);  // restores the target
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(away, stub.here());
  // A wrong prediction: does not call the model, but needs another register, and the flags.
  constexpr u32 misses = model_counts_at + static_cast<u32>(offsetof(channel::ModelCounts, values.return_misses));
  stub.store(rax, o_model_rax);
  stub.load(rax, misses);
  stub.add_constant(rax, 1);
  stub.store(rax, misses);
  if (model_plan.notes_returns) {
    stub.load(rax, o_model_outcome);  // with room: begin_outcome()
    write_outcome(stub, rax, pc, OutcomeKind::wrong_return, 0);
    address_of(stub, rax, rax, no_register, 0, word_bytes, false);
    stub.store(rax, o_model_outcome);
  }
  stub.load(rax, o_model_rax);
  jump_to(stub, back);
  b.arena.cold = stub.here();
}

}  // namespace tally::engine::instrument
