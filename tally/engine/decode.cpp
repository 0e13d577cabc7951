#include "tally/engine/decode.hpp"

#include "tally/engine/thread.hpp"

namespace tally::engine {
namespace {

ZydisDecoder decoder;
u64 guard_area[16];  // what libZydis finds at FS:0x28

constexpr u16 arithmetic = counter_flags;

u64 read_fs() {
  if (fsgsbase_allowed) return __builtin_ia32_rdfsbase64();
  u64 base = 0;
  kernel(SYS_arch_prctl, 0x1003, reinterpret_cast<u64>(&base));
  return base;
}
void write_fs(u64 base) {
  if (fsgsbase_allowed)
    __builtin_ia32_wrfsbase64(base);
  else
    kernel(SYS_arch_prctl, 0x1002, base);
}

// String instructions, by opcode (their mnemonics are shared with SSE): what one iteration accesses.
u8 string_dynamic(const ZydisDecodedInstruction& i) {
  if (i.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || i.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
    return channel::dynamic_none;
  switch (i.opcode) {
    case 0xa4:
    case 0xa5: return channel::dynamic_move;
    case 0xa6:
    case 0xa7: return channel::dynamic_compare;
    case 0xaa:
    case 0xab: return channel::dynamic_store;
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xaf: return channel::dynamic_load;
    default: return channel::dynamic_none;
  }
}

constexpr u64 any_repeat = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

// Whether the prefix would make another register of a base or an index written into the instruction.
bool extends_base(const ZydisDecodedInstruction& i) {
  switch (i.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
      return (i.attributes & ZYDIS_ATTRIB_HAS_REX) && (i.raw.rex.B | i.raw.rex.X) != 0;
    // Zydis gives the bits of the later prefixes as they are encoded, inverted: set means plain.
    case ZYDIS_INSTRUCTION_ENCODING_VEX: return i.raw.vex.size == 3 && (i.raw.vex.B & i.raw.vex.X) == 0;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX: return (i.raw.evex.B & i.raw.evex.X) == 0;
    case ZYDIS_INSTRUCTION_ENCODING_XOP: return (i.raw.xop.B & i.raw.xop.X) == 0;
    default: return false;
  }
}

// maskmovq and maskmovdqu store to [rdi] without saying so in a ModRM byte.
bool is_masked_move(const ZydisDecodedInstruction& i) {
  return i.opcode_map == ZYDIS_OPCODE_MAP_0F && i.opcode == 0xf7;
}

// Without them xbegin is an illegal instruction. Asked where one is decoded: cpuid may take a virtual machine 50 us.
bool has_transactions() {
  u32 a = 7, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return b >> 11 & 1;
}

Kind kind_of(const ZydisDecodedInstruction& i) {
  // With REX.W the prefix means nothing: linkers pad calls of __tls_get_addr with it.
  const bool narrow = (i.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && i.raw.rex.W == 0;
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      switch (i.mnemonic) {
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_JECXZ:
        case ZYDIS_MNEMONIC_LOOP:
        case ZYDIS_MNEMONIC_LOOPE:
        case ZYDIS_MNEMONIC_LOOPNE: return Kind::loop;
        case ZYDIS_MNEMONIC_XBEGIN: return has_transactions() ? Kind::transaction : Kind::plain;
        case ZYDIS_MNEMONIC_JCXZ: return Kind::step;
        default: break;
      }
      // AMD and Intel disagree on what an operand size prefix does to a near branch.
      return narrow ? Kind::step : Kind::jcc;
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (i.mnemonic == ZYDIS_MNEMONIC_XABORT) return Kind::plain;
      if (i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || narrow) return Kind::step;
      return i.raw.imm[0].is_relative ? Kind::jump : Kind::jump_indirect;
    case ZYDIS_CATEGORY_CALL:
      if (i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || narrow) return Kind::step;
      return i.raw.imm[0].is_relative ? Kind::call : Kind::call_indirect;
    case ZYDIS_CATEGORY_RET:
      // Only the plain near form: iret, retf, sysret and the operand size prefix run at their own address.
      return (i.opcode == 0xc3 || i.opcode == 0xc2) && !narrow ? Kind::ret : Kind::step;
    case ZYDIS_CATEGORY_SYSCALL: return i.mnemonic == ZYDIS_MNEMONIC_SYSCALL ? Kind::syscall : Kind::step;
    case ZYDIS_CATEGORY_SYSRET: return Kind::trap;
    case ZYDIS_CATEGORY_INTERRUPT: return Kind::trap;
    default: break;
  }
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT: return Kind::trap;
    case ZYDIS_MNEMONIC_RDGSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_LGS: return Kind::leave;
    default: break;
  }
  const bool reads_memory = (i.attributes & ZYDIS_ATTRIB_HAS_MODRM) && i.raw.modrm.mod != 3;
  if (i.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS &&
      ((reads_memory && i.mnemonic != ZYDIS_MNEMONIC_LEA && i.mnemonic != ZYDIS_MNEMONIC_NOP) ||
       string_dynamic(i) != 0 ||
       (i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && ((i.opcode >= 0xa0 && i.opcode <= 0xa3) || i.opcode == 0xd7)) ||
       is_masked_move(i)))
    return Kind::leave;
  // A RIP-relative operand is rewritten with a base register at times: bits that would extend it must be clear.
  if (reads_memory && i.raw.modrm.mod == 0 && i.raw.modrm.rm == 5 && extends_base(i)) return Kind::step;
  // mov gs, r16 and pop gs load the selector and with it the base.
  if (i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && i.opcode == 0x8e && i.raw.modrm.reg == 5) return Kind::leave;
  if (i.opcode_map == ZYDIS_OPCODE_MAP_0F && i.opcode == 0xa9) return Kind::leave;
  return Kind::plain;
}

void flags_of(Instruction& in) {
  in.reads = in.writes = 0;
  // What hands the flags to somebody else: r11 and signal frames show them.
  if (in.kind == Kind::syscall || in.kind == Kind::trap || in.kind == Kind::step || in.kind == Kind::leave ||
      in.raw.mnemonic == ZYDIS_MNEMONIC_PUSHFQ || in.raw.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
      in.raw.mnemonic == ZYDIS_MNEMONIC_LAHF) {
    in.reads = arithmetic;
    return;
  }
  const ZydisAccessedFlags* f = in.raw.cpu_flags;
  if (f == nullptr) return;
  in.reads = static_cast<u16>(f->tested & arithmetic);
  in.writes = static_cast<u16>((f->modified | f->set_0 | f->set_1) & arithmetic);
  switch (in.raw.mnemonic) {
    // These leave the adjust flag undefined by the manual and clear it on every processor; elsewhere "undefined" may
    // mean "unchanged", and then it would be ours that shows.
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_TEST: in.writes |= static_cast<u16>(f->undefined & arithmetic); break;
    // A count of zero changes nothing.
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD: {
      const bool by_one = in.raw.opcode == 0xd0 || in.raw.opcode == 0xd1;
      const bool by_constant = in.raw.raw.imm[0].size != 0 && (in.raw.raw.imm[0].value.u & 31) != 0;
      if (!by_one && !by_constant) in.writes = 0;
      in.writes &= static_cast<u16>(~(f->undefined & arithmetic));
      break;
    }
    default: in.writes &= static_cast<u16>(~(f->undefined & arithmetic)); break;
  }
  if (in.raw.attributes & any_repeat && string_dynamic(in.raw) != 0) in.writes = 0;
}

// Instructions with memory operands that are not data accesses.
bool touches_nothing(const ZydisDecodedInstruction& i) {
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB: return true;
    default: break;
  }
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_CLDEMOTE:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_UMONITOR: return true;
    default: return false;
  }
}

