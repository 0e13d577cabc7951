#include "tally/engine/guest/dispatch.hpp"

#include "tally/engine/guest/flush.hpp"
#include "tally/engine/guest/leaving.hpp"
#include "tally/engine/guest/signals.hpp"
#include "tally/engine/instrument/parts.hpp"
#include "tally/engine/instrument/windows.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/linking.hpp"
#include "tally/engine/translate/sources.hpp"

namespace tally::engine::guest {

namespace {

Outcome find_or_translate(Thread* t) {
  if (is_key_of_steps(t->pc)) return Outcome::unreadable;  // not an address
  Guard guard(cache_lock);
  if (cache_is_damaged()) return Outcome::no_room;
  begin_reading(t);
  Outcome outcome = Outcome::translated;
  const bool steps = t->in_steps != 0;
  Trace* trace = find_trace(key_of(t->pc, steps));
  const bool is_new = trace == nullptr;
  if (is_new) outcome = make_trace(t->pc, steps, t->link == by_jump, trace);
  end_reading(t);
  if (cache_is_damaged()) return Outcome::no_room;  // damaged by a process that died holding another lock
  if (outcome == Outcome::translated) settle(t, *trace, is_new);
  return outcome;
}

/// Finds or makes the trace at the thread's pc, with which the thread continues.
Outcome prepare_trace(Thread* t) {
  if (t->link >= first_link) t->pc = link_target(t->link);
  if (t->link == by_jump && t->followed != 0) probes->jumped(t);
  windows_settle(t);
  Outcome outcome = Outcome::no_room;
  // Other threads may fill the cache again before this thread's turn. A flush rarely fails completely.
  for (u32 tries = 0; outcome == Outcome::no_room && tries < 1000; tries++) {
    if (leaving()) leave(t, channel::partial_none);
    if (is_asked_to_leave()) leave_as_asked(t);
    if (is_asked_out(t)) {
      t->link = no_link;
      step_aside(t);
    }
    if (code_may_be_absent()) {
      await_code(t);
      if (t->pad != 0) return Outcome::translated;  // pending work first: it does not need the trace
    }
    outcome = find_or_translate(t);
    if (outcome != Outcome::no_room) break;
    t->link = no_link;
    if (!flush(t)) break;
  }
  return outcome;
}

}  // namespace

extern "C" void dispatch(Thread* t) {
  t->resumes_past_gate = 0;
  Outcome outcome = prepare_trace(t);
  while (outcome == Outcome::step && instrument::is_gem5_mark(t->pc)) {
    t->past_check = 0;
    t->link = no_link;
    if (t->pad != 0) return;  // a pending signal comes first: its handler returns to the mark
    instrument::pass_gem5_mark(t);
    if (t->traces_itself != 0) {
      t->pad |= pad_step;
      return;
    }
    outcome = prepare_trace(t);
  }
  switch (outcome) {
    case Outcome::translated: return;
    // At its own address the instruction does, or fails to do, what it does natively.
    case Outcome::step:
    case Outcome::unreadable:
      t->past_check = 0;
      t->pad |= pad_step;
      return;
    case Outcome::leave: leave(t, channel::partial_gs_base);
    case Outcome::no_room:
    case Outcome::no_space: leave(t, channel::partial_code_space);
  }
}

namespace {

/// Whether a conditional branch was taken. If its target is the next instruction, the address does not show it: then
/// the flags do, which no branch changes, or the remaining value of rcx.
bool was_taken(const Instruction& in, Context* after) {
  if (after->ip != in.next()) return true;
  if (in.immediate != 0) return false;
  const auto flag = [after](u64 bit) { return (after->flags & bit) != 0; };
  const bool less = flag(sign) != flag(overflow);
  const u64 counter = in.address_bits == 32 ? static_cast<u32>(after->reg(rcx)) : after->reg(rcx);
  if ((in.opcode & 0xf0) == 0xe0) switch (in.opcode) {
      case 0xe0: return counter != 0 && !flag(zero);
      case 0xe1: return counter != 0 && flag(zero);
      case 0xe2: return counter != 0;
      default: return counter == 0;
    }
  const bool holds[] = {flag(overflow), flag(carry),  flag(zero), flag(carry) || flag(zero),
                        flag(sign),     flag(parity), less,       flag(zero) || less};
  return holds[(in.opcode & 15) / 2] != (in.opcode % 2 != 0);
}

}  // namespace

void count_stepped(Thread* t, Context* after) {
  windows_step(t);
  if (t->traces_itself == 0) __atomic_add_fetch(&process_record(t).single_stepped, 1, __ATOMIC_RELAXED);
  u8 bytes[16];
  channel::Totals delta;
  delta.field[channel::instructions] = 1;
  if ((t->pc & ~0xc00ull) == 0xffffffffff600000) {
    mark_partial(t, channel::partial_vsyscall);
    return correct(t, t->pc, delta);
  }
  const u32 n = read_code(t->pc, bytes, 15);
  Instruction in;
  if (n == 0 || !decode(t->pc, bytes, n, in)) {
    mark_partial(t, n == 0 ? channel::partial_unread_code : channel::partial_undecoded);
    return correct(t, t->pc, delta);
  }
  delta.field[channel::loads] = in.loads;
  delta.field[channel::stores] = in.stores;
  if (in.plain_field != 0) delta.field[in.plain_field] = 1;
  instrumentation->stepped(t, in);
  if (const channel::Source source = source_of(in); source != channel::source_count) count_source(t, source, t->pc);
  // Zydis lists xbegin and xend as conditional branches, but they are not.
  if (in.kind == Kind::plain || in.kind == Kind::emulated || in.kind == Kind::transaction)
    return correct(t, t->pc, delta);
  const ZydisDecodedInstruction raw = Details(in).raw;
  const bool prefixed_near =
      raw.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR || raw.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT;
  const bool direct = raw.raw.imm[0].is_relative;
  switch (raw.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      delta.field[channel::conditional] = 1;
      delta.field[channel::taken] = was_taken(in, after);
      break;
    case ZYDIS_CATEGORY_UNCOND_BR:
      delta.field[!prefixed_near ? channel::far : direct ? channel::direct_jumps : channel::indirect_jumps] = 1;
      break;
    case ZYDIS_CATEGORY_CALL:
      delta.field[!prefixed_near ? channel::far : direct ? channel::direct_calls : channel::indirect_calls] = 1;
      break;
    case ZYDIS_CATEGORY_RET: delta.field[prefixed_near ? channel::returns : channel::far] = 1; break;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET: delta.field[channel::far] = 1; break;
    default: break;
  }
  correct(t, t->pc, delta);
}

}  // namespace tally::engine::guest
