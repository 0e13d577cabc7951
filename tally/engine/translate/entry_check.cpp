#include "tally/engine/translate/entry_check.hpp"

namespace tally::engine::translate {

u32 entry_check_bytes(u64 pc) {
  return (pc < 0x7fffffff ? 7 : 10) + 4 + 2 + 5 + 18 + (settings().loop_is_fast != 0 ? 4 : 0);
}

u64 emit_entry_check(const Arena& a, Emitter& e, u64 pc) {
  // rcx = the target, r11 is free, both are saved. The flags are the program's, so rcx - pc is compared with zero
  // without them. If `loop` is fast, it is taken only for another target: a taken branch would occupy an entry of the
  // branch predictor that the program needs. `loop` decrements rcx first, hence the additional 1.
  const bool by_loop = settings().loop_is_fast != 0;
  const u64 miss_jump = e.here();
  if (by_loop) {
    e.add_constant(rcx, 1);
    e.jump(a.to_indirect);
  }
  const u64 entry = e.here(), constant = by_loop ? 1 - pc : -pc;
  if (pc < 0x7fffffff) {
    e.byte(0x49);
    e.byte(0xc7);
    e.byte(0xc3);
    e.dword(static_cast<u32>(constant));
  } else {
    e.move_constant(r11, constant);
  }
  e.add_registers(rcx, rcx, r11);
  if (by_loop) {
    e.byte(0xe2);  // loop
    e.byte(static_cast<u8>(miss_jump - e.here() - 1));
  } else {
    e.byte(0xe3);  // jrcxz over the jump
    e.byte(5);
    e.jump(a.to_indirect);
  }
  e.load(r11, o_borrowed_r11);
  e.load(rcx, o_borrowed_rcx);
  return entry;
}

}  // namespace tally::engine::translate
