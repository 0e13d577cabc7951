/// Writes the machine code forms that generated code needs. Checks nothing: the caller ensures that there is room.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::translate {

struct Emitter {
  u8* p = nullptr;

  u64 here() const { return reinterpret_cast<u64>(p); }
  void byte(u8 b) { *p++ = b; }
  void bytes(const u8* from, u32 n) {
    for (u32 i = 0; i < n; i++) *p++ = from[i];
  }
  /// Copies the bytes of an instruction. 16 bytes must be readable at `from` and writable here.
  void instruction(const u8* from, u32 n) {
    __builtin_memcpy(p, from, 8);
    __builtin_memcpy(p + 8, from + 8, 8);
    p += n;
  }
  /// Copies many bytes, in words: reads and writes up to seven more.
  void words(const u8* from, u32 n) {
    for (u32 i = 0; i < n; i += 8) __builtin_memcpy(p + i, from + i, 8);
    p += n;
  }
  void dword(u32 v) {
    __builtin_memcpy(p, &v, 4);
    p += 4;
  }
  void qword(u64 v) {
    __builtin_memcpy(p, &v, 8);
    p += 8;
  }
  void rex_w(u8 reg, u8 rm) { byte(static_cast<u8>(0x48 | (reg >> 3) << 2 | rm >> 3)); }

  /// OP reg, gs:[offset] with 64-bit operands; 0x89 stores, 0x8b loads. 9 bytes.
  void gs_access(u8 opcode, u8 reg, u32 offset) {
    byte(0x65);
    rex_w(reg, 0);
    byte(opcode);
    byte(static_cast<u8>(4 | (reg & 7) << 3));
    byte(0x25);
    dword(offset);
  }
  void store(u8 reg, u32 offset) { gs_access(0x89, reg, offset); }
  void load(u8 reg, u32 offset) { gs_access(0x8b, reg, offset); }

  void move_constant(u8 reg, u64 v) {
    if (v <= 0xffffffffu) {
      if (reg >> 3) byte(0x41);
      byte(static_cast<u8>(0xb8 | (reg & 7)));
      dword(static_cast<u32>(v));
    } else {
      rex_w(0, reg);
      byte(static_cast<u8>(0xb8 | (reg & 7)));
      qword(v);
    }
  }
  /// lea reg, [reg + n]
  void add_constant(u8 reg, u8 n) {
    rex_w(reg, reg);
    byte(0x8d);
    byte(static_cast<u8>(0x40 | (reg & 7) << 3 | (reg & 7)));
    if ((reg & 7) == rsp) byte(0x24);
    byte(n);
  }
  /// lea to, [a + b]; b is not rsp, a is neither rbp nor r13.
  void add_registers(u8 to, u8 a, u8 b) {
    byte(static_cast<u8>(0x48 | (to >> 3) << 2 | (b >> 3) << 1 | a >> 3));
    byte(0x8d);
    byte(static_cast<u8>(4 | (to & 7) << 3));
    byte(static_cast<u8>((b & 7) << 3 | (a & 7)));
  }
  void not_register(u8 reg) {
    rex_w(0, reg);
    byte(0xf7);
    byte(static_cast<u8>(0xd0 | (reg & 7)));
  }
  /// rax = the arithmetic flags: lahf; seto al. restore_flags() loads them from rax, which changes.
  void save_flags() {
    static const u8 code[] = {0x9f, 0x0f, 0x90, 0xc0};
    bytes(code, sizeof code);
  }
  void restore_flags() {
    static const u8 code[] = {0x04, 0x7f, 0x9e};  // add al, 127; sahf
    bytes(code, sizeof code);
  }
  void jump(u64 to) {
    byte(0xe9);
    dword(static_cast<u32>(to - here() - 4));
  }
  void nops(u32 n) {
    static const u8 forms[9][9] = {{0x90},
                                   {0x66, 0x90},
                                   {0x0f, 0x1f, 0x00},
                                   {0x0f, 0x1f, 0x40, 0},
                                   {0x0f, 0x1f, 0x44, 0, 0},
                                   {0x66, 0x0f, 0x1f, 0x44, 0, 0},
                                   {0x0f, 0x1f, 0x80, 0, 0, 0, 0},
                                   {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
                                   {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}};
    while (n > 0) {
      const u32 k = n < 9 ? n : 9;
      bytes(forms[k - 1], k);
      n -= k;
    }
  }
};

}  // namespace tally::engine::translate
