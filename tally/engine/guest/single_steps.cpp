#include "tally/engine/guest/single_steps.hpp"

#include "tally/engine/guest/guest_state.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/protection_keys.hpp"
#include "tally/engine/translate/source_probes.hpp"

namespace tally::engine::guest {
namespace {

/// Whether the instruction continues at the next one unless it faults.
bool continues(const Instruction& in) {
  return in.kind == Kind::plain || in.kind == Kind::emulated || in.kind == Kind::trap;
}

/// The next instruction then runs before the trap; at least one iteration of it.
bool loads_stack_segment(const Instruction& in) {
  constexpr u8 move_to_segment = 0x8e, stack_segment = 2;
  return in.legacy && in.map == Map::one_byte && in.opcode == move_to_segment && (in.modrm >> 3 & 7) == stack_segment;
}

/// Whether a conditional branch was taken, by the flags, which no branch changes, or by the remaining value of rcx. The
/// address afterwards does not show it: the target may be the next instruction, and with an operand-size prefix AMD
/// processors read a shorter displacement than the decoder.
bool was_taken(const Instruction& in, Context* after) {
  if (!in.legacy) return after->ip != in.next();
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

/// Adds what is only known at run time: of the iterations or elements that were completed.
void add_run_time_counts(channel::Totals& delta, const Instruction& in, const Mix& mix,
                         const SteppedInstruction& before, Context* after, bool retired) {
  if (in.dynamic == 0 && mix.at_run_time == 0) return;
  u64 times = before.counter - after->reg(rcx);
  if (in.address_bits == 32) times = static_cast<u32>(times);
  if (const ElementMask mask = mask_of(in, &mix); mask.elements != 0)
    times = bits_set(retired ? before.elements : before.elements & ~remaining_elements(mask, after));
  if (in.dynamic != 0) add_segment(delta, in.dynamic, static_cast<s64>(times));
  for (u32 i = 0; i < mix.at_run_time; i++)
    delta.add_to(mix.of_each[i].field, mix.of_each[i].n, static_cast<s64>(times));
}

void add_branch(channel::Totals& delta, const Instruction& in, Context* after) {
  const ZydisDecodedInstruction raw = Details(in).raw;
  const bool near = raw.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR || raw.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT;
  const bool direct = raw.raw.imm[0].is_relative;
  switch (raw.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      delta.field[channel::conditional] = 1;
      delta.field[channel::taken] = was_taken(in, after);
      break;
    case ZYDIS_CATEGORY_UNCOND_BR:
      delta.field[!near ? channel::far : direct ? channel::direct_jumps : channel::indirect_jumps] = 1;
      break;
    case ZYDIS_CATEGORY_CALL:
      delta.field[!near ? channel::far : direct ? channel::direct_calls : channel::indirect_calls] = 1;
      break;
    case ZYDIS_CATEGORY_RET: delta.field[near ? channel::returns : channel::far] = 1; break;
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET: delta.field[channel::far] = 1; break;
    default: break;
  }
}

void read_stepped(Thread* t) { t->stepped.available = read_code(t->pc, t->stepped.bytes, 15); }

/// Counts the instruction at t->pc. Returns the address of the next one if the trap came after that: if it loads SS, or
/// if the kernel or the hypervisor executed it (UMIP; CPUID on some AMD processors).
u64 count_one(Thread* t, Context* after, bool has_trapped) {
  constexpr u64 vsyscall_page = 0xffffffffff600000, entries = 0xc00;
  const SteppedInstruction& before = t->stepped;
  Instruction in;
  const bool known = before.available != 0 && decode(t->pc, before.bytes, before.available, in);
  const bool stays = after->ip == t->pc;
  // A branch may lead to itself. Any other instruction is incomplete: a repetition, a gather, a load of a tile.
  const bool retired = !stays || (has_trapped && !(known && continues(in)));
  channel::Totals delta;
  const Mix mix = known && counts_mix() ? mix_of(in) : Mix{};
  if (known) add_run_time_counts(delta, in, mix, before, after, retired);
  if (!retired) {
    if (known && in.dynamic != 0) correct(t, t->pc, delta);
    return 0;
  }
  t->past_gate = 0;
  countdowns_step(t);
  if (t->traces_itself == 0) __atomic_add_fetch(&process_record(t).single_stepped, 1, __ATOMIC_RELAXED);
  delta.field[channel::instructions] = 1;
  if (!known) {
    mark_partial(t, (t->pc & ~entries) == vsyscall_page ? channel::partial_vsyscall
                    : before.available == 0             ? channel::partial_unread_code
                                                        : channel::partial_undecoded);
    correct(t, t->pc, delta);
    return 0;
  }
  delta.field[channel::loads] += in.loads;
  delta.field[channel::stores] += in.stores;
  if (in.plain_field != 0) delta.field[in.plain_field] = 1;
  add_mix(delta, mix);
  if (is_old_call(in)) mark_partial(t, channel::partial_int80);
  instrumentation->stepped(t, in);
  if (const channel::Source source = source_of(in); source != channel::source_count) count_source(t, source, t->pc);
  // Zydis lists xbegin and xend as conditional branches, but they are not.
  if (in.kind != Kind::plain && in.kind != Kind::emulated && in.kind != Kind::transaction) add_branch(delta, in, after);
  correct(t, t->pc, delta);
  return has_trapped && continues(in) && (after->ip != in.next() || loads_stack_segment(in)) ? in.next() : 0;
}

}  // namespace

void begin_step(Thread* t, Context* c) {
  t->pc = c->ip;
  t->stepping = one_instruction;
  c->flags |= trap_flag;
  read_stepped(t);
  t->stepped.counter = c->reg(rcx);
  Instruction in;
  if (t->stepped.available == 0 || !decode(t->pc, t->stepped.bytes, t->stepped.available, in)) return;
  const Mix mix = counts_mix() ? mix_of(in) : Mix{};
  if (const ElementMask mask = mask_of(in, &mix); mask.elements != 0) t->stepped.elements = remaining_elements(mask, c);
}

void count_stepped(Thread* t, Context* after, bool has_trapped) {
  t->stepping = not_stepping;
  constexpr u32 most_at_once = 8;
  u64 next = count_one(t, after, has_trapped);
  for (u32 n = 1; next != 0 && n < most_at_once; n++) {
    t->pc = next;
    read_stepped(t);
    next = count_one(t, after, has_trapped);
  }
}

bool has_loaded_flags(const Thread* t) {
  Instruction in;
  return t->stepped.available != 0 && decode(t->pc, t->stepped.bytes, t->stepped.available, in) &&
         (is_popf(in) || is_iret(in));
}

}  // namespace tally::engine::guest