// One-byte opcodes without a ModRM byte that access memory; all others without ModRM do not.
bool implicit_access(const ZydisDecodedInstruction& i) {
  if (i.opcode_map == ZYDIS_OPCODE_MAP_0F)
    return i.opcode == 0xa0 || i.opcode == 0xa1 || i.opcode == 0xa8 || i.opcode == 0xa9;
  if (i.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT) return false;
  const u8 o = i.opcode;
  return (o >= 0x50 && o <= 0x5f) || o == 0x68 || o == 0x6a || o == 0x8f || o == 0x9c || o == 0x9d ||
         (o >= 0xa0 && o <= 0xa7) || (o >= 0xaa && o <= 0xaf) || (o >= 0xc8 && o <= 0xcb) || o == 0xcf || o == 0xd7 ||
         (o >= 0x6c && o <= 0x6f) || o == 0xff;
}

void accesses_of(Instruction& in) {
  in.loads = in.stores = 0;
  in.dynamic = channel::dynamic_none;
  in.ends_early = in.gather = false;
  switch (in.kind) {
    case Kind::call: in.stores = 1; return;
    case Kind::ret: in.loads = 1; return;
    case Kind::jcc:
    case Kind::loop:
    case Kind::jump:
    case Kind::syscall:
    case Kind::trap:
    case Kind::transaction: return;
    default: break;
  }
  if (in.raw.attributes & any_repeat) {
    in.dynamic = string_dynamic(in.raw);
    if (in.dynamic != 0) {
      in.ends_early = (in.raw.opcode & 0xf6) == 0xa6;  // cmps, scas
      return;
    }
  }
  if (is_masked_move(in.raw) || in.raw.mnemonic == ZYDIS_MNEMONIC_CLZERO) {
    in.stores = 1;
    return;
  }
  const bool modrm_memory = (in.raw.attributes & ZYDIS_ATTRIB_HAS_MODRM) && in.raw.raw.modrm.mod != 3;
  if ((!modrm_memory && !implicit_access(in.raw)) || touches_nothing(in.raw)) return;
  if (in.raw.mnemonic == ZYDIS_MNEMONIC_ENTER && (in.raw.raw.imm[1].value.u & 31) != 0) {
    const u8 level = static_cast<u8>(in.raw.raw.imm[1].value.u & 31);
    in.loads = static_cast<u8>(level - 1);
    in.stores = static_cast<u8>(level + 1);
    return;
  }
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  const u32 n = operands(in, op);
  for (u32 k = 0; k < n; k++) {
    if (op[k].type != ZYDIS_OPERAND_TYPE_MEMORY || op[k].mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    const bool reads = op[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ,
               writes = op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (op[k].mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
      in.gather = true;
      in.dynamic = reads ? channel::dynamic_load : channel::dynamic_store;
    } else {
      in.loads = static_cast<u8>(in.loads + reads);
      in.stores = static_cast<u8>(in.stores + writes);
    }
  }
}

}  // namespace

void decoder_init() {
  DecoderUse use;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

bool decode(u64 pc, const u8* bytes, u64 available, Instruction& out) {
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &out.context, bytes, available, &out.raw))) return false;
  out.pc = pc;
  __builtin_memcpy(out.bytes, bytes, 8);
  __builtin_memcpy(out.bytes + 8, bytes + 8, 8);
  out.length = out.raw.length;
  out.kind = kind_of(out.raw);
  flags_of(out);
  accesses_of(out);
  return true;
}

