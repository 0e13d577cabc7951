#include "tally/engine/translate/decode.hpp"

#include "tally/engine/guest_thread.hpp"

namespace tally::engine::translate {
namespace {

ZydisDecoder decoder;
u64 guard_area[16];  // read by libZydis at FS:0x28

constexpr u16 arithmetic = counter_flags;

void write_fs(u64 base) {
  if (fsgsbase_allowed)
    __builtin_ia32_wrfsbase64(base);
  else
    kernel(SYS_arch_prctl, 0x1002, base);
}

/// Returns the number of operands, 0 on failure.
u32 decode_operands(const ZydisDecodedInstruction& raw, const ZydisDecoderContext& context,
                    ZydisDecodedOperand (&out)[ZYDIS_MAX_OPERAND_COUNT]) {
  return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &raw, out, raw.operand_count)) ? raw.operand_count
                                                                                                    : 0;
}

// String instructions, by opcode because their mnemonics are shared with SSE: the accesses of one iteration.
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

// maskmovq and maskmovdqu store to [rdi] without a memory operand in the ModRM byte.
bool is_masked_move(const ZydisDecodedInstruction& i) {
  return i.opcode_map == ZYDIS_OPCODE_MAP_0F && i.opcode == 0xf7;
}

bool is_relative(const ZydisDecodedInstruction& i) { return i.raw.imm[0].is_relative || i.raw.imm[1].is_relative; }

/// jo to jg, short or near.
bool is_jcc(const ZydisDecodedInstruction& i) {
  if (i.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return false;
  return (i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (i.opcode & 0xf0) == 0x70) ||
         (i.opcode_map == ZYDIS_OPCODE_MAP_0F && (i.opcode & 0xf0) == 0x80);
}

Kind kind_of(const ZydisDecodedInstruction& i) {
  // With REX.W, the operand-size prefix has no effect. Linkers pad calls of __tls_get_addr with it.
  const bool narrow = (i.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && i.raw.rex.W == 0;
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      if (i.mnemonic == ZYDIS_MNEMONIC_XBEGIN) return Kind::transaction;
      if (i.mnemonic == ZYDIS_MNEMONIC_XEND) return Kind::plain;
      // AMD and Intel processors differ in the effect of an operand-size prefix on a near branch.
      if (narrow) return Kind::step;
      switch (i.mnemonic) {
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_JECXZ:
        case ZYDIS_MNEMONIC_LOOP:
        case ZYDIS_MNEMONIC_LOOPE:
        case ZYDIS_MNEMONIC_LOOPNE: return Kind::loop;
        default: return is_jcc(i) ? Kind::jcc : Kind::step;  // jkzd and similar exist on no processor that runs Linux
      }
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (i.mnemonic == ZYDIS_MNEMONIC_XABORT) return Kind::plain;
      if (i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || narrow) return Kind::step;
      return i.raw.imm[0].is_relative ? Kind::jump : Kind::jump_indirect;
    case ZYDIS_CATEGORY_CALL:
      if (i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || narrow) return Kind::step;
      return i.raw.imm[0].is_relative ? Kind::call : Kind::call_indirect;
    case ZYDIS_CATEGORY_RET:
      // With the operand-size prefix it is executed at its own address.
      if (i.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || narrow) return Kind::step;
      return i.opcode == 0xc3 || i.opcode == 0xc2 ? Kind::ret : Kind::far_return;
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
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_LGS: return Kind::leave;
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_XGETBV: return presents_cpu ? Kind::emulated : Kind::plain;
    case ZYDIS_MNEMONIC_RDPMC: return Kind::emulated;
    default: break;
  }
  const bool reads_memory = (i.attributes & ZYDIS_ATTRIB_HAS_MODRM) && i.raw.modrm.mod != 3;
  if (i.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS &&
      ((reads_memory && i.mnemonic != ZYDIS_MNEMONIC_LEA && i.mnemonic != ZYDIS_MNEMONIC_NOP) ||
       string_dynamic(i) != 0 ||
       (i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && ((i.opcode >= 0xa0 && i.opcode <= 0xa3) || i.opcode == 0xd7)) ||
       is_masked_move(i)))
    return Kind::leave;
  // mov gs, r16 and pop gs load the selector, and thereby the base.
  if (i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && i.opcode == 0x8e && i.raw.modrm.reg == 5) return Kind::leave;
  if (i.opcode_map == ZYDIS_OPCODE_MAP_0F && i.opcode == 0xa9) return Kind::leave;
  return is_relative(i) ? Kind::step : Kind::plain;
}

/// Instructions that the hypervisor or the kernel may emulate: the flags afterwards may differ from the manual.
bool may_be_emulated(const ZydisDecodedInstruction& i) {
  if (i.mnemonic == ZYDIS_MNEMONIC_XTEST) return true;
  if (i.mnemonic == ZYDIS_MNEMONIC_ENDBR64 || i.mnemonic == ZYDIS_MNEMONIC_ENDBR32) return false;
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_PCONFIG:
    case ZYDIS_CATEGORY_ENQCMD:
    case ZYDIS_CATEGORY_PADLOCK:
    case ZYDIS_CATEGORY_KEYLOCKER:
    case ZYDIS_CATEGORY_KEYLOCKER_WIDE: return true;
    default: return (i.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0;
  }
}

void flags_of(Instruction& in, const ZydisDecodedInstruction& raw) {
  in.reads = in.writes = 0;
  // These make the flags visible, in r11 or in signal frames.
  if (in.kind == Kind::syscall || in.kind == Kind::trap || in.kind == Kind::step || in.kind == Kind::leave ||
      in.kind == Kind::far_return || in.kind == Kind::emulated || raw.mnemonic == ZYDIS_MNEMONIC_PUSHFQ ||
      raw.mnemonic == ZYDIS_MNEMONIC_PUSHF || raw.mnemonic == ZYDIS_MNEMONIC_LAHF || may_be_emulated(raw)) {
    in.reads = arithmetic;
    return;
  }
  const ZydisAccessedFlags* f = raw.cpu_flags;
  if (f == nullptr) return;
  in.reads = static_cast<u16>(f->tested & arithmetic);
  in.writes = static_cast<u16>((f->modified | f->set_0 | f->set_1) & arithmetic);
  switch (raw.mnemonic) {
    // The manual leaves the adjust flag undefined, and every processor clears it. For other instructions, "undefined"
    // may mean "unchanged", and then the engine's flag would be visible.
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
      const bool by_one = raw.opcode == 0xd0 || raw.opcode == 0xd1;
      const bool by_constant = raw.raw.imm[0].size != 0 && (raw.raw.imm[0].value.u & 31) != 0;
      if (!by_one && !by_constant) in.writes = 0;
      in.writes &= static_cast<u16>(~(f->undefined & arithmetic));
      break;
    }
    default: in.writes &= static_cast<u16>(~(f->undefined & arithmetic)); break;
  }
  if (raw.attributes & any_repeat && string_dynamic(raw) != 0) in.writes = 0;
}

