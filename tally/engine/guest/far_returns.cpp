// Far returns. The processor would load program addresses, not those of the translated code.
#include "tally/engine/context.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/mix_rows.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 code_selector = 0x33, stack_selector = 0x2b;  // of every 64-bit program
/// The flags that a program may change: arithmetic flags, direction, nested task, alignment check, ID.
constexpr u64 own_flags = 0x8d5 | direction_flag | nested_task_flag | alignment_flag | id_flag;

struct Form {
  u8 opcode = 0;
  u32 bytes = 4;     // of each popped word
  u64 released = 0;  // bytes of the stack that it releases after them
};

bool read_form(u64 pc, Form& form) {
  u8 bytes[16] = {};
  const u32 n = read_code(pc, bytes, 15);
  bool narrow = false, wide = false;
  for (u32 i = 0; i < n; i++) {
    const u8 b = bytes[i];
    if (b == 0xca || b == 0xcb || b == 0xcf) {
      form.opcode = b;
      form.bytes = wide ? 8 : narrow ? 2 : 4;
      if (b == 0xca) form.released = static_cast<u64>(bytes[i + 1] | bytes[i + 2] << 8);
      return n >= i + (b == 0xca ? 3u : 1u);
    }
    wide = (b & 0xf8) == 0x48;  // a prefix is effective only if it is the last one
    narrow |= b == 0x66;
  }
  return false;
}

/// Emulates the return if it stays in the code segment and its flags have no side effect. The processor executes all
/// others.
bool returns(Thread* t, const Form& form) {
  const bool from_interrupt = form.opcode == 0xcf;
  const u32 n = from_interrupt ? 5 : 2;
  u8 stack[40];
  if (get(stack, t->gpr[rsp], n * form.bytes) != 0) return false;
  u64 words[5] = {};
  for (u32 i = 0; i < n; i++) __builtin_memcpy(&words[i], stack + i * form.bytes, form.bytes);
  const u64 pc = words[0], flags = words[2];
  if (t->traces_itself != 0 || pc >> 47 != 0 || (words[1] & 0xffff) != code_selector) return false;
  if (!from_interrupt) {
    t->gpr[rsp] += 2 * form.bytes + form.released;
    t->pc = pc;
    return true;
  }
  if ((t->flags & nested_task_flag) != 0 || (flags & trap_flag) != 0 || (words[4] & 0xffff) != stack_selector)
    return false;
  t->flags = (t->flags & ~own_flags) | (flags & own_flags);
  t->gpr[rsp] = words[3];
  t->pc = pc;
  return true;
}

/// Subtracts the counts of the instruction from its segment because it has not retired.
void take_back(Thread* t) {
  u8 bytes[16] = {};
  Instruction in;
  channel::Totals delta;
  delta.field[channel::instructions] = delta.field[channel::far] = -1;
  if (decode(t->pc, bytes, read_code(t->pc, bytes, 15), in)) {
    delta.field[channel::loads] = -s64{in.loads};
    if (translate::counts_mix()) translate::add_mix(delta, translate::mix_of(in), -1);
  }
  correct(t, t->pc, delta);
}

}  // namespace

extern "C" void far_return(Thread* t) {
  Form form;
  if (read_form(t->pc, form) && form.bytes != 2 && returns(t, form)) return dispatch(t);
  // At its own address the instruction does what it does natively.
  take_back(t);
  t->pad |= pad_step;
}

}  // namespace tally::engine::guest
