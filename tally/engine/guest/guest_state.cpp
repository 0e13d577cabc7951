#include "tally/engine/guest/guest_state.hpp"

#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/translate/compared_code.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/path_hash_code.hpp"
#include "tally/engine/translate/uncounted.hpp"

namespace tally::engine::guest {
namespace {

/// Returns the offset of the opmask registers in a signal frame.
u32 opmask_offset() {
  u32 a = 13, b = 0, c = 5, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return b;
}

}  // namespace

u64 remaining_elements(const ElementMask& mask, const Context* c) {
  const u8* fp = reinterpret_cast<const u8*>(c->fpstate);
  if (mask.element_bits == 0) {
    const u64 bits = *reinterpret_cast<const u64*>(fp + opmask_offset() + 8 * mask.number);
    return bits & (~u64{0} >> (64 - mask.elements));
  }
  u64 remaining = 0;
  const u32 step = mask.element_bits / 8u;
  for (u32 i = 0; i < mask.elements; i++) {
    const u32 last = i * step + step - 1;  // the byte with the sign of element i
    const u8 b = last < 16 ? fp[160 + 16 * mask.number + last] : fp[576 + 16 * mask.number + last - 16];
    remaining |= u64{b} >> 7 << i;
  }
  return remaining;
}

bool compares(const CacheLocation& s) {
  return s.trace->compared != 0 &&
         s.offset >= (s.trace->check != 0 ? s.trace->check : s.trace->gate) + comparison_saves &&
         s.offset < s.trace->compared;
}

namespace {

/// Subtracts what was counted for the iterations or elements that are still to be processed.
void take_back_run_time_counts(Thread* t, Context* c, const Trace& trace, const InstructionMapping& p) {
  u64 n = c->reg(rcx);
  if (p.dynamic & InstructionMapping::by_ecx) n = static_cast<u32>(n);
  if (p.dynamic & InstructionMapping::by_mask) n = bits_set(remaining_elements(p.mask, c));
  const s64 times = -static_cast<s64>(n);
  const u32 number = p.dynamic & ~u32{InstructionMapping::by_ecx | InstructionMapping::by_mask};
  if (number != 0) add_run_time_count(t, number, times);
  if (!counts_mix()) return;
  const Mix mix = mix_at(trace.pc + static_cast<u64>(static_cast<s64>(p.pc)));
  for (u32 i = 0; i < mix.at_run_time; i++)
    add_run_time_count(t, channel::run_time_counter(mix.of_each[i].field), times * mix.of_each[i].n);
}

}  // namespace

u64 restore_guest_state(Thread* t, Context* c, const CacheLocation& s) {
  const Trace& trace = *s.trace;
  if (compares(s)) c->reg(rcx) = t->borrowed[0], c->reg(r11) = t->borrowed[1];
  if (trace.segments[s.place->segment].first == Segment::is_exit)
    return trace.pc + static_cast<u64>(static_cast<s64>(s.place->pc));
  correct_at(t, s);
  t->past_gate = trace.gate != 0 && s.offset == trace.gate;
  const InstructionMapping& p = *s.place;
  if (s.offset >= p.offset) remove_path_branch(t, p);
  if (p.dynamic != 0 && s.offset == p.offset) take_back_run_time_counts(t, c, trace, p);
  if (s.offset >= p.offset) {
    if (p.borrowed == Borrowed::rcx_r11) c->reg(rcx) = t->borrowed[0], c->reg(r11) = t->borrowed[1];
    if (p.borrowed == Borrowed::one) c->reg(p.reg) = t->spill[0];
    if (p.borrowed == Borrowed::rax_rdx || p.borrowed == Borrowed::rax_rdx_rbx)
      c->reg(rax) = t->spill[0], c->reg(rdx) = t->spill[1];
    if (p.borrowed == Borrowed::rax_rdx_rbx) c->reg(rbx) = t->borrowed[0];
  }
  if (model_plan.any()) {
    const bool repeats = p.dynamic != 0 && s.offset == p.offset && !(p.dynamic & InstructionMapping::by_mask);
    restore_model_state(t, c, s, repeats);
    if (repeats && model_plan.data()) models_repeat(t, c->reg(rcx), c->reg(rsi), c->reg(rdi));
  }
  return trace.pc + static_cast<s64>(p.pc);
}

}  // namespace tally::engine::guest
