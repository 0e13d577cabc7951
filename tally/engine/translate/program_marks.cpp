#include "tally/engine/translate/program_marks.hpp"

#include "tally/engine/translate/entry.hpp"

namespace tally::engine::translate {
namespace {

constexpr const MarkDialect* dialects[] = {
#define TALLY_MARKS(name, opcode) &instrument::name##_marks,
#include "tally/engine/channel/mark_dialects.inc"
};

/// Whether the first `n` bytes of a mark are these.
bool has_bytes(const MarkDialect& dialect, const u8* bytes, u32 n) {
  for (u32 i = 0; i < n; i++)
    if (bytes[i] != dialect.code[i]) return false;
  return true;
}

bool is_at(u64 pc, const MarkDialect& dialect) {
  u8 code[MarkDialect::most_bytes];
  return safe_copy(code, reinterpret_cast<const void*>(pc), dialect.bytes) == 0 &&
         has_bytes(dialect, code, dialect.bytes);
}

}  // namespace

const MarkDialect* mark_of(const Instruction& in) {
  for (const MarkDialect* const dialect : dialects) {
    const u32 n = dialect->first_bytes;
    if (in.length != n || !has_bytes(*dialect, in.bytes, n)) continue;
    if (dialect->instructions == 1 || is_at(in.pc, *dialect)) return dialect;
  }
  return nullptr;
}

const MarkDialect* mark_at(u64 pc) {
  for (const MarkDialect* const dialect : dialects)
    if (is_at(pc, *dialect)) return dialect;
  return nullptr;
}

u32 offset_in_mark(u64 pc, u32 i) {
  // Illegal marks are one instruction. Without a dialect, the code has changed.
  const MarkDialect* const dialect = i == 0 ? nullptr : mark_at(pc);
  return dialect == nullptr ? 0 : i * dialect->first_bytes;
}

void emit_mark_gate(Builder& b) {
  recorder.give_up();
  if (settings().parts.on == 0 && settings().parts.as_valgrind == 0) return;
  if (b.trace.gate != 0) return;  // the gate of a marked address (instrument/mark_probes.hpp) handles both
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
