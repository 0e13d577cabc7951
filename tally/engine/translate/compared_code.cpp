#include "tally/engine/translate/compared_code.hpp"

#include "tally/engine/translate/entry.hpp"

namespace tally::engine::translate {
namespace {

/// Emits mov rcx, the `bytes` bytes at program address `address`, zero-extended.
void load_bytes(Emitter& e, u64 address, u32 bytes) {
  static const u8 byte[] = {0x0f, 0xb6}, word[] = {0x0f, 0xb7}, dword[] = {0x8b}, qword[] = {0x48, 0x8b};
  constexpr u32 longest = 7;
  const bool near = fits32(static_cast<s64>(address - e.here()) - longest);
  if (!near) e.move_constant(rcx, address);
  switch (bytes) {
    case 1: e.bytes(byte, sizeof byte); break;
    case 2: e.bytes(word, sizeof word); break;
    case 4: e.bytes(dword, sizeof dword); break;
    default: e.bytes(qword, sizeof qword); break;
  }
  e.byte(near ? 0x0d : 0x09);  // [rip + …] or [rcx]
  if (near) e.dword(static_cast<u32>(address - e.here() - 4));
}

/// The number of bytes to compare next if `left` bytes remain.
u32 chunk_bytes(u32 left) { return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1; }

}  // namespace

void emit_comparison(Builder& b, const Instruction* in, u32 n) {
  constexpr u32 limit = 64 * 15;
  u8 code[limit + 8] = {};
  u32 bytes = 0;
  for (u32 i = 0; i < n; bytes += in[i++].length) copy(code + bytes, in[i].bytes, in[i].length);
  note_compared(in[0].pc, code, bytes);
  Emitter& e = b.e;
  e.store(rcx, o_borrowed_rcx);
  e.store(r11, o_borrowed_r11);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  const u64 mismatch = stub.here();
  stub.move_constant(rcx, b.trace.pc);
  stub.jump(b.arena.to_unlike);
  b.arena.cold = stub.here();
  for (u32 at = 0; at < bytes;) {
    const u32 chunk = chunk_bytes(bytes - at);
    u64 value = 0;
    copy(&value, code + at, chunk);
    load_bytes(e, in[0].pc + at, chunk);
    e.move_constant(r11, 0 - value);
    e.add_registers(rcx, rcx, r11);
    e.byte(0xe3);  // jrcxz over the jump
    e.byte(5);
    e.jump(mismatch);
    at += chunk;
  }
  e.load(r11, o_borrowed_r11);
  e.load(rcx, o_borrowed_rcx);
  b.trace.compared = b.offset();
}

extern "C" void found_unlike(Thread* t) {
  {
    Guard guard(cache_lock);
    // Another thread may have been here first.
    const Trace* const trace = cache_is_damaged() ? nullptr : find_trace(key_of(t->pc, t->in_steps != 0));
    if (trace != nullptr && trace->compared != 0) drop_compared(t->pc);
  }
  dispatch(t);
}

}  // namespace tally::engine::translate
