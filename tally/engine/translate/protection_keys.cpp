#include "tally/engine/translate/protection_keys.hpp"

namespace tally::engine::translate {
namespace {

u32 read_keys() {
  u32 denied, zero;
  asm volatile("rdpkru" : "=a"(denied), "=d"(zero) : "c"(0));
  return denied;
}

void write_keys(u32 denied) { asm volatile("wrpkru" ::"a"(denied), "c"(0), "d"(0) : "memory"); }

/// Emits a jump over the next jump, if key 0 stays allowed. Changes rcx.
void emit_condition(Emitter& e, const Instruction& in) {
  // Move the two deciding bits to the low end of ecx: for xrstor bit 9, the register's, and bit 8, which is never
  // enabled.
  static const u8 from_eax[] = {0x89, 0xc1}, from_ah[] = {0x0f, 0xb6, 0xcc};  // mov ecx, eax; movzx ecx, ah
  if (key_setter(in) == KeySetter::wrpkru)
    e.bytes(from_eax, sizeof from_eax);
  else
    e.bytes(from_ah, sizeof from_ah);
  // Shift all other bits out at the upper end of ecx. A shift instruction would change the flags.
  static const u8 shift_by_3[] = {0x8d, 0x0c, 0xcd, 0, 0, 0, 0};  // lea ecx, [rcx * 8]
  for (u32 shifted = 0; shifted < 30; shifted += 3) e.bytes(shift_by_3, sizeof shift_by_3);
  e.byte(0xe3);  // jrcxz over the jump
  e.byte(5);
}

}  // namespace

bool has_protection_keys() { return settings().protection_keys != 0; }

ScopedKeys::ScopedKeys(u32 denied) : before_(read_keys()) { write_keys(denied); }
ScopedKeys::~ScopedKeys() { write_keys(before_); }

KeySetter key_setter(const Instruction& in) {
  constexpr u8 wrpkru = 0xef, xrstor = 5;
  if (!in.legacy || in.map != Map::two_bytes) return KeySetter::none;
  if (in.opcode == 0x01 && in.modrm == wrpkru) return KeySetter::wrpkru;
  return in.opcode == 0xae && in.mod() != 3 && (in.modrm >> 3 & 7) == xrstor ? KeySetter::xrstor : KeySetter::none;
}

void emit_key_check(Builder& b, const Instruction& in) {
  recorder.give_up();  // templates do not contain the jumps into the engine
  Emitter& e = b.e;
  const u64 stub_at = b.arena.cold;
  e.store(rcx, o_borrowed_rcx);
  if (is_old_call(in)) {
    e.jump(stub_at);
  } else {
    emit_condition(e, in);
    e.jump(stub_at);
    e.load(rcx, o_borrowed_rcx);
  }

  Emitter stub{reinterpret_cast<u8*>(stub_at)};
  stub.store(r11, o_borrowed_r11);
  stub.move_constant(rcx, b.trace.pc);
  stub.move_constant(r11, e.here());
  stub.jump(b.arena.to_key_check);
  b.arena.cold = stub.here();
}

}  // namespace tally::engine::translate
