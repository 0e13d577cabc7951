#include "tally/engine/translate/instruction_mix.hpp"

namespace tally::engine::translate {
namespace {

using namespace channel;

/// The part of a name that is still to be compared.
struct Name {
  const char* at;
  u32 length;

  explicit Name(const char* text) : at(text), length(0) {
    while (at[length] != 0) length++;
  }
  bool begins(const char* with) const {
    u32 i = 0;
    while (with[i] != 0 && i < length && at[i] == with[i]) i++;
    return with[i] == 0;
  }
  bool is(const char* text) const { return begins(text) && text[length] == 0; }
  bool skip(const char* prefix) {
    if (!begins(prefix)) return false;
    for (; *prefix != 0; prefix++) at++, length--;
    return true;
  }
  template <u32 n>
  bool is_one_of(const char* const (&texts)[n]) const {
    for (const char* text : texts)
      if (is(text)) return true;
    return false;
  }
  template <u32 n>
  bool begins_one_of(const char* const (&texts)[n]) const {
    for (const char* text : texts)
      if (begins(text)) return true;
    return false;
  }
};

/// The last two letters of a name without `v`, if they are a precision: `ps`, `sd` and similar.
struct Suffix {
  bool exists = false, packed = false;
  u32 precision = half_precision;

  explicit Suffix(Name& name) {
    if (name.length < 4) return;
    const char kind = name.at[name.length - 2], size = name.at[name.length - 1];
    exists = (kind == 'p' || kind == 's') && (size == 'h' || size == 's' || size == 'd') && !name.begins("p");
    packed = kind == 'p';
    precision = size == 'h' ? half_precision : size == 's' ? single_precision : double_precision;
    if (exists) name.length -= 2;
  }
  u32 bits() const { return 16u << precision; }
};

constexpr const char* fused[] = {"fmadd", "fmsub", "fnmadd", "fnmsub"};

/// Operations per lane, as Intel defines FP_ARITH_INST_RETIRED: `name` without `v` and suffix. 0: none.
u32 operations_of(const Name& name) {
  static constexpr const char* plain[] = {"add",  "sub",  "mul", "div",   "min",   "max",   "sqrt",    "addsub",
                                          "hadd", "hsub", "rcp", "rcp14", "rcp28", "rsqrt", "rsqrt14", "rsqrt28"};
  static constexpr const char* complex_products[] = {"fmulc", "fcmulc"};
  static constexpr const char* complex_sums[] = {"fmaddc", "fcmaddc"};
  if (name.is_one_of(plain)) return 1;
  if (name.is("dp")) return 2;
  if (name.is_one_of(complex_products)) return 3;  // six operations for each pair of lanes
  if (name.is_one_of(complex_sums)) return 4;
  if (name.begins("4f")) return 8;  // four fused operations
  return name.begins_one_of(fused) ? 2 : 0;
}

/// 0 for 128, 1 for 256, 2 for 512.
u32 width_of(u32 bits) { return bits == 512 ? 2 : bits == 256 ? 1 : 0; }

bool is_masked(const ZydisDecodedInstruction& raw) {
  return raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && raw.raw.evex.aaa != 0;
}

/// Adds operations of lanes: all of them, or those that are active in the mask.
void add_operations(Mix& mix, const ZydisDecodedInstruction& raw, u32 field, u32 lanes, u32 each) {
  if (!is_masked(raw)) return mix.add(field, static_cast<s32>(lanes * each));
  mix.add_of_each(field, static_cast<s32>(each));
  mix.mask = {static_cast<u8>(lanes), 0, static_cast<u8>(raw.raw.evex.aaa)};
}

/// Floating-point arithmetic of vector registers. Returns whether it is one.
bool add_vector_fp(Mix& mix, const ZydisDecodedInstruction& raw, const Name& name, const Suffix& suffix, u32 bits) {
  if (name.is("dpbf16")) {
    const u32 lanes = bits / 32, each = 4;  // two products and two sums
    mix.add(fp_instructions_bf16);
    mix.add(fp_lanes, static_cast<s32>(lanes * each));
    add_operations(mix, raw, fp_operations_bf16, lanes, each);
    return true;
  }
  u32 each = suffix.exists ? operations_of(name) : 0;
  if (each == 0) return false;
  const bool is_complex = each == 3 || each == 4;  // a lane is a pair of numbers
  if (is_complex) each *= 2;
  const u32 lanes = suffix.packed ? bits / suffix.bits() / (is_complex ? 2 : 1) : 1;
  const u32 width = suffix.packed ? width_128 + width_of(bits) : scalar_width;
  mix.add(fp_field(fp_instructions, suffix.precision, width));
  mix.add(fp_lanes, suffix.packed ? static_cast<s32>(lanes * each) : 0);
  add_operations(mix, raw, fp_field(fp_operations, suffix.precision, width), lanes, each);
  mix.add(fma_instructions, name.begins("4f") || name.begins_one_of(fused) || name.is("fcmaddc"));
  mix.add(fp_divisions, name.is("div") || name.is("sqrt"));
  return true;
}

/// The same of the x87 registers, without the transcendental functions and the remainder, which are no one operation.
void add_x87(Mix& mix, const Name& name) {
  static constexpr const char* arithmetic[] = {"fadd",   "faddp", "fiadd",  "fsub", "fsubp", "fsubr",
                                               "fsubrp", "fisub", "fisubr", "fmul", "fmulp", "fimul"};
  static constexpr const char* divisions[] = {"fdiv", "fdivp", "fdivr", "fdivrp", "fidiv", "fidivr", "fsqrt"};
  static constexpr const char* comparisons[] = {"fcom", "fucom", "ficom", "ftst"};
  if (name.begins_one_of(comparisons)) return mix.add(fp_comparisons);
  const bool divides = name.is_one_of(divisions);
  if (!divides && !name.is_one_of(arithmetic)) return;
  mix.add(fp_operations_x87);
  mix.add(fp_instructions_x87);
  mix.add(fp_divisions, divides);
}

/// Integer arithmetic, comparisons, logic and shifts of vector registers: names that begin with `p` but these.
bool is_integer_vector(const Name& name) {
  static constexpr const char* others[] = {"pshuf",      "perm",    "punpck",   "pack",     "pinsr",    "pextr",
                                           "pbroadcast", "pblend",  "palign",   "pmov",     "pgather",  "pscatter",
                                           "pcompress",  "pexpand", "pmaskmov", "pclmul",   "pcmpistr", "pcmpestr",
                                           "pf",         "pi2f",    "pswap",    "pconflict"};
  return name.is("mpsadbw") || name.is("dbpsadbw") || (name.begins("p") && !name.begins_one_of(others));
}

/// Of a vector register, uses one element.
bool is_scalar(const Name& name, const Suffix& suffix) {
  static constexpr const char* moves[] = {"movd", "movq", "movw"};
  static constexpr const char* conversions[] = {"cvtss2", "cvtsd2", "cvtsh2", "cvttss2", "cvttsd2", "cvttsh2"};
  if (suffix.exists && !suffix.packed) return !name.begins("broadcast");
  return name.is_one_of(moves) || name.begins_one_of(conversions);
}

bool saves_state(const Name& name) {
  static constexpr const char* names[] = {"xsave", "xrstor", "fxsave", "fxrstor", "fnsave", "frstor"};
  return name.begins_one_of(names);
}

bool accesses_by_count(const ZydisDecodedInstruction& raw) {
  return raw.meta.category == ZYDIS_CATEGORY_STRINGOP &&
         raw.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/// The mask in a vector register of a move between memory and registers. Returns false for those of MMX.
bool add_vector_mask(Mix& mix, const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand,
                     const Name& name) {
  const bool by_bytes = name.is("maskmovdqu");
  if (name.is("maskmovq")) return false;
  // The second operand has the mask, of both.
  const ZydisDecodedOperand& mask = operand[1];
  if (mask.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  const u32 bits = by_bytes ? 8 : raw.raw.vex.W != 0 || name.begins("maskmovpd") ? 64 : 32;
  mix.mask = {static_cast<u8>((by_bytes ? 128 : mask.size) / bits), static_cast<u8>(bits),
              static_cast<u8>(ZydisRegisterGetId(mask.reg.value))};
  return true;
}

/// Whether a memory operand has an element for each lane, and lanes that the mask disables are not accessed. Shuffles
/// and common shift counts read all of it, and the operand of a broadcast is read once.
bool is_by_lane(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand, u32 memory, const Name& name) {
  static constexpr const char* whole[] = {"perm", "shuf",  "pshuf",  "unpck",  "punpck",
                                          "pack", "align", "palign", "dbpsad", "pmultishift"};
  static constexpr const char* shifts[] = {"psllw", "pslld", "psllq", "psraw", "psrad",
                                           "psraq", "psrlw", "psrld", "psrlq"};
  if (raw.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID || name.begins_one_of(whole)) return false;
  if (name.is_one_of(shifts) && memory + 1 == raw.operand_count_visible) return false;
  for (u32 k = 0; k < raw.operand_count_visible; k++) {
    const ZydisDecodedOperand& op = operand[k];
    if (op.type == ZYDIS_OPERAND_TYPE_REGISTER && op.element_count == operand[memory].element_count &&
        ZydisRegisterGetClass(op.reg.value) != ZYDIS_REGCLASS_MASK)
      return true;
    if (op.type == ZYDIS_OPERAND_TYPE_REGISTER && operand[memory].element_count == 1) return true;
  }
  return false;
}

void add_bytes(Mix& mix, const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand, const Name& name) {
  if (saves_state(name)) return mix.add(state_saves);
  if (name.is("clzero")) return mix.add(bytes_stored, 64);
  if (accesses_no_memory(raw)) return;
  if (name.is("enter") && (raw.raw.imm[1].value.u & 31) != 0) {
    const s32 level = static_cast<s32>(raw.raw.imm[1].value.u & 31), word = raw.operand_width / 8;
    mix.add(bytes_loaded, (level - 1) * word);
    return mix.add(bytes_stored, (level + 1) * word);
  }
  const bool by_vector_mask = name.begins("maskmov") || name.begins("pmaskmov");
  s32 loaded = 0, stored = 0;
  for (u32 k = 0; k < raw.operand_count; k++) {
    const ZydisDecodedOperand& op = operand[k];
    if (op.type != ZYDIS_OPERAND_TYPE_MEMORY || op.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    const bool reads = op.actions & ZYDIS_OPERAND_ACTION_MASK_READ,
               writes = op.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    const u32 field = reads ? bytes_loaded : bytes_stored;
    if (op.mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
      mix.add_of_each(field, op.element_size / 8);
      mix.add_of_each(reads ? gathered_elements : scattered_elements);
    } else if (accesses_by_count(raw)) {
      if (reads) mix.add_of_each(bytes_loaded, op.size / 8);
      if (writes) mix.add_of_each(bytes_stored, op.size / 8);
    } else if (by_vector_mask) {
      if (!add_vector_mask(mix, raw, operand, name)) return mix.add(unknown_bytes);
      mix.add_of_each(field, mix.mask.element_bits / 8);
    } else if (raw.meta.category == ZYDIS_CATEGORY_AMX_TILE) {
      return mix.add(unknown_bytes);
    } else if (is_masked(raw) && is_by_lane(raw, operand, k, name) &&
               (mix.mask.elements == 0 || mix.mask.elements == op.element_count)) {
      mix.add_of_each(field, op.element_size / 8);
      mix.mask = {static_cast<u8>(op.element_count), 0, static_cast<u8>(raw.raw.evex.aaa)};
    } else {
      loaded += reads ? op.size / 8 : 0;
      stored += writes ? op.size / 8 : 0;
    }
  }
  if (raw.meta.category == ZYDIS_CATEGORY_STRINGOP)
    accesses_by_count(raw) ? mix.add_of_each(string_elements) : mix.add(string_elements);
  mix.add(bytes_loaded, loaded);
  mix.add(bytes_stored, stored);
  mix.add(non_temporal_stores, stored != 0 && name.begins("movnt"));
}

bool has_memory(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand) {
  for (u32 k = 0; k < raw.operand_count; k++)
    if (operand[k].type == ZYDIS_OPERAND_TYPE_MEMORY) return true;
  return false;
}

/// Whether it copies one register to another of the same kind.
bool moves_register(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand, const Name& name) {
  static constexpr const char* moves[] = {"mov",    "mova",    "movu",     "movdqa",   "movdqa32", "movdqa64",
                                          "movdqu", "movdqu8", "movdqu16", "movdqu32", "movdqu64"};
  if (!name.is_one_of(moves) || is_masked(raw)) return false;
  for (u32 k = 0, registers = 0; k < raw.operand_count; k++) {
    if (operand[k].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT || operand[k].type != ZYDIS_OPERAND_TYPE_REGISTER)
      continue;
    const ZydisRegisterClass kind = ZydisRegisterGetClass(operand[k].reg.value);
    if (kind == ZYDIS_REGCLASS_MASK) continue;
    if (kind == ZYDIS_REGCLASS_SEGMENT || kind == ZYDIS_REGCLASS_CONTROL || kind == ZYDIS_REGCLASS_DEBUG) return false;
    if (++registers == 2) return true;
  }
  return false;
}

/// Instructions that are events of their own, by the beginning of their name without `v`.
u32 field_of_name(const Name& name) {
  if (name.begins("aes")) return aes_instructions;
  if (name.begins("sha1") || name.begins("sha2") || name.begins("sha5")) return sha_instructions;
  if (name.is("crc32")) return crc32_instructions;
  if (name.begins("pclmul")) return carryless_multiplications;
  if (name.is("mfence") || name.is("lfence") || name.is("sfence")) return fences;
  if (name.is("div") || name.is("idiv")) return integer_divisions;
  if (name.is("syscall") || name.is("sysenter")) return system_calls;
  if (name.begins("tdp") || name.begins("tcmm")) return tile_products;
  return 0;
}

}  // namespace

u32 largest_vector(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand) {
  u32 bits = 0;
  for (u32 k = 0; k < raw.operand_count; k++) {
    if (operand[k].type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    u32 size = 0;
    switch (ZydisRegisterGetClass(operand[k].reg.value)) {
      case ZYDIS_REGCLASS_MMX: size = 64; break;
      case ZYDIS_REGCLASS_XMM: size = 128; break;
      case ZYDIS_REGCLASS_YMM: size = 256; break;
      case ZYDIS_REGCLASS_ZMM: size = 512; break;
      default: break;
    }
    if (size > bits) bits = size;
  }
  return bits;
}

Mix mix_of(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand, const char* text) {
  static constexpr const char* comparisons[] = {"cmp", "comi", "ucomi"};
  Mix mix;
  Name whole(text);
  const u32 bits = largest_vector(raw, operand);
  const bool is_nop = raw.meta.category == ZYDIS_CATEGORY_NOP || raw.meta.category == ZYDIS_CATEGORY_WIDENOP;
  if (raw.meta.category == ZYDIS_CATEGORY_X87_ALU) add_x87(mix, whole);
  if (bits != 0) {
    whole.skip("v");
    Name name = whole;
    const Suffix suffix(name);
    const bool is_fp = add_vector_fp(mix, raw, name, suffix, bits);
    mix.add(fp_comparisons, suffix.exists && name.is_one_of(comparisons));
    mix.add(fp_conversions, name.begins("cvt"));
    if (!is_fp && is_integer_vector(name))
      mix.add(bits == 64 ? u32{integer_vector_64} : integer_vector_128 + width_of(bits));
    if (bits > 64 && !is_scalar(name, suffix)) mix.add(vector_128 + width_of(bits));
    mix.add(register_moves, suffix.packed && moves_register(raw, operand, name));
  }
  mix.add(nops, is_nop);
  mix.add(register_moves, moves_register(raw, operand, whole));
  if (const u32 field = field_of_name(whole); field != 0) mix.add(field);
  mix.add(unknown_operations, raw.meta.category == ZYDIS_CATEGORY_AMD3DNOW || whole.begins("tdpbf") ||
                                  whole.begins("tdpfp") || whole.begins("tcmm"));
  mix.add(locked_instructions,
          (raw.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || (whole.is("xchg") && has_memory(raw, operand)));
  add_bytes(mix, raw, operand, whole);
  return mix;
}

}  // namespace tally::engine::translate