u32 operands(const Instruction& in, ZydisDecodedOperand (&out)[ZYDIS_MAX_OPERAND_COUNT]) {
  return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &in.context, &in.raw, out, in.raw.operand_count))
             ? in.raw.operand_count
             : 0;
}

void add_kind(channel::SegmentVector& v, Kind kind) {
  auto one = [&](channel::Field f) { v.branches[f - 3]++; };
  switch (kind) {
    case Kind::jcc:
    case Kind::loop:
      one(channel::conditional);
      one(channel::taken);
      break;
    case Kind::jump: one(channel::direct_jumps); break;
    case Kind::jump_indirect: one(channel::indirect_jumps); break;
    case Kind::call: one(channel::direct_calls); break;
    case Kind::call_indirect: one(channel::indirect_calls); break;
    case Kind::ret: one(channel::returns); break;
    case Kind::syscall:
    case Kind::trap: one(channel::far); break;
    default: break;
  }
}

channel::SegmentVector counts_of(const Instruction& in) {
  channel::SegmentVector v;
  v.counts[channel::instructions] = 1;
  v.counts[channel::loads] = in.loads;
  v.counts[channel::stores] = in.stores;
  add_kind(v, in.kind);
  return v;
}

u16 registers_of(const Instruction& in) {
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  const u32 n = operands(in, op);
  if (n == 0) return 0xffff;
  u16 mask = 1u << rsp;
  auto add = [&](ZydisRegister r) {
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
      mask |= static_cast<u16>(1u << (whole - ZYDIS_REGISTER_RAX));
  };
  for (u32 k = 0; k < n; k++) {
    if (op[k].type == ZYDIS_OPERAND_TYPE_REGISTER) add(op[k].reg.value);
    if (op[k].type == ZYDIS_OPERAND_TYPE_MEMORY) add(op[k].mem.base), add(op[k].mem.index);
  }
  return mask;
}

