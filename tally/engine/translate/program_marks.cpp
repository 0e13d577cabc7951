#include "tally/engine/translate/program_marks.hpp"

#include "tally/engine/translate/entry.hpp"

namespace tally::engine::translate {
namespace {

/// Four rotations of rdi, together by 128 bits, and xchg rbx, rbx: see valgrind.h.
constexpr u8 request[] = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1,
                          0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb};
/// nop with prefixes that it does not need.
constexpr u8 ssc[] = {0x64, 0x67, 0x90};
/// xchg bx, bx
constexpr u8 sniper[] = {0x66, 0x87, 0xdb};

template <u32 n>
bool is_equal(const u8* bytes, const u8 (&expected)[n]) {
  return __builtin_memcmp(bytes, expected, n) == 0;
}

}  // namespace

ProgramMark mark_of(const Instruction& in) {
  if (in.length == sizeof ssc && is_equal(in.bytes, ssc)) return ProgramMark::ssc;
  if (in.length == sizeof sniper && is_equal(in.bytes, sniper)) return ProgramMark::sniper;
  const bool starts_request = in.length == 4 && __builtin_memcmp(in.bytes, request, 4) == 0;
  return starts_request ? mark_at(in.pc) : ProgramMark::none;
}

ProgramMark mark_at(u64 pc) {
  u8 bytes[sizeof request] = {};
  const u64 missing = safe_copy(bytes, reinterpret_cast<const void*>(pc), sizeof bytes);
  if (missing == 0 && is_equal(bytes, request)) return ProgramMark::valgrind;
  if (missing > sizeof request - sizeof ssc) return ProgramMark::none;
  return is_equal(bytes, ssc) ? ProgramMark::ssc : is_equal(bytes, sniper) ? ProgramMark::sniper : ProgramMark::none;
}

void emit_mark_gate(Builder& b) {
  recorder.give_up();
  if (settings().parts.on == 0 && settings().parts.as_valgrind == 0) return;
  if (b.trace.gate != 0) return;  // the gate of a marked address (instrument/marks.hpp) handles both
  static const u8 jump_r11[] = {0x41, 0xff, 0xe3};
  Emitter& e = b.e;
  e.store(rcx, o_borrowed_rcx);
  e.store(r11, o_borrowed_r11);
  e.move_constant(rcx, b.trace.pc);
  e.move_constant(r11, reinterpret_cast<u64>(&enter_program_mark));
  e.bytes(jump_r11, sizeof jump_r11);
  b.trace.gate = b.offset();
}

}  // namespace tally::engine::translate