// These also read the header that they update; the whole area counts as one store.
bool is_state_save(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_XSAVE || mnemonic == ZYDIS_MNEMONIC_XSAVE64 ||
         mnemonic == ZYDIS_MNEMONIC_XSAVEOPT || mnemonic == ZYDIS_MNEMONIC_XSAVEOPT64;
}

// They move the components of the extended state that EDX:EAX selects and XCR0 enables.
bool moves_state(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64: return true;
    default: return false;
  }
}

// The field, if any, that counts this plain instruction; 0 = none. The fast decoder does not decode such instructions.
u8 plain_field_of(const ZydisDecodedInstruction& i, bool modrm_memory) {
  const bool is_prefetch = i.meta.category == ZYDIS_CATEGORY_PREFETCH || i.meta.category == ZYDIS_CATEGORY_PREFETCHWT1;
  if (is_prefetch && modrm_memory) return channel::prefetches;
  return 0;
}

// One-byte opcodes without a ModRM byte that access memory; all others without ModRM do not.
bool implicit_access(const ZydisDecodedInstruction& i) {
  if (i.opcode_map == ZYDIS_OPCODE_MAP_0F)
    return i.opcode == 0xa0 || i.opcode == 0xa1 || i.opcode == 0xa8 || i.opcode == 0xa9;
  if (i.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT) return false;
  const u8 o = i.opcode;
  return (o >= 0x50 && o <= 0x5f) || o == 0x68 || o == 0x6a || o == 0x8f || o == 0x9c || o == 0x9d ||
         (o >= 0xa0 && o <= 0xa7) || (o >= 0xaa && o <= 0xaf) || (o >= 0xc8 && o <= 0xcb) || o == 0xcf || o == 0xd7 ||
         (o >= 0x6c && o <= 0x6f) || o == 0xc2 || o == 0xc3 || o == 0xe8 || o == 0xff;
}

