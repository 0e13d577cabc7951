// Probes of branch predictors, and the history of branches that they use.
//
// A trace has one path, so what its branches did is known at each exit. Until then the history in memory is that of the
// trace's entry, and each probe adds the constants of the path.
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/models/branch/outcome.hpp"

namespace tally::engine::instrument {
namespace {

/// OP byte gs:[reg + offset], with or without a constant
void byte_operation(Emitter& e, u8 opcode, u32 digit, u8 reg, u32 offset) {
  e.byte(0x65);
  if (reg >> 3) e.byte(0x41);
  e.byte(opcode);
  e.byte(static_cast<u8>(0x80 | digit << 3 | (reg & 7)));
  if ((reg & 7) == rsp) e.byte(0x24);
  e.dword(offset);
}

/// Compares a counter of gshare with its saturated value for this outcome.
void compare_counter(Emitter& e, u8 reg, bool taken) {
  byte_operation(e, 0x80, 7, reg, gshare_at);
  e.byte(taken ? 3 : 0);
}

/// The instruction that was just emitted ends with the displacement of a target_entry().
void relocate_target_entry(const Emitter& e, u64 pc) { recorder.fix_at(Fix::target, e.p - sizeof(u32), pc); }

/// Increments a model count. The flags are lost.
void count_one(Emitter& e, u64 offset) {
  static const u8 increment[] = {0x65, 0x48, 0xff, 0x04, 0x25};
  e.bytes(increment, sizeof increment);
  e.dword(model_counts_at + static_cast<u32>(offset));
}

}  // namespace

void ModelCode::note_outcome(bool taken) {
  if (!model_plan.branches) return;
  outcomes_++;
  taken_ = static_cast<u8>(taken_ << 1 | taken);
}

void ModelCode::write_history(Builder& b, u16 live) {
  if (outcomes_ == 0) return;
  Emitter& e = b.e;
  const u8 reg = open_ ? a_ : u8{r11};
  const u32 where = model_plan.outcomes ? o_model_outcome : o_model_history;
  const u32 bytes = outcomes_ * static_cast<u32>(sizeof(models::Outcome));
  if (model_plan.outcomes && live == 0 && bytes < 128) {
    add_byte(e, where, static_cast<u8>(bytes));
    outcomes_ = taken_ = 0;
    return mark(b);
  }
  if (!open_) e.store(reg, o_model_a);
  e.load(reg, where);
  if (model_plan.outcomes) {
    address_of(e, reg, reg, no_register, 0, static_cast<s32>(bytes), false);
  } else {
    u32 left = outcomes_;
    for (; left > 3; left -= 3) address_of(e, reg, no_register, reg, 3, 0, false);
    address_of(e, reg, no_register, reg, left, taken_, false);
  }
  e.store(reg, where);
  if (!open_) e.load(reg, o_model_a);
  outcomes_ = taken_ = 0;
  mark(b);
}

void ModelCode::predict(Builder& b, u64 pc, bool taken, u16 live) {
  Emitter& e = b.e;
  if (!model_plan.branches) return;
  if (model_plan.outcomes) return emit_outcome(b, pc, taken, live);
  constexpr u32 mask = 0x3fff;
  e.load(a_, o_model_history);
  spill_flags(b, live);
  if (outcomes_ != 0) shift_left(e, a_, outcomes_);
  if (const u32 known = (static_cast<u32>(pc) ^ taken_) & mask; known != 0)
    with_constant(e, Operation::bit_xor, a_, known);
  with_constant(e, Operation::bit_and, a_, mask);
  compare_counter(e, a_, taken);
  u8* const away = jump_if(e, not_equal);
  const u64 back = e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(away, stub.here());
  // One step towards the outcome. If the counter is not saturated then, the prediction was wrong. Flags may be lost.
  byte_operation(stub, 0xfe, taken ? 0 : 1, a_, gshare_at);  // inc, dec
  compare_counter(stub, a_, taken);
  set_jump_target(jump_if(stub, equal), back);
  count_one(stub, offsetof(channel::ModelCounts, values.conditional_misses));
  jump_to(stub, back);
  b.arena.cold = stub.here();
}

/// For a predictor that runs later: stores the outcome in the next word; an exit advances the address.
void ModelCode::emit_outcome(Builder& b, u64 pc, bool taken, u16 live) {
  Emitter& e = b.e;
  e.load(a_, o_model_outcome);
  if (outcomes_ == 0) {
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
  store_dword_at(e, a_, models::outcome_of(pc, taken), outcomes_ * static_cast<u32>(sizeof(u32)));
  recorder.fix_at(Fix::outcome, e.p - sizeof(u32), pc, taken);
}

u32 ModelCode::begin_side_exit(Builder& b, u32 i, bool taken, u16 live) {
  if (!open_) open(b, i);
  side_exits_[side_exit_count_] = {nullptr, in_[i].pc, in_[i].target(), taken,  live,  a_,       b_,
                                   note_,   page_,     outcomes_,       taken_, away_, progress_};
  if (records_ && model_plan.each_branch) side_exits_[side_exit_count_].progress.pass(taken);
  return side_exit_count_++;
}

void ModelCode::stay(Builder& b, const Instruction& in, bool taken, u16 live) {
  if (records_ && model_plan.each_branch) record_outcome(in, taken);
  predict(b, in.pc, taken, live);
  note_outcome(taken);
  mark(b);
}

void ModelCode::emit_side_exit(Builder& b, u32 n) {
  const SideExit& w = side_exits_[n];
  open_ = true;
  a_ = w.a, b_ = w.b, note_ = w.note, page_ = w.page;
  outcomes_ = w.outcomes, taken_ = w.taken;
  away_ = w.away;
  progress_ = w.progress;
  mark(b);
  predict(b, w.pc, w.is_taken, w.live);
  note_outcome(w.is_taken);
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
  address_of(e, a_, a_, no_register, 0, 16, false);
  byte_access(e, Byte::store, a_, o_model_top);
}

/// Probes an indirect branch whose target is known at translation time.
void ModelCode::resolved_target(Builder& b, const Instruction& in, u16 live) {
  Emitter& e = b.e;
  if (!model_plan.branches) return;
  spill_flags(b, live);
  move_negated_by(e, a_, in.rip_operand(), in.target());
  table_access(e, 0x3b, a_, no_register, 0, target_entry(in.pc));
  relocate_target_entry(e, in.pc);
  u8* const away = jump_if(e, not_equal);
  const u64 back = e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(away, stub.here());
  count_one(stub, offsetof(channel::ModelCounts, values.indirect_misses));
  table_access(stub, 0x89, a_, no_register, 0, target_entry(in.pc));
  relocate_target_entry(stub, in.pc);
  jump_to(stub, back);
  b.arena.cold = stub.here();
}

void ModelCode::indirect(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (records_) finish_by_target(b, in);
  if (!model_plan.branches) return;
  const bool returns = in.kind == Kind::ret;
  if (returns) {
    byte_access(e, Byte::load, r11, o_model_top);
    address_of(e, r11, r11, no_register, 0, -16, false);
    byte_access(e, Byte::store, r11, o_model_top);
    extend_byte(e, r11);
    table_access(e, 0x8b, r11, r11, 0, return_stack_at);
  } else {
    e.load(r11, target_entry(in.pc));
    relocate_target_entry(e, in.pc);
  }
  e.add_registers(rcx, r11, rcx);  // the table contains the negated prediction: 0 if it is right
  e.byte(0xe3);                    // jrcxz over the jump
  e.byte(5);
  u8* const away = jump_if(e, -1);
  const u64 back = e.here();
  e.not_register(r11);
  address_of(e, rcx, rcx, r11, 0, 1, false);  // restores the target
  if (in.kind == Kind::call_indirect) {
    byte_access(e, Byte::load, r11, o_model_top);
    e.store(rax, o_model_rax);
    move_negated(e, rax, in.next());
    table_access(e, 0x89, rax, r11, 0, return_stack_at);
    e.load(rax, o_model_rax);
    address_of(e, r11, r11, no_register, 0, 16, false);
    byte_access(e, Byte::store, r11, o_model_top);
  }
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(away, stub.here());
  // A wrong prediction: does not call the model, but needs another register.
  const u32 misses =
      model_counts_at + static_cast<u32>(returns ? offsetof(channel::ModelCounts, values.return_misses)
                                                 : offsetof(channel::ModelCounts, values.indirect_misses));
  stub.store(rax, o_model_rax);
  stub.load(rax, misses);
  stub.add_constant(rax, 1);
  stub.store(rax, misses);
  if (!returns) {
    stub.not_register(r11);
    address_of(stub, rax, rcx, r11, 0, 1, false);
    stub.not_register(r11);
    stub.not_register(rax);
    stub.add_constant(rax, 1);
    stub.store(rax, target_entry(in.pc));
    relocate_target_entry(stub, in.pc);
  }
  stub.load(rax, o_model_rax);
  jump_to(stub, back);
  b.arena.cold = stub.here();
}

}  // namespace tally::engine::instrument
