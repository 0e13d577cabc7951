#include "tally/engine/translate/protection_keys.hpp"

namespace tally::engine::translate {
namespace {

u32 read_keys() {
  u32 denied, zero;
  asm volatile("rdpkru" : "=a"(denied), "=d"(zero) : "c"(0));
  return denied;
}

void write_keys(u32 denied) { asm volatile("wrpkru" ::"a"(denied), "c"(0), "d"(0) : "memory"); }

bool ask_processor() {
  u32 a = 7, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 4 & 1) != 0;  // OSPKE
}

}  // namespace

bool has_protection_keys() {
  enum State : u32 { unknown, absent, present };
  static u32 known;
  u32 state = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (state == unknown) {
    state = ask_processor() ? present : absent;
    __atomic_store_n(&known, state, __ATOMIC_RELAXED);
  }
  return state == present;
}

EveryKey::EveryKey() : before_(read_keys()) { write_keys(0); }
EveryKey::~EveryKey() { write_keys(before_); }

bool sets_protection_keys(const Instruction& in) {
  constexpr u8 wrpkru = 0xef;
  return in.legacy && in.map == Map::two_bytes && in.opcode == 0x01 && in.modrm == wrpkru;
}

void emit_key_check(Builder& b) {
  recorder.give_up();  // of use only to machines like this one
  if (!has_protection_keys()) return;
  Emitter& e = b.e;
  Emitter denied{reinterpret_cast<u8*>(b.arena.cold)};
  const u64 away = denied.here();
  denied.store(r11, o_borrowed_r11);
  denied.move_constant(rcx, b.trace.pc);
  denied.jump(b.arena.to_key_denied);
  b.arena.cold = denied.here();

  e.store(rcx, o_borrowed_rcx);
  // ecx = eax << 30: what is left are the bits of key 0. A shift would change the flags.
  static const u8 first[] = {0x8d, 0x0c, 0xc5, 0, 0, 0, 0};  // lea ecx, [rax * 8]
  static const u8 more[] = {0x8d, 0x0c, 0xcd, 0, 0, 0, 0};   // lea ecx, [rcx * 8]
  e.bytes(first, sizeof first);
  for (u32 shifted = 3; shifted < 30; shifted += 3) e.bytes(more, sizeof more);
  e.byte(0xe3);  // jrcxz over the jump
  e.byte(5);
  e.jump(away);
  e.load(rcx, o_borrowed_rcx);
}

}  // namespace tally::engine::translate
