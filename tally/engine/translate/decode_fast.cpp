// A table-driven decoder for the forms of nearly all compiled code. It returns the same results as libZydis in a tenth
// of the time. A test compares the two over every opcode, ModRM byte and prefix that this decoder accepts.
#include <initializer_list>

#include "tally/engine/translate/decode.hpp"

namespace tally::engine::translate {
namespace {

constexpr u16 all_flags = counter_flags;
constexpr u16 borrow_flags = counter_flags & ~adjust;  // of sbb, according to libZydis

/// Properties of an opcode, as bits.
enum Shape : u16 {
  known = 1,
  has_modrm = 2,
  byte_wide = 4,
  reads_rm = 8,    // a load when the operand is in memory
  writes_rm = 16,  // a store
  immediate_8 = 32,
  immediate_z = 64,  // 4 bytes, 2 with an operand-size prefix
  pushes = 128,
  pops = 256,
  by_reg = 512,        // the ModRM byte's middle field is part of the opcode: see group()
  memory_only = 1024,  // with register operands it is another instruction, or none
  register_only = 2048,
  width_fixed = 4096,  // an operand-size prefix is part of the opcode or changes the instruction: not decoded here
};

struct Form {
  u16 shape = 0;
  u16 reads = 0, writes = 0;
  Kind kind = Kind::plain;
};

/// The flags that a condition code reads, by its number without the lowest bit. The carry is not tracked here.
constexpr u16 conditions[8] = {overflow, 0, zero, zero, sign, parity, sign | overflow, sign | overflow | zero};

struct Forms {
  Form one[256];
  Form two[4][256];  // by mandatory prefix: none, 66, F3, F2
};

constexpr void arithmetic(Forms& t) {
  for (u8 row = 0; row < 8; row++) {
    const u8 o = static_cast<u8>(row * 8);
    const u16 flags = row == 3 ? borrow_flags : all_flags;
    const u16 target = row == 7 ? u16{reads_rm} : u16{reads_rm | writes_rm};  // cmp writes nothing
    t.one[o] = {static_cast<u16>(known | has_modrm | byte_wide | target), 0, flags};
    t.one[o + 1] = {static_cast<u16>(known | has_modrm | target), 0, flags};
    t.one[o + 2] = {known | has_modrm | byte_wide | reads_rm, 0, flags};
    t.one[o + 3] = {known | has_modrm | reads_rm, 0, flags};
    t.one[o + 4] = {known | byte_wide | immediate_8, 0, flags};
    t.one[o + 5] = {known | immediate_z, 0, flags};
  }
  t.one[0x80] = {known | has_modrm | byte_wide | immediate_8 | by_reg, 0, all_flags};
  t.one[0x81] = {known | has_modrm | immediate_z | by_reg, 0, all_flags};
  t.one[0x83] = {known | has_modrm | immediate_8 | by_reg, 0, all_flags};
  t.one[0x84] = {known | has_modrm | byte_wide | reads_rm, 0, all_flags};
  t.one[0x85] = {known | has_modrm | reads_rm, 0, all_flags};
  t.one[0xa8] = {known | byte_wide | immediate_8, 0, all_flags};
  t.one[0xa9] = {known | immediate_z, 0, all_flags};
  t.one[0x69] = {known | has_modrm | reads_rm | immediate_z, 0, overflow};
  t.one[0x6b] = {known | has_modrm | reads_rm | immediate_8, 0, overflow};
  for (const u8 o : {0xc0, 0xd0, 0xd2, 0xf6, 0xfe}) {
    t.one[o] = {known | has_modrm | byte_wide | by_reg};
    t.one[o + 1] = {known | has_modrm | by_reg};
  }
  t.one[0xc0].shape |= immediate_8;
  t.one[0xc1].shape |= immediate_8;
}

constexpr void moves(Forms& t) {
  for (u8 r = 0; r < 8; r++) {
    t.one[0x50 + r] = {known | pushes | width_fixed};
    t.one[0x58 + r] = {known | pops | width_fixed};
    t.one[0xb0 + r] = {known | byte_wide | immediate_8};
    t.one[0xb8 + r] = {known | immediate_z};
    if (r != 0) t.one[0x90 + r] = {known};
    t.two[0][0xc8 + r] = {known | width_fixed};
  }
  t.one[0x90] = {known | width_fixed};
  t.one[0x98] = t.one[0x99] = {known};
  t.one[0x63] = {known | has_modrm | reads_rm | width_fixed};
  t.one[0x68] = {known | immediate_z | pushes | width_fixed};
  t.one[0x6a] = {known | immediate_8 | pushes | width_fixed};
  t.one[0x86] = {known | has_modrm | byte_wide | reads_rm | writes_rm};
  t.one[0x87] = {known | has_modrm | reads_rm | writes_rm};
  t.one[0x88] = {known | has_modrm | byte_wide | writes_rm};
  t.one[0x89] = {known | has_modrm | writes_rm};
  t.one[0x8a] = {known | has_modrm | byte_wide | reads_rm};
  t.one[0x8b] = {known | has_modrm | reads_rm};
  t.one[0x8d] = {known | has_modrm | memory_only};
  t.one[0xc6] = {known | has_modrm | byte_wide | immediate_8 | by_reg};
  t.one[0xc7] = {known | has_modrm | immediate_z | by_reg};
  t.one[0xc9] = {known | pops | width_fixed};
}

constexpr void branches(Forms& t) {
  for (u8 c = 0; c < 16; c++) {
    const u16 reads = conditions[c / 2];
    t.one[0x70 + c] = {known | immediate_8 | width_fixed, reads, 0, Kind::jcc};
    t.two[0][0x80 + c] = {known | immediate_z | width_fixed, reads, 0, Kind::jcc};
    for (const u8 prefix : {0, 1}) t.two[prefix][0x40 + c] = {known | has_modrm | reads_rm, reads};
    t.two[0][0x90 + c] = {known | has_modrm | byte_wide | writes_rm | width_fixed, reads};
  }
  t.one[0xc3] = {known | width_fixed, 0, 0, Kind::ret};
  t.one[0xe8] = {known | immediate_z | width_fixed, 0, 0, Kind::call};
  t.one[0xe9] = {known | immediate_z | width_fixed, 0, 0, Kind::jump};
  t.one[0xeb] = {known | immediate_8 | width_fixed, 0, 0, Kind::jump};
  t.one[0xff] = {known | has_modrm | by_reg};
  t.two[0][0x05] = {known | width_fixed, all_flags, 0, Kind::syscall};
}

constexpr void two_byte_integers(Forms& t) {
  for (const u8 prefix : {0, 1}) {  // with an operand-size prefix too
    Form(&f)[256] = t.two[prefix];
    f[0x1f] = {known | has_modrm};
    f[0xaf] = {known | has_modrm | reads_rm, 0, overflow};
    for (const u8 o : {0xb6, 0xb7, 0xbe, 0xbf}) f[o] = {known | has_modrm | reads_rm};
    f[0xa3] = {known | has_modrm | reads_rm};
    for (const u8 o : {0xab, 0xb3, 0xbb}) f[o] = {known | has_modrm | reads_rm | writes_rm};
    f[0xba] = {known | has_modrm | immediate_8 | by_reg};
    for (const u8 o : {0xb1, 0xc1}) f[o] = {known | has_modrm | reads_rm | writes_rm, 0, all_flags};
    for (const u8 o : {0xbc, 0xbd}) f[o] = {known | has_modrm | reads_rm, 0, zero};
  }
  for (const u8 o : {0xb0, 0xc0})
    t.two[0][o] = {known | has_modrm | byte_wide | reads_rm | writes_rm | width_fixed, 0, all_flags};
}

constexpr void vectors(Forms& t) {
  const auto set = [&t](u8 prefixes, u8 opcode, u16 shape) {
    for (u8 p = 0; p < 4; p++)
      if (prefixes >> p & 1) t.two[p][opcode] = {static_cast<u16>(known | has_modrm | shape)};
  };
  constexpr u8 none = 1, p66 = 2, f3 = 4, f2 = 8, packed = none | p66, every = 15;
  for (const u8 o : {0x10, 0x51, 0x58, 0x59, 0x5c, 0x5d, 0x5e, 0x5f, 0x5a}) set(every, o, reads_rm);
  set(every, 0x11, writes_rm);
  set(packed, 0x28, reads_rm);
  set(packed, 0x29, writes_rm);
  set(none, 0x12, reads_rm);
  set(none, 0x16, reads_rm);
  set(p66, 0x12, reads_rm | memory_only);
  set(p66, 0x16, reads_rm | memory_only);
  for (const u8 o : {0x13, 0x17}) set(packed, o, writes_rm | memory_only);
  for (const u8 o : {0x14, 0x15, 0x54, 0x55, 0x56, 0x57}) set(packed, o, reads_rm);
  for (const u8 o : {0x2a, 0x2c, 0x2d}) set(f3 | f2, o, reads_rm);
  for (const u8 o : {0x2e, 0x2f}) {
    set(packed, o, reads_rm);
    t.two[0][o].writes = t.two[1][o].writes = all_flags;
  }
  set(none | p66 | f3, 0x5b, reads_rm);
  set(p66, 0x6e, reads_rm);
  set(p66 | f3, 0x6f, reads_rm);
  set(p66 | f3, 0x7f, writes_rm);
  set(p66, 0x7e, writes_rm);
  set(f3, 0x7e, reads_rm);
  set(p66, 0xd6, writes_rm);
  set(p66, 0xe7, writes_rm | memory_only);
  set(p66, 0xd7, register_only);
  set(p66 | f3 | f2, 0x70, reads_rm | immediate_8);
  set(packed, 0xc6, reads_rm | immediate_8);
  for (const u8 o : {0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x74,
                     0x75, 0x76, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf,
                     0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xed, 0xee, 0xef, 0xf1,
                     0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe})
    set(p66, o, reads_rm);
}

constexpr Forms make_forms() {
  Forms t{};
  arithmetic(t);
  moves(t);
  branches(t);
  two_byte_integers(t);
  vectors(t);
  return t;
}
constexpr Forms forms = make_forms();

/// Opcodes of several instructions, selected by the ModRM byte's middle field. Returns false for unknown ones.
bool group(Map map, u8 opcode, u8 digit, const Instruction& in, Form& f) {
  constexpr u16 both = reads_rm | writes_rm;
  if (map == Map::two_bytes) {  // 0F BA: bt, bts, btr, btc
    f.shape |= digit == 4 ? u16{reads_rm} : both;
    return digit >= 4;
  }
  switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
      if (digit == 3) f.writes = borrow_flags;
      f.shape |= digit == 7 ? u16{reads_rm} : both;
      return true;
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1: {
      // A count of zero changes no flags. The count is the last byte.
      const bool constant = opcode >= 0xd0 || (in.immediate & 31) != 0;
      f.shape |= both;
      f.writes = constant && digit >= 4 ? u16{sign | zero | parity} : u16{0};
      return digit != 6 && digit != 2 && digit != 3;
    }
    case 0xd2:
    case 0xd3: f.shape |= both; return digit != 6 && digit != 2 && digit != 3;
    case 0xf6:
    case 0xf7:
      f.shape |= digit == 2 || digit == 3 ? both : u16{reads_rm};
      if (digit == 3) f.writes = all_flags;
      if (digit == 4 || digit == 5) f.writes = overflow;
      return digit >= 2;  // test has an immediate: not decoded here
    case 0xfe:
    case 0xff:
      if (digit < 2) {
        f.shape |= both;
        f.writes = all_flags;
        return true;
      }
      if (opcode == 0xfe) return false;
      if (digit == 2) f.kind = Kind::call_indirect, f.shape |= pushes | width_fixed | reads_rm;
      if (digit == 4) f.kind = Kind::jump_indirect, f.shape |= width_fixed | reads_rm;
      if (digit == 6) f.shape |= pushes | width_fixed | reads_rm;
      return digit == 2 || digit == 4 || digit == 6;
    case 0xc6:
    case 0xc7: f.shape |= writes_rm; return digit == 0;
    default: return false;
  }
}

s64 read_signed(const u8* p, u32 n) {
  switch (n) {
    case 1: return static_cast<s8>(*p);
    case 2: {
      s16 v;
      __builtin_memcpy(&v, p, 2);
      return v;
    }
    case 4: {
      s32 v;
      __builtin_memcpy(&v, p, 4);
      return v;
    }
    default: {
      s64 v;
      __builtin_memcpy(&v, p, 8);
      return v;
    }
  }
}

struct Prefixes {
  bool p66 = false, f2 = false, f3 = false, fs = false, notrack = false, cs = false;
};

constexpr u32 prefix_limit = 3;

/// Returns the end of the prefixes. Reads at most one more than the limit.
const u8* read_prefixes(const u8* p, Prefixes& found) {
  for (const u8* const end = p + prefix_limit + 1; p != end; p++) switch (*p) {
      case 0x66: found.p66 = true; break;
      case 0xf2: found.f2 = true; break;
      case 0xf3: found.f3 = true; break;
      case 0x64: found.fs = true; break;
      case 0x3e: found.notrack = true; break;
      case 0x2e: found.cs = true; break;
      default: return p;
    }
  return p;
}

}  // namespace

