#include "tally/engine/instrument/core_code.hpp"

#include "tally/engine/channel/hash.hpp"

namespace tally::engine::instrument {
namespace {

using models::CoreInstruction;
using models::Operation;
using CoreRegister = models::Register;

CoreRegister core_register(ZydisRegister r) {
  const ZydisRegister enclosing = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  const ZydisRegister whole = enclosing != ZYDIS_REGISTER_NONE ? enclosing : r;  // x87, MMX and masks have none
  const auto in = [&](ZydisRegister first, ZydisRegister last) { return whole >= first && whole <= last; };
  const auto numbered = [&](CoreRegister base, ZydisRegister first) {
    return static_cast<CoreRegister>(base + (whole - first));
  };
  if (in(ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15)) return numbered(models::first_general, ZYDIS_REGISTER_RAX);
  if (in(ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31)) return numbered(models::first_vector, ZYDIS_REGISTER_ZMM0);
  if (in(ZYDIS_REGISTER_ST0, ZYDIS_REGISTER_ST7)) return numbered(models::first_x87, ZYDIS_REGISTER_ST0);
  if (in(ZYDIS_REGISTER_MM0, ZYDIS_REGISTER_MM7)) return numbered(models::first_x87, ZYDIS_REGISTER_MM0);
  if (in(ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7)) return numbered(models::first_mask, ZYDIS_REGISTER_K0);
  return models::no_register;
}

template <u32 n>
void add(CoreRegister (&list)[n], CoreRegister r) {
  if (r == models::no_register) return;
  for (CoreRegister& slot : list) {
    if (slot == r) return;
    if (slot == models::no_register) {
      slot = r;
      return;
    }
  }
}

bool moves_stack(Kind kind, Operation operation) {
  return kind == Kind::call || kind == Kind::call_indirect || kind == Kind::ret || operation == Operation::push ||
         operation == Operation::pop;
}

bool is_memory(const ZydisDecodedOperand& o) {
  return o.type == ZYDIS_OPERAND_TYPE_MEMORY && o.mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

models::Form form_of(const Details& details) {
  models::Form form;
  const ZydisDecodedInstruction& raw = details.raw;
  form.bits = raw.avx.vector_length != 0 ? raw.avx.vector_length : raw.operand_width;
  form.operands = raw.operand_count_visible;
  form.locked = (raw.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
  form.repeated = (raw.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  CoreRegister first = models::no_register;
  u32 sources = 0, equal = 0;
  const bool has_mask = raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  for (u32 i = 0; i < raw.operand_count_visible; i++) {
    const ZydisDecodedOperand& o = details.operand[i];
    if (o.encoding == ZYDIS_OPERAND_ENCODING_MASK) continue;
    if (o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) form.immediate = i + 1u == raw.operand_count_visible;
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      form.memory |= is_memory(o);
      form.relative = o.mem.base == ZYDIS_REGISTER_RIP;
      form.address_parts = static_cast<u8>((o.mem.base != ZYDIS_REGISTER_NONE) + (o.mem.index != ZYDIS_REGISTER_NONE) +
                                           o.mem.disp.has_displacement);
      form.scale = o.mem.index != ZYDIS_REGISTER_NONE ? o.mem.scale : 0;
    }
    form.low_byte = o.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_GPR8 &&
                    (o.reg.value < ZYDIS_REGISTER_AH || o.reg.value > ZYDIS_REGISTER_BH);
    // Compares all source operands, as in `xor eax, eax` and `vpxor xmm0, xmm1, xmm1`.
    const bool is_result_only = i == 0 && raw.operand_count_visible == 3 + has_mask;
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER && !is_result_only) {
      const CoreRegister r = core_register(o.reg.value);
      form.general |= r >= models::first_general && r < models::flags_register;
      if (sources == 0) first = r;
      sources++;
      equal += r == first;
    } else if (!is_result_only) {
      sources = 8;  // a constant or memory: no idiom
    }
  }
  // A write to a part of a register, or to elements by a mask, keeps the rest.
  const bool is_whole =
      raw.avx.mask.reg <= ZYDIS_REGISTER_K0 && (first >= models::first_x87 || raw.operand_width >= 32);
  form.same_register = sources == 2 && equal == 2 && first != models::no_register && is_whole;
  // Zydis reports the width of legacy vector instructions only by their operands.
  if (first >= models::first_vector && first < models::first_mask && raw.avx.vector_length == 0) form.bits = 128;
  return form;
}

/// Returns the kind of a mnemonic in a form, and caches it.
Operation kind_of(const Details& details, const models::Form& form) {
  struct CachedKind {
    u64 key;
    Operation operation;
  };
  LARGE static CachedKind cache[1024];
  const u64 key = u64{details.raw.mnemonic} << 32 | u64{form.bits} << 16 | u64{form.operands} << 8 |
                  u64{form.address_parts} << 4 | u64{form.immediate} << 3 | u64{form.memory} << 2 |
                  u64{form.locked} << 1 | u64{form.same_register} | u64{form.repeated} << 62 | u64{form.general} << 61 |
                  u64{form.relative} << 60 | u64{form.scale} << 52 | u64{form.low_byte} << 51 | u64{1} << 63;
  CachedKind& entry = cache[channel::hash_bits(key, 10)];
  if (entry.key != key) {
    const char* name = ZydisMnemonicGetString(details.raw.mnemonic);
    entry = {key, name == nullptr ? Operation::unknown : models::operation_of(name, form)};
  }
  return entry.operation;
}

/// Whether the instruction keeps a part of the register, or may keep it: because a condition is false, a mask leaves
/// out elements, or the operand is a part of the register and does not clear the rest.
bool keeps_part(const Details& details, const ZydisDecodedOperand& o) {
  if (o.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) return true;
  if (!(o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) return false;
  switch (ZydisRegisterGetClass(o.reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16: return true;
    case ZYDIS_REGCLASS_XMM: return details.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && o.size < 128;
    default: break;
  }
  // The destination is kept if the source is zero.
  return details.raw.mnemonic == ZYDIS_MNEMONIC_BSF || details.raw.mnemonic == ZYDIS_MNEMONIC_BSR;
}

/// Whether the instruction is a shift or rotation whose count is 0, or may be: it then keeps all flags.
bool may_keep_flags(const Details& details) {
  switch (details.raw.mnemonic) {
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD: break;
    default: return false;
  }
  const ZydisDecodedOperand& count = details.operand[details.raw.operand_count_visible - 1];
  if (count.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return true;
  return (count.imm.value.u & (details.raw.operand_width == 64 ? 63u : 31u)) == 0;
}

/// Flags are two registers: the carry, and the rest. An instruction does not write a register of undefined flags only.
void add_flags(CoreInstruction& result, const Details& details) {
  const ZydisAccessedFlags* const flags = details.raw.cpu_flags;
  if (flags == nullptr) return;
  constexpr u32 carry = ZYDIS_CPUFLAG_CF,
                rest = ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
  const u32 defined = flags->modified | flags->set_0 | flags->set_1;
  const bool may_keep = may_keep_flags(details);
  const auto add_part = [&](u32 part, CoreRegister r) {
    const bool writes = (defined & part) != 0;
    const bool keeps = writes && (may_keep || ((defined | flags->undefined) & part) != part);
    if ((flags->tested & part) != 0 || keeps) add(result.sources, r);
    if (writes) add(result.results, r);
  };
  add_part(carry, models::carry_register);
  add_part(rest, models::flags_register);
}

models::SymbolicAddress symbolic_address_of(const ZydisDecodedOperand& o) {
  models::SymbolicAddress at;
  at.base = core_register(o.mem.base);
  at.index = core_register(o.mem.index);
  at.form = static_cast<u8>((at.index != models::no_register ? o.mem.scale : 0) |
                            (at.base != models::no_register ? models::SymbolicAddress::has_base : 0) |
                            (o.mem.segment == ZYDIS_REGISTER_FS ? models::SymbolicAddress::in_fs : 0) |
                            (o.mem.segment == ZYDIS_REGISTER_GS ? models::SymbolicAddress::in_gs : 0));
  at.bytes = static_cast<u8>(o.size / 8 <= 64 ? o.size / 8 : 0);
  return at;
}

/// Sets what an instruction adds to a register, except for the displacement of a lea.
void set_moved(CoreInstruction& result, const Details& details) {
  const ZydisDecodedOperand& first = details.operand[0];
  const bool is_lea = details.raw.mnemonic == ZYDIS_MNEMONIC_LEA && first.size == 64 &&
                      details.operand[1].mem.base == first.reg.value &&
                      details.operand[1].mem.index == ZYDIS_REGISTER_NONE;
  if (result.operation != Operation::add_constant && !is_lea) return;
  result.moved = core_register(first.reg.value);
  if (is_lea) return;
  switch (details.raw.mnemonic) {
    case ZYDIS_MNEMONIC_INC: result.by = 1; break;
    case ZYDIS_MNEMONIC_DEC: result.by = ~0u; break;
    case ZYDIS_MNEMONIC_ADD: result.by = static_cast<u32>(details.operand[1].imm.value.u); break;
    default: result.by = 0 - static_cast<u32>(details.operand[1].imm.value.u); break;
  }
}

/// Whether the operand is the mask of an instruction that uses none.
bool is_no_mask(const ZydisDecodedOperand& o) {
  return o.encoding == ZYDIS_OPERAND_ENCODING_MASK && o.reg.value == ZYDIS_REGISTER_K0;
}

/// The address of an access, if all of its bytes are accessed.
models::SymbolicAddress address_of(const Details& details, const ZydisDecodedOperand& o) {
  const bool is_evex = details.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  if (is_evex && details.raw.avx.mask.reg > ZYDIS_REGISTER_K0) return {};
  models::SymbolicAddress at = symbolic_address_of(o);
  at.displacement = static_cast<u32>(o.mem.disp.value);
  return at;
}

CoreInstruction read(const Instruction& in) {
  CoreInstruction result;
  const Details details(in);
  if (details.raw.length == 0) return result;
  DecoderUse use;
  const models::Form form = form_of(details);
  result.operation = kind_of(details, form);
  result.memory = static_cast<u8>((in.loads != 0 || in.dynamic != 0 ? CoreInstruction::loads : 0) |
                                  (in.stores != 0 ? CoreInstruction::stores : 0));
  const bool by_front_end = moves_stack(in.kind, result.operation);
  const CoreRegister stack = static_cast<CoreRegister>(models::first_general + rsp);
  u32 places = 0;
  for (u32 i = 0; i < details.operands; i++) {
    const ZydisDecodedOperand& o = details.operand[i];
    if (is_memory(o)) {
      result.at = places++ == 0 ? address_of(details, o) : models::SymbolicAddress{};
      if (by_front_end && core_register(o.mem.base) == stack && o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
        const bool stores = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        result.moved = stack;
        result.by = stores ? 0 - result.at.bytes : result.at.bytes;
        if (stores) result.at.displacement = result.by;
      }
    }
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      for (const ZydisRegister part : {o.mem.base, o.mem.index}) {
        const CoreRegister r = core_register(part);
        if (by_front_end && r == stack) continue;
        if (is_memory(o))
          add(result.address, r);
        else
          add(result.sources, r);  // lea
      }
    }
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const CoreRegister r = core_register(o.reg.value);
    if ((by_front_end && r == stack) || is_no_mask(o)) continue;
    const bool reads = (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 || keeps_part(details, o);
    const bool is_idiom = result.operation == Operation::zeroing || result.operation == Operation::vector_ones;
    const bool is_gathered = i == 0 && result.operation == Operation::gather;  // waiting for it takes no time
    if (!is_idiom && !is_gathered && reads) add(result.sources, r);
    // A move into a part of a register is not renamed but merges the two.
    if (i == 0 && keeps_part(details, o)) {
      if (result.operation == Operation::move) result.operation = Operation::alu;
      if (result.operation == Operation::vector_move) result.operation = Operation::vector_shuffle;
    }
    if (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) add(result.results, r);
  }
  // Zydis does not list the index of xlat.
  if (details.raw.mnemonic == ZYDIS_MNEMONIC_XLAT) add(result.address, core_register(ZYDIS_REGISTER_AL));
  add_flags(result, details);
  set_moved(result, details);
  return result;
}

/// Whether the instruction has an EVEX prefix, which scales its displacement.
bool is_evex(const Instruction& in) {
  u32 i = 0;
  while (i + 1 < in.length && (in.bytes[i] == 0x64 || in.bytes[i] == 0x65 || in.bytes[i] == 0x67)) i++;
  return in.bytes[i] == 0x62;
}

/// Identifies the code of an instruction: its bytes without the displacement of an address or of a branch, if that is
/// not scaled; and its length.
struct Form {
  u64 words[2] = {};

  explicit Form(const Instruction& in) {
    const bool leads = is_direct(in.kind) && in.operand_bits != 16;
    const bool is_near = in.map == Map::two_bytes || in.opcode == 0xe8 || in.opcode == 0xe9;
    const u32 n = in.displacement_at != 0 && !is_evex(in) ? in.displacement_at
                  : leads                                 ? in.length - (is_near ? 4u : 1u)
                                                          : in.length;
    u8* const bytes = reinterpret_cast<u8*>(words);
    for (u32 i = 0; i < n; i++) bytes[i] = in.bytes[i];
    bytes[15] = in.length;
  }
  u32 hash() const { return channel::hash_bits(words[0] ^ words[1] * 31, 14); }

 private:
  static bool is_direct(Kind k) { return k == Kind::jcc || k == Kind::loop || k == Kind::jump || k == Kind::call; }
};

}  // namespace

CoreInstruction core_code(const Instruction& in) {
  struct CachedCode {
    u64 words[2];
    CoreInstruction code;
  };
  LARGE static CachedCode cache[1 << 14];
  const Form form(in);
  CachedCode& entry = cache[form.hash()];
  if (entry.words[0] != form.words[0] || entry.words[1] != form.words[1])
    entry = {{form.words[0], form.words[1]}, read(in)};
  CoreInstruction code = entry.code;
  if (in.displacement_at == 0 || (is_evex(in) && !in.rip_relative())) return code;
  if (code.at.bytes != 0)
    code.at.displacement = static_cast<u32>(in.rip_relative() ? in.rip_operand() : in.displacement);
  else if (code.moved != models::no_register && code.operation != Operation::add_constant)
    code.by = static_cast<u32>(in.displacement);
  return code;
}

}  // namespace tally::engine::instrument
