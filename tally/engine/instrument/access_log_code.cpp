// Writes the access log, for models that need every event: for each access its address as the instruction computes it,
// for an indirect branch its target, and then the number of the executed path.
#include <initializer_list>

#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/model_emit.hpp"

namespace tally::engine::instrument {

using models::Step;

void ModelCode::add_op(models::Op op) {
  op.site_bits = static_cast<u16>(site_of(op.instruction()) >> channel::code_site_shift);
  log_ops.add(op);
}

void ModelCode::put(Emitter& e, u8 reg) {
  e.load(b_, o_model_record);
  store_at(e, b_, reg, 8u * progress_.words++);
}

/// Before an instruction: records its accesses, and the lines that it is fetched from unless recorded just before.
void ModelCode::record(Builder& b, u32 i) {
  const Instruction& in = in_[i];
  const ModelFacts& f = facts_[i];
  if (!has_access_log_) make_room_in_access_log(b, f.live);
  const u64 line = model_plan.line_bytes;
  for (u64 at = in.pc & ~(line - 1); at < in.next(); at += line) {
    if (last_fetched_ == at) continue;
    last_fetched_ = at;
    add_op({at, in.pc, 0, 1, Step::fetch});
    progress_.count++;
  }
  for (u32 k = 0; k < f.accesses; k++) {
    const DataAccess& access = f.access[k];
    add_op({0, in.pc, progress_.words, static_cast<u16>(access.bytes), static_cast<Step>(access.what)});
    progress_.count++;
    load_address(b.e, access, a_, b_);
    put(b.e, a_);
  }
  if (f.repeat.bytes != 0)
    for (const u8 reg : {rcx, rsi, rdi}) put(b.e, reg);
  mark(b);
}

void ModelCode::record_repeat(Builder& b, u32 i) {
  constexpr u32 before = models::Repeat::words / 2;
  add_op({facts_[i].repeat.bits(), in_[i].pc, static_cast<u16>(progress_.words - before), 0, Step::repeat});
  progress_.count++;
  for (const u8 reg : {rcx, rsi, rdi}) put(b.e, reg);
  mark(b);
}

/// Records calls, and indirect jumps with a known target.
void ModelCode::record_flow(Builder& b, const Instruction& in) {
  const bool indirectly = in.kind == Kind::jump_indirect || in.kind == Kind::call_indirect;
  if (in.kind != Kind::call && !(in.resolved && indirectly)) return;
  const Step what = in.kind == Kind::call            ? Step::call
                    : in.kind == Kind::call_indirect ? Step::indirect_call
                                                     : Step::indirect_jump;
  add_op({in.pc, in.target(), 0, in.length, what});
  progress_.count++;
  mark(b);
}

void ModelCode::record_outcome(const Instruction& in, bool taken) {
  add_op({in.pc, in.target(), 0, in.length, Step::conditional});
  progress_.pass(taken);
}

/// Checks whether there is room for the trace's log record: once per trace, before it writes anything.
void ModelCode::make_room_in_access_log(Builder& b, u16 live) {
  has_access_log_ = true;
  Emitter& e = b.e;
  spill_flags(b, live);
  e.load(b_, o_model_record);
  test_dword(e, b_, access_log_room - access_log_bytes);
  u8* const full = jump_if(e, not_equal);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(full, stub.here());
  ask_lookup(stub, b.arena.to_lookup, word_of(Ask::access_log));
  jump_to(stub, e.here());
  b.arena.cold = stub.here();
}

/// Ends a log record with the number of its path; the next record begins after it.
void ModelCode::finish_record(Builder& b) {
  if (progress_.count != 0) {
    Emitter& e = b.e;
    const u8 reg = open_ ? b_ : u8{r11};
    if (!open_) e.store(reg, o_model_a);
    e.load(reg, o_model_record);
    store_at(e, reg,
             log_paths.add({first_op_, progress_.count, progress_.words, progress_.outcomes, progress_.branches}));
    address_of(e, reg, reg, no_register, 0, progress_.words * 8, false);
    e.store(reg, o_model_record);
    if (!open_) e.load(reg, o_model_a);
  }
  progress_ = {0, 1, 0, 0};
  mark(b);
}

/// The same after an indirect branch or return: rcx = the target, r11 is saved.
void ModelCode::finish_by_target(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  e.load(r11, o_model_record);
  if (model_plan.each_branch) {
    const Step what = in.kind == Kind::ret             ? Step::ret
                      : in.kind == Kind::call_indirect ? Step::indirect_call
                                                       : Step::indirect_jump;
    add_op({in.pc, 0, 0, in.length, what});
    progress_.count++;
    store_at(e, r11, rcx, 8u * progress_.words++);
  }
  store_at(e, r11,
           log_paths.add({first_op_, progress_.count, progress_.words, progress_.outcomes, progress_.branches}));
  address_of(e, r11, r11, no_register, 0, progress_.words * 8, false);
  e.store(r11, o_model_record);
  progress_ = {0, 1, 0, 0};
  mark(b);
}

}  // namespace tally::engine::instrument