bool decode_common(u64 pc, const u8* bytes, Instruction& out) {
  Prefixes prefix;
  const u8* p = read_prefixes(bytes, prefix);
  if (p - bytes > prefix_limit) return false;
  out.rex = 0;
  if ((*p & 0xf0) == 0x40) out.rex = *p++ & 15;
  out.map = Map::one_byte;
  if (*p == 0x0f) out.map = Map::two_bytes, p++;
  const u8 opcode = out.opcode = *p++;

  const bool repeats = prefix.f2 || prefix.f3;
  Form f;
  if (out.map == Map::one_byte) {
    if (repeats || prefix.cs || (prefix.notrack && opcode != 0xff)) return false;
    f = forms.one[opcode];
  } else {
    if (prefix.notrack || (repeats && prefix.p66) || (prefix.f2 && prefix.f3) || (prefix.cs && opcode != 0x1f))
      return false;
    if (prefix.f3 && opcode == 0x1e && *p == 0xfa && !prefix.fs)
      f = {known | has_modrm};  // endbr64
    else
      f = forms.two[prefix.f3 ? 2 : prefix.f2 ? 3 : prefix.p66 ? 1 : 0][opcode];
  }
  if (!(f.shape & known)) return false;

  out.modrm = out.sib = out.modrm_at = out.displacement_at = 0;
  out.displacement = 0;
  bool memory = false;
  if (f.shape & has_modrm) {
    out.modrm_at = static_cast<u8>(p - bytes);
    out.modrm = *p++;
    const u8 mod = out.mod(), rm = out.modrm & 7;
    memory = mod != 3;
    u32 displacement_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    if (memory && rm == 4) {
      out.sib = *p++;
      if (mod == 0 && (out.sib & 7) == 5) displacement_bytes = 4;
    } else if (mod == 0 && rm == 5) {
      displacement_bytes = 4;
    }
    if (displacement_bytes != 0) {
      out.displacement_at = static_cast<u8>(p - bytes);
      out.displacement = static_cast<s32>(read_signed(p, displacement_bytes));
      p += displacement_bytes;
    }
  }
  if (prefix.fs && !memory) return false;
  out.immediate = 0;
  u32 immediate_bytes = f.shape & immediate_8 ? 1 : f.shape & immediate_z ? (prefix.p66 && !(out.rex & 8) ? 2 : 4) : 0;
  if (out.map == Map::one_byte && (opcode & 0xf8) == 0xb8 && out.rex & 8) immediate_bytes = 8;
  if (immediate_bytes != 0) out.immediate = read_signed(p, immediate_bytes);
  p += immediate_bytes;

  if ((f.shape & by_reg) && !group(out.map, opcode, out.modrm >> 3 & 7, out, f)) return false;
  if ((f.shape & width_fixed) && prefix.p66) return false;
  if (prefix.notrack && (f.kind == Kind::plain || prefix.p66)) return false;
  if ((f.shape & memory_only) && !memory) return false;
  if ((f.shape & register_only) && memory) return false;

  out.pc = pc;
  out.length = static_cast<u8>(p - bytes);
  out.kind = f.kind;
  out.reads = f.reads;
  out.writes = f.writes;
  out.loads = static_cast<u8>(((f.shape & reads_rm) && memory) + ((f.shape & pops) != 0) + (f.kind == Kind::ret));
  out.stores = static_cast<u8>(((f.shape & writes_rm) && memory) + ((f.shape & pushes) != 0) + (f.kind == Kind::call));
  out.dynamic = channel::dynamic_none;
  out.ends_early = out.gather = out.moves_state = false;
  out.plain_field = out.unasked = 0;
  out.legacy = true;
  out.operand_bits = f.shape & byte_wide ? 8 : out.rex & 8 ? 64 : prefix.p66 ? 16 : 32;
  out.address_bits = 64;
  out.fs = prefix.fs;
  __builtin_memcpy(out.bytes, bytes, 8);
  __builtin_memcpy(out.bytes + 8, bytes + 8, 8);
  return true;
}

}  // namespace tally::engine::translate
