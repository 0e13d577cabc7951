/// Emits the forms of machine code that probes of a model's tables consist of.
#pragma once
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/sites.hpp"

namespace tally::engine::instrument {

/// OP reg, gs:[index * 2^scale + offset]; index may be no_register.
inline void table_access(Emitter& e, u8 opcode, u8 reg, u8 index, u32 scale, u32 offset) {
  e.byte(0x65);
  if (index != no_register && scale == 0 && (index & 7) != rsp) {
    e.rex_w(reg, index);
    e.byte(opcode);
    e.byte(static_cast<u8>(0x80 | (reg & 7) << 3 | (index & 7)));
    e.dword(offset);
    return;
  }
  const bool indexed = index != no_register;
  e.byte(static_cast<u8>(0x48 | (reg >> 3) << 2 | (indexed ? index >> 3 : 0) << 1));
  e.byte(opcode);
  e.byte(static_cast<u8>(4 | (reg & 7) << 3));
  e.byte(static_cast<u8>(scale << 6 | (indexed ? index & 7 : 4) << 3 | 5));
  e.dword(offset);
}

/// OP r32, r32
enum class Between : u8 { bit_xor = 0x31, move = 0x89 };
inline void low_halves(Emitter& e, Between operation, u8 to, u8 from) {
  if ((to | from) >> 3) e.byte(static_cast<u8>(0x40 | (from >> 3) << 2 | to >> 3));
  e.byte(static_cast<u8>(operation));
  e.byte(static_cast<u8>(0xc0 | (from & 7) << 3 | (to & 7)));
}

/// MOV r64, r64
inline void wide_move(Emitter& e, u8 to, u8 from) {
  e.rex_w(from, to);
  e.byte(0x89);
  e.byte(static_cast<u8>(0xc0 | (from & 7) << 3 | (to & 7)));
}

/// AND r32, constant
inline void and_low(Emitter& e, u8 reg, u32 value) {
  if (reg >> 3) e.byte(0x41);
  e.byte(0x81);
  e.byte(static_cast<u8>(0xe0 | (reg & 7)));
  e.dword(value);
}

/// SHR r32, n
inline void shift_right(Emitter& e, u8 reg, u32 n) {
  if (reg >> 3) e.byte(0x41);
  e.byte(0xc1);
  e.byte(static_cast<u8>(0xe8 | (reg & 7)));
  e.byte(static_cast<u8>(n));
}

/// A number of 8 bits, sign-extended, or of 32
inline void put_number(Emitter& e, bool small, s32 value) {
  if (small)
    e.byte(static_cast<u8>(value));
  else
    e.dword(static_cast<u32>(value));
}

/// The bytes of [base + displacement] after an instruction's code, with a register or a part of the code
inline void put_operand(Emitter& e, u8 reg, u8 base, s32 displacement) {
  const bool small = displacement == static_cast<s8>(displacement);
  e.byte(static_cast<u8>((small ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7)));
  if ((base & 7) == rsp) e.byte(0x24);
  put_number(e, small, displacement);
}

/// LEA to, [base + index * 2^scale + displacement]
inline void address_of(Emitter& e, u8 to, u8 base, u8 index, u32 scale, s32 displacement, bool low) {
  const bool based = base != no_register, indexed = index != no_register;
  if (low) e.byte(0x67);
  e.byte(static_cast<u8>(0x48 | (to >> 3) << 2 | (indexed ? index >> 3 : 0) << 1 | (based ? base >> 3 : 0)));
  e.byte(0x8d);
  const bool none = based && displacement == 0 && (base & 7) != rbp;
  const bool small = based && displacement == static_cast<s8>(displacement);
  const u8 mode = static_cast<u8>(!based || none ? 0 : small ? 0x40 : 0x80);
  if (based && !indexed && (base & 7) != rsp) {
    e.byte(static_cast<u8>(mode | (to & 7) << 3 | (base & 7)));
  } else {
    e.byte(static_cast<u8>(mode | 4 | (to & 7) << 3));
    e.byte(static_cast<u8>(scale << 6 | (indexed ? index & 7 : 4) << 3 | (based ? base & 7 : 5)));
  }
  if (!none) put_number(e, small, displacement);
}

inline void read_fs_base(Emitter& e, u8 reg) {
  e.byte(0xf3);
  e.rex_w(0, reg);
  e.byte(0x0f);
  e.byte(0xae);
  e.byte(static_cast<u8>(0xc0 | (reg & 7)));
}

/// gs:[offset] = a constant: 64 bits, sign-extended, or 32 bits
inline void store_constant(Emitter& e, u32 offset, u32 value, bool wide = true) {
  e.byte(0x65);
  if (wide) e.byte(0x48);
  static const u8 code[] = {0xc7, 0x04, 0x25};
  e.bytes(code, sizeof code);
  e.dword(offset);
  e.dword(value);
}

/// TEST r32, constant
inline void test_dword(Emitter& e, u8 reg, u32 value) {
  if (reg >> 3) e.byte(0x41);
  e.byte(0xf7);
  e.byte(static_cast<u8>(0xc0 | (reg & 7)));
  e.dword(value);
}

/// AND, CMP r64, constant, sign-extended
enum class Arithmetic : u8 { conjunction = 0xe0, comparison = 0xf8 };
inline void with_constant(Emitter& e, Arithmetic operation, u8 reg, s32 value) {
  const bool small = value == static_cast<s8>(value);
  e.rex_w(0, reg);
  e.byte(small ? 0x83 : 0x81);
  e.byte(static_cast<u8>(static_cast<u8>(operation) | (reg & 7)));
  put_number(e, small, value);
}
inline void and_wide(Emitter& e, u8 reg, s32 value) { with_constant(e, Arithmetic::conjunction, reg, value); }
inline void compare_wide(Emitter& e, u8 reg, s32 value) { with_constant(e, Arithmetic::comparison, reg, value); }

/// TEST r8, constant
inline void test_byte(Emitter& e, u8 reg, u8 value) {
  e.byte(static_cast<u8>(0x40 | reg >> 3));
  e.byte(0xf6);
  e.byte(static_cast<u8>(0xc0 | (reg & 7)));
  e.byte(value);
}

/// CMOVNE r64, r64
inline void move_if_not_equal(Emitter& e, u8 to, u8 from) {
  e.rex_w(to, from);
  e.byte(0x0f);
  e.byte(0x45);
  e.byte(static_cast<u8>(0xc0 | (to & 7) << 3 | (from & 7)));
}

/// [base + displacement] = reg
inline void store_at(Emitter& e, u8 base, u8 reg, u32 displacement) {
  e.rex_w(reg, base);
  e.byte(0x89);
  put_operand(e, reg, base, static_cast<s32>(displacement));
}

/// [base] = a constant, of 64 bits, sign-extended
inline void store_at(Emitter& e, u8 base, u32 value) {
  e.rex_w(0, base);
  e.byte(0xc7);
  put_operand(e, 0, base, 0);
  e.dword(value);
}

/// dword [base + displacement] = a constant
inline void store_dword_at(Emitter& e, u8 base, u32 value, u32 displacement) {
  if (base >> 3) e.byte(0x41);
  e.byte(0xc7);
  put_operand(e, 0, base, static_cast<s32>(displacement));
  e.dword(value);
}

/// dword [base + displacement] = a register's low half
inline void store_dword_at(Emitter& e, u8 base, u8 reg, u8 displacement) {
  if ((base | reg) >> 3) e.byte(static_cast<u8>(0x40 | (reg >> 3) << 2 | base >> 3));
  e.byte(0x89);
  put_operand(e, reg, base, displacement);
}

/// MOV reg, [base + displacement]
inline void load_at(Emitter& e, u8 reg, u8 base, s8 displacement) {
  e.rex_w(reg, base);
  e.byte(0x8b);
  put_operand(e, reg, base, displacement);
}

/// ADD qword gs:[offset], constant; the flags are lost
inline void add_byte(Emitter& e, u32 offset, u8 value) {
  static const u8 code[] = {0x65, 0x48, 0x83, 0x04, 0x25};
  e.bytes(code, sizeof code);
  e.dword(offset);
  e.byte(value);
}

/// MOV reg, an address of the program or its negation
inline void move_address(Emitter& e, u8 reg, u64 address) {
  if (address <= 0xffffffffu)
    recorder.fix_at(Fix::low_address, e.p + 1 + (reg >> 3), address);
  else
    recorder.fix_at(Fix::address, e.p + 2, address);
  e.move_constant(reg, address);
}
inline void move_negated(Emitter& e, u8 reg, u64 address) {
  recorder.fix_at(Fix::negated, e.p + 2, address);
  e.move_constant(reg, 0 - address);
}
/// CMP dword gs:[offset], constant
inline void compare_dword(Emitter& e, u32 offset, u32 value) {
  static const u8 compare[] = {0x65, 0x81, 0x3c, 0x25};
  e.bytes(compare, sizeof compare);
  e.dword(offset);
  e.dword(value);
}

/// Increments the counter of the k-th site of the instruction at `pc`; the flags are lost
inline void count_site(Emitter& e, u64 pc, u32 k) {
  static const u8 increment[] = {0x65, 0xff, 0x04, 0x25};  // inc dword gs:[…]
  e.bytes(increment, sizeof increment);
  recorder.fix_at(Fix::site, e.p, pc, k);
  e.dword(site_at(pc, k));
}

/// MOV between a byte at gs:[offset] and a register, whose other bytes a load clears
enum class Byte : u16 { load = 0xb60f, store = 0x88 };
inline void byte_access(Emitter& e, Byte access, u8 reg, u32 offset) {
  e.byte(0x65);
  e.byte(static_cast<u8>(0x40 | (reg >> 3) << 2));
  e.byte(static_cast<u8>(access));
  if (access == Byte::load) e.byte(static_cast<u8>(static_cast<u16>(access) >> 8));
  e.byte(static_cast<u8>(4 | (reg & 7) << 3));
  e.byte(0x25);
  e.dword(offset);
}

inline void extend_byte(Emitter& e, u8 reg) {
  e.byte(static_cast<u8>(0x40 | (reg >> 3) << 2 | reg >> 3));
  e.byte(0x0f);
  e.byte(0xb6);
  e.byte(static_cast<u8>(0xc0 | (reg & 7) << 3 | (reg & 7)));
}

/// Emits a jump (conditional unless `condition` is negative); returns the address of its displacement, which is not set
/// yet.
inline u8* jump_if(Emitter& e, int condition) {
  if (condition < 0)
    e.byte(0xe9);
  else
    e.byte(0x0f), e.byte(static_cast<u8>(0x80 | condition));
  e.p += 4;
  return e.p - 4;
}
inline void set_jump_target(u8* displacement, u64 to) {
  const u32 d = static_cast<u32>(to - reinterpret_cast<u64>(displacement) - 4);
  __builtin_memcpy(displacement, &d, 4);
  recorder.refer(displacement, to);
}
inline void jump_to(Emitter& e, u64 to) { set_jump_target(jump_if(e, -1), to); }

enum Condition : int { equal = 4, not_equal = 5, above = 7 };

/// Calls the model, whose argument is set, and returns to `back` (0: to what follows). `reg` is lost.
inline void ask(Emitter& e, u64 entry, u32 word, u8 reg, u64 back) {
  store_constant(e, o_model_word, word);
  e.rex_w(reg, 0);  // lea reg, [rip + …]
  e.byte(0x8d);
  e.byte(static_cast<u8>(5 | (reg & 7) << 3));
  u8* const displacement = e.p;
  e.p += 4;
  e.store(reg, o_model_back);
  jump_to(e, entry);
  set_jump_target(displacement, back != 0 ? back : e.here());
}

/// Flags pass through rax, which is saved in `other`; with no_register in memory, for which the next use of rax waits.
inline void save_rax(Emitter& e, u8 other) {
  if (other != no_register)
    wide_move(e, other, rax);
  else
    e.store(rax, o_model_rax);
}
inline void restore_rax(Emitter& e, u8 other) {
  if (other != no_register)
    wide_move(e, rax, other);
  else
    e.load(rax, o_model_rax);
}
inline void save_flags(Emitter& e, u8 other) {
  save_rax(e, other);
  e.save_flags();
  e.store(rax, o_model_flags);
  restore_rax(e, other);
}
inline void restore_flags(Emitter& e, u8 other) {
  save_rax(e, other);
  e.load(rax, o_model_flags);
  e.restore_flags();
  restore_rax(e, other);
}

/// Loads the address of an access. If it is relative to FS, `other` is lost.
inline void load_address(Emitter& e, const DataAccess& a, u8 to, u8 other) {
  if (a.fixed && !a.fs) return move_address(e, to, static_cast<u64>(a.displacement));
  address_of(e, to, a.base, a.index, a.scale, static_cast<s32>(a.displacement), a.low);
  if (!a.fs) return;
  read_fs_base(e, other);
  address_of(e, to, to, other, 0, 0, false);
}

}  // namespace tally::engine::instrument