void accesses_of(Instruction& in, const ZydisDecodedInstruction& raw, const ZydisDecoderContext& context) {
  in.loads = in.stores = 0;
  in.dynamic = channel::dynamic_none;
  in.ends_early = in.gather = false;
  in.plain_field = 0;
  in.moves_state = moves_state(raw.mnemonic);
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
  if (raw.attributes & any_repeat) {
    in.dynamic = string_dynamic(raw);
    if (in.dynamic != 0) {
      in.ends_early = (raw.opcode & 0xf6) == 0xa6;  // cmps, scas
      return;
    }
  }
  if (is_masked_move(raw) || raw.mnemonic == ZYDIS_MNEMONIC_CLZERO) {
    in.stores = 1;
    return;
  }
  const bool modrm_memory = (raw.attributes & ZYDIS_ATTRIB_HAS_MODRM) && raw.raw.modrm.mod != 3;
  in.plain_field = plain_field_of(raw, modrm_memory);
  if ((!modrm_memory && !implicit_access(raw)) || accesses_no_memory(raw)) return;
  if (raw.mnemonic == ZYDIS_MNEMONIC_ENTER && (raw.raw.imm[1].value.u & 31) != 0) {
    const u8 level = static_cast<u8>(raw.raw.imm[1].value.u & 31);
    in.loads = static_cast<u8>(level - 1);
    in.stores = static_cast<u8>(level + 1);
    return;
  }
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  const u32 n = decode_operands(raw, context, op);
  const bool saves = is_state_save(raw.mnemonic);
  for (u32 k = 0; k < n; k++) {
    if (op[k].type != ZYDIS_OPERAND_TYPE_MEMORY || op[k].mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    const bool reads = (op[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !saves,
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

void encoding_of(Instruction& out, const ZydisDecodedInstruction& raw) {
  out.legacy = raw.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  out.map = raw.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? Map::one_byte
            : raw.opcode_map == ZYDIS_OPCODE_MAP_0F    ? Map::two_bytes
                                                       : Map::other;
  out.opcode = raw.opcode;
  out.rex = out.legacy ? static_cast<u8>(raw.raw.rex.W << 3 | raw.raw.rex.R << 2 | raw.raw.rex.X << 1 | raw.raw.rex.B)
                       : u8{0};
  const bool modrm = raw.attributes & ZYDIS_ATTRIB_HAS_MODRM;
  out.modrm_at = modrm ? raw.raw.modrm.offset : u8{0};
  out.modrm = modrm ? out.bytes[out.modrm_at] : u8{0};
  out.sib = raw.attributes & ZYDIS_ATTRIB_HAS_SIB ? out.bytes[raw.raw.sib.offset] : u8{0};
  out.displacement_at = raw.raw.disp.size != 0 ? raw.raw.disp.offset : u8{0};
  out.displacement = static_cast<s32>(raw.raw.disp.value);
  out.immediate = raw.raw.imm[0].size != 0 ? raw.raw.imm[0].value.s : 0;
  out.operand_bits = static_cast<u8>(raw.operand_width);
  out.address_bits = raw.address_width;
  out.fs = raw.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS;
}

}  // namespace

bool presents_cpu, exceeds_presented_cpu;
channel::FeatureSet presented_features{~u64{0}};

u64 fs_base() {
  if (fsgsbase_allowed) return __builtin_ia32_rdfsbase64();
  u64 base = 0;
  kernel(SYS_arch_prctl, 0x1003, reinterpret_cast<u64>(&base));
  return base;
}

void decoder_init() {
  DecoderUse use;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

bool decode(u64 pc, const u8* bytes, u64 available, Instruction& out) {
  return (available >= 15 && decode_common(pc, bytes, out)) || decode_any(pc, bytes, available, out);
}

bool decode_any(u64 pc, const u8* bytes, u64 available, Instruction& out) {
  DecoderUse use;
  ZydisDecodedInstruction raw;
  ZydisDecoderContext context;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, available, &raw))) return false;
  out.pc = pc;
  __builtin_memcpy(out.bytes, bytes, 8);
  __builtin_memcpy(out.bytes + 8, bytes + 8, 8);
  out.length = raw.length;
  encoding_of(out, raw);
  out.kind = kind_of(raw);
  flags_of(out, raw);
  accesses_of(out, raw, context);
  const channel::Feature needed = feature_of(raw);
  out.unasked = presented_features.has(needed) ? u8{0} : static_cast<u8>(needed);
  return true;
}

bool accesses_no_memory(const ZydisDecodedInstruction& i) {
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

DecoderUse::DecoderUse() : fs_(fs_base()), area_(current()->vectors) {
  save_vectors(area_);
  asm volatile("fnstenv %0" : "=m"(x87_));
  write_fs(reinterpret_cast<u64>(guard_area));
}

DecoderUse::~DecoderUse() {
  write_fs(fs_);
  asm volatile("fxrstor64 (%0)" ::"r"(area_) : "memory");
  u64 pointer;
  __builtin_memcpy(&pointer, area_ + fxsave_pointer_at, sizeof pointer);
  if (pointer == 0 && x87_.pointer != 0) asm volatile("fldenv %0" ::"m"(x87_));
}

Details::Details(const Instruction& in) {
  raw.length = 0;
  DecoderUse use;
  ZydisDecoderContext context;
  if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, in.bytes, in.length, &raw)))
    operands = decode_operands(raw, context, operand);
}

