// Operands of the forms that make up nearly all compiled code: as Zydis reports them, in a tenth of its time. A test
// compares the two over every opcode, ModRM byte and prefix that is accepted here.
#include "tally/engine/instrument/instruction_facts.hpp"

#include <initializer_list>

namespace tally::engine::instrument {
namespace {

/// Bits that describe the operands of an opcode.
enum Shape : u16 {
  known = 1,
  names_reg = 2,  // the middle field of its ModRM byte is a general register
  names_rm = 4,   // so is the last field, unless it is memory
  byte_reg = 8,   // of one byte; without REX, 4 to 7 are the second bytes of the first four
  byte_rm = 16,
  flags = 32,  // reads or changes flags
  names_rax = 64,
  names_rcx = 128,
  names_rdx = 256,
  opcode_reg = 512,  // its last three bits are a general register
  one_byte = 1024,   // in memory, whatever the other operand's width
  two_bytes = 2048,
  four_bytes = 4096,
  pushes = 8192,
  pops = 16384,
  no_66 = 32768,  // with an operand-size prefix it is another instruction
};

struct Shapes {
  u16 one[256];
  u16 two[256];       // general registers only
  u8 vector[4][256];  // by mandatory prefix: bytes of an operand in memory; 0: unknown
};

constexpr void integers(Shapes& t) {
  constexpr u16 both = known | names_reg | names_rm, bytes = both | byte_reg | byte_rm;
  for (u32 row = 0; row < 8; row++) {
    u16* const o = t.one + 8 * row;
    o[0] = o[2] = bytes | flags;
    o[1] = o[3] = both | flags;
    o[4] = o[5] = known | names_rax | flags;
  }
  for (u32 r = 0; r < 8; r++) {
    t.one[0x50 + r] = known | opcode_reg | pushes | no_66;
    t.one[0x58 + r] = known | opcode_reg | pops | no_66;
    if (r != 0) t.one[0x90 + r] = known | opcode_reg | names_rax;
    t.one[0xb8 + r] = known | opcode_reg;
    t.two[0xc8 + r] = known | opcode_reg | no_66;
  }
  for (u32 c = 0; c < 16; c++) {
    t.one[0x70 + c] = t.two[0x80 + c] = known | flags | no_66;
    t.two[0x40 + c] = both | flags;
    t.two[0x90 + c] = known | names_rm | byte_rm | flags | no_66;
  }
  t.one[0x63] = both | four_bytes | no_66;
  t.one[0x68] = t.one[0x6a] = known | pushes | no_66;
  t.one[0x69] = t.one[0x6b] = both | flags;
  t.one[0x80] = t.one[0xf6] = t.one[0xfe] = known | names_rm | byte_rm | flags;
  t.one[0x81] = t.one[0x83] = t.one[0xf7] = t.one[0xff] = known | names_rm | flags;
  t.one[0x84] = bytes | flags;
  t.one[0x85] = both | flags;
  t.one[0x88] = t.one[0x8a] = bytes;
  t.one[0x89] = t.one[0x8b] = t.one[0x8d] = both;
  t.one[0x98] = known | names_rax;
  t.one[0x99] = known | names_rax | names_rdx;
  t.one[0xa8] = t.one[0xa9] = known | names_rax | flags;
  t.one[0xc0] = t.one[0xd0] = known | names_rm | byte_rm | flags;
  t.one[0xc1] = t.one[0xd1] = known | names_rm | flags;
  t.one[0xd2] = known | names_rm | byte_rm | names_rcx | flags;
  t.one[0xd3] = known | names_rm | names_rcx | flags;
  t.one[0xc3] = known | pops | no_66;
  t.one[0xc6] = known | names_rm | byte_rm;
  t.one[0xc7] = known | names_rm;
  t.one[0xe9] = t.one[0xeb] = known | no_66;
  t.two[0xaf] = both | flags;
  t.two[0xb6] = t.two[0xbe] = both | byte_rm | one_byte;
  t.two[0xb7] = t.two[0xbf] = both | two_bytes;
}

constexpr void vectors(Shapes& t) {
  const auto set = [&t](u32 opcode, u8 none, u8 p66, u8 f3, u8 f2) {
    const u8 bytes[4] = {none, p66, f3, f2};
    for (u32 p = 0; p < 4; p++) t.vector[p][opcode] = bytes[p];
  };
  for (const u32 o : {0x10, 0x11, 0x51, 0x58, 0x59, 0x5c, 0x5d, 0x5e, 0x5f}) set(o, 16, 16, 4, 8);
  for (const u32 o : {0x28, 0x29, 0x14, 0x15, 0x54, 0x55, 0x56, 0x57, 0xc6}) set(o, 16, 16, 0, 0);
  for (const u32 o : {0x12, 0x13, 0x16, 0x17}) set(o, 8, 8, 0, 0);
  for (const u32 o : {0x6f, 0x7f}) set(o, 0, 16, 16, 0);
  set(0x7e, 0, 0, 8, 0);
  set(0xd6, 0, 8, 0, 0);
  set(0x70, 0, 16, 16, 16);
  for (const u32 o :
       {0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x74, 0x75, 0x76,
        0xd4, 0xd8, 0xda, 0xdb, 0xdc, 0xde, 0xdf, 0xe7, 0xeb, 0xef, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe})
    set(o, 0, 16, 0, 0);
}

constexpr Shapes make_shapes() {
  Shapes t{};
  integers(t);
  vectors(t);
  return t;
}
constexpr Shapes shapes = make_shapes();

/// The prefixes before the opcode. `known` if all of them are known here.
struct Prefixes {
  bool known = false, p66 = false, f2 = false, f3 = false, rex = false;
  explicit Prefixes(const Instruction& in) {
    const u8* p = in.bytes;
    for (u32 i = 0; i < 3; i++, p++) {
      if (*p == 0x66)
        p66 = true;
      else if (*p == 0xf2)
        f2 = true;
      else if (*p == 0xf3)
        f3 = true;
      else if (*p != 0x64)
        break;
    }
    if ((*p & 0xf0) == 0x40) rex = true, p++;
    if (in.map == Map::two_bytes && *p++ != 0x0f) return;
    known = *p == in.opcode && !(f2 && f3) && !(p66 && (f2 || f3));
  }
};

u16 bit(u8 reg) { return static_cast<u16>(1u << reg); }

/// ah, ch, dh and bh are the registers that contain them.
u16 byte_bit(u8 reg, bool rex) { return bit(reg >= 4 && !rex ? reg - 4 : reg); }

/// Returns the address of the memory operand; adds its registers to `mask`.
DataAccess address_of(const Instruction& in, u16& mask) {
  DataAccess a{};
  a.base = a.index = no_register;
  a.fs = in.fs;
  a.displacement = in.displacement;
  if (in.rip_relative()) {
    a.fixed = true;
    a.displacement = static_cast<s64>(in.rip_operand());
    return a;
  }
  if ((in.modrm & 7) != 4) {
    a.base = in.rm();
  } else {
    if (in.mod() != 0 || (in.sib & 7) != 5) a.base = in.base();
    if (in.index() != rsp) {
      a.index = in.index();
      a.scale = static_cast<u8>(in.sib >> 6);
    }
  }
  if (a.base != no_register) mask |= bit(a.base);
  if (a.index != no_register) mask |= bit(a.index);
  a.fixed = a.base == no_register && a.index == no_register && !a.fs;
  return a;
}

/// Handles opcodes that are several instructions, by the middle field of the ModRM byte. False for unknown ones.
bool is_known_group(const Instruction& in, u16& shape) {
  const u8 digit = in.modrm >> 3 & 7;
  switch (in.opcode) {
    case 0xf6:
    case 0xf7:
      if (digit == 2) shape &= static_cast<u16>(~flags);  // not
      if (digit >= 4) shape |= names_rax;
      if (digit >= 4 && in.opcode == 0xf7) shape |= names_rdx;
      return digit >= 2;
    case 0xfe:
    case 0xff: return digit < 2;
    case 0xc6:
    case 0xc7: return digit == 0;
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return digit != 6;
    default: return true;
  }
}

/// Handles instructions with only vector registers and memory, which change no flags.
bool find_vector(const Instruction& in, const Prefixes& prefixes, ModelFacts& f) {
  const u8 bytes = shapes.vector[prefixes.f3 ? 2 : prefixes.f2 ? 3 : prefixes.p66 ? 1 : 0][in.opcode];
  if (bytes == 0) return false;
  if (in.mod() == 3) return true;
  DataAccess a = address_of(in, f.registers);
  a.what = in.stores != 0 ? Ask::store : Ask::load;
  a.bytes = bytes;
  f.access[f.accesses++] = a;
  return true;
}

}  // namespace

bool facts_common(const Instruction& in, ModelFacts& f) {
  if (!in.legacy || in.map == Map::other || in.address_bits != 64 || in.dynamic != 0) return false;
  const Prefixes prefixes(in);
  if (!prefixes.known) return false;
  f = {};
  f.known = true;
  f.registers = bit(rsp);
  const bool is_two = in.map == Map::two_bytes;
  u16 shape = is_two ? shapes.two[in.opcode] : shapes.one[in.opcode];
  if (!(shape & known)) return is_two && in.modrm_at != 0 && find_vector(in, prefixes, f);
  if (prefixes.f2 || prefixes.f3 || ((shape & no_66) && prefixes.p66)) return false;
  if (!is_two && !is_known_group(in, shape)) return false;
  f.touches_flags = (shape & flags) != 0;
  if (shape & names_rax) f.registers |= bit(rax);
  if (shape & names_rcx) f.registers |= bit(rcx);
  if (shape & names_rdx) f.registers |= bit(rdx);
  if (shape & opcode_reg) f.registers |= bit(static_cast<u8>((in.opcode & 7) | (in.rex & 1) << 3));
  if (shape & names_reg) f.registers |= shape & byte_reg ? byte_bit(in.reg(), prefixes.rex) : bit(in.reg());
  if (shape & pushes) f.access[f.accesses++] = {Ask::store, 8, rsp, no_register, 0, false, false, false, -8};
  if (shape & pops) f.access[f.accesses++] = {Ask::load, 8, rsp, no_register, 0, false, false, false, 0};
  if (!(shape & names_rm)) return true;
  if (in.mod() == 3) {
    f.registers |= shape & byte_rm ? byte_bit(in.rm(), prefixes.rex) : bit(in.rm());
    return true;
  }
  DataAccess a = address_of(in, f.registers);
  if (in.loads + in.stores == 0) return true;  // lea
  a.what = in.loads == 0 ? Ask::store : in.stores == 0 ? Ask::load : Ask::modify;
  a.bytes = shape & (one_byte | byte_rm) ? 1u : shape & two_bytes ? 2u : shape & four_bytes ? 4u : in.operand_bits / 8u;
  f.access[f.accesses++] = a;
  return true;
}

}  // namespace tally::engine::instrument