u8 overwritten_register(const Instruction& in) {
  const auto& r = in.raw;
  if (r.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || r.operand_width < 32) return no_register;
  const u8 rex_r = static_cast<u8>(r.raw.rex.R << 3), rex_b = static_cast<u8>(r.raw.rex.B << 3),
           rex_x = static_cast<u8>(r.raw.rex.X << 3);
  const u8 reg = static_cast<u8>(r.raw.modrm.reg | rex_r), rm = static_cast<u8>(r.raw.modrm.rm | rex_b);
  const bool registers_only = r.raw.modrm.mod == 3;
  if (r.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
    if (r.opcode >= 0xb8 && r.opcode <= 0xbf) {
      const u8 to = static_cast<u8>((r.opcode & 7) | rex_b);
      return to != rsp ? to : u8{no_register};
    }
    if (r.opcode == 0x8b || r.opcode == 0x63) return registers_only && reg != rm && reg != rsp ? reg : u8{no_register};
    if (r.opcode == 0x89) return registers_only && reg != rm && rm != rsp ? rm : u8{no_register};
    if (r.opcode == 0xc7 && r.raw.modrm.reg == 0) return registers_only && rm != rsp ? rm : u8{no_register};
    if (r.opcode == 0x8d) {
      if (reg == rsp) return no_register;
      if (r.raw.modrm.mod == 0 && r.raw.modrm.rm == 5) return reg;
      if (r.raw.modrm.rm != 4) return rm != reg ? reg : u8{no_register};
      const u8 base = static_cast<u8>(r.raw.sib.base | rex_b), index = static_cast<u8>(r.raw.sib.index | rex_x);
      return base != reg && index != reg ? reg : u8{no_register};
    }
  }
  if (r.opcode_map == ZYDIS_OPCODE_MAP_0F && (r.opcode == 0xb7 || r.opcode == 0xbf))
    return registers_only && reg != rm && reg != rsp ? reg : u8{no_register};
  return no_register;
}

DecoderUse::DecoderUse() : fs_(read_fs()), area_(current()->vectors) {
  asm volatile("fxsave64 (%0)" ::"r"(area_) : "memory");
  write_fs(reinterpret_cast<u64>(guard_area));
}
DecoderUse::~DecoderUse() {
  write_fs(fs_);
  asm volatile("fxrstor64 (%0)" ::"r"(area_) : "memory");
}

}  // namespace tally::engine