Gathering gathering_of(const ZydisDecodedInstruction& raw, u8 opcode) {
  const bool by_k = raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  const u32 element = (by_k ? raw.raw.evex.W : raw.raw.vex.W) != 0 ? 64 : 32;  // a union: only one is valid
  const u32 index = opcode & 1 ? 64 : 32;
  return {static_cast<u8>(raw.avx.vector_length / (element > index ? element : index)), element, index};
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
    case Kind::far_return:
    case Kind::trap: one(channel::far); break;
    default: break;
  }
}

void add_counts(channel::SegmentVector& v, const Instruction& in) {
  v.counts[channel::instructions]++;
  v.counts[channel::loads] = static_cast<s16>(v.counts[channel::loads] + in.loads);
  v.counts[channel::stores] = static_cast<s16>(v.counts[channel::stores] + in.stores);
  if (in.plain_field != 0) v.plain[in.plain_field - channel::first_plain_field]++;
  add_kind(v, in.kind);
}

u16 registers_of(const Instruction& in) {
  const Details details(in);
  if (details.operands == 0) return 0xffff;
  DecoderUse use;
  u16 mask = 1u << rsp;
  auto add = [&](ZydisRegister r) {
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
      mask |= static_cast<u16>(1u << (whole - ZYDIS_REGISTER_RAX));
  };
  for (u32 k = 0; k < details.operands; k++) {
    const ZydisDecodedOperand& op = details.operand[k];
    if (op.type == ZYDIS_OPERAND_TYPE_REGISTER) add(op.reg.value);
    if (op.type == ZYDIS_OPERAND_TYPE_MEMORY) add(op.mem.base), add(op.mem.index);
  }
  return mask;
}

void without_extensions(const Instruction& in, u8 (&bytes)[16]) {
  __builtin_memcpy(bytes, in.bytes, sizeof bytes);
  if (in.legacy && (in.rex & 3) == 0) return;
  const ZydisDecodedInstruction raw = Details(in).raw;
  constexpr u8 index_and_base = 0x60;  // inverted, in the byte after the first one of a VEX, EVEX or XOP prefix
  switch (raw.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
    case ZYDIS_INSTRUCTION_ENCODING_3DNOW:
      if (raw.attributes & ZYDIS_ATTRIB_HAS_REX) bytes[raw.raw.rex.offset] &= 0xfc;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
      if (raw.raw.vex.size == 3) bytes[raw.raw.vex.offset + 1] |= index_and_base;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX: bytes[raw.raw.evex.offset + 1] |= index_and_base; break;
    case ZYDIS_INSTRUCTION_ENCODING_XOP: bytes[raw.raw.xop.offset + 1] |= index_and_base; break;
    default: break;
  }
}

u8 overwritten_register(const Instruction& in) {
  if (!in.legacy || in.operand_bits < 32) return no_register;
  const u8 reg = in.reg(), rm = in.rm(), o = in.opcode;
  const bool registers_only = in.mod() == 3;
  if (in.map == Map::one_byte) {
    if (o >= 0xb8 && o <= 0xbf) {
      const u8 to = static_cast<u8>((o & 7) | (in.rex & 1) << 3);
      return to != rsp ? to : u8{no_register};
    }
    if (o == 0x8b || o == 0x63) return registers_only && reg != rm && reg != rsp ? reg : u8{no_register};
    if (o == 0x89) return registers_only && reg != rm && rm != rsp ? rm : u8{no_register};
    if (o == 0xc7 && (in.modrm >> 3 & 7) == 0) return registers_only && rm != rsp ? rm : u8{no_register};
    if (o == 0x8d) {
      if (reg == rsp) return no_register;
      if (in.rip_relative()) return reg;
      if ((in.modrm & 7) != 4) return rm != reg ? reg : u8{no_register};
      return in.base() != reg && in.index() != reg ? reg : u8{no_register};
    }
  }
  if (in.map == Map::two_bytes && (o == 0xb7 || o == 0xbf))
    return registers_only && reg != rm && reg != rsp ? reg : u8{no_register};
  return no_register;
}

}  // namespace tally::engine::translate
