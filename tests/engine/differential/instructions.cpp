#include "tests/engine/differential/instructions.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace tally::differential {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  return made;
}

// --- bytes ----------------------------------------------------------------------------------------------------------

/// A ModRM byte and the bytes that belong to it, with the bits that extend its registers.
struct Operand {
  std::vector<uint8_t> bytes;
  bool base_high = false, index_high = false;
  bool relative = false;
};

void add_word(std::vector<uint8_t>& bytes, uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
}

uint64_t data_address(Random& random, const AddressLayout& layout) {
  return layout.data + data_at + 0x400 + random.below(0x1000);
}

Operand memory_operand(Random& random, const Rules& rules) {
  Operand result;
  const auto reg = static_cast<uint8_t>(random.below(8) << 3);
  const uint32_t form = random.below(100);
  if (form < 14) {
    result.bytes.push_back(reg | 5);
    add_word(result.bytes, 0);
    result.relative = true;
    return result;
  }
  if (form < 18 && rules.layout.low()) {
    result.bytes.push_back(reg | 4);
    result.bytes.push_back(0x25);
    add_word(result.bytes, static_cast<uint32_t>(data_address(random, rules.layout)));
    return result;
  }
  const FixedRegisters& fixed = rules.fixed;
  const int base = form < 68 ? fixed.data : form < 82 ? fixed.edge : form < 95 && rules.uses_stack ? rsp : fixed.bad;
  const bool indexed = random.percent(35) && fixed.index != rsp;
  const uint32_t size = random.below(3);  // of the displacement: none, a byte, four
  const bool needs = (base & 7) == 5;
  const int mod = size == 0 && !needs ? 0 : size == 2 ? 2 : 1;
  result.base_high = base > 7;
  if (indexed || (base & 7) == 4) {
    result.index_high = indexed && fixed.index > 7;
    result.bytes.push_back(static_cast<uint8_t>(mod << 6 | reg | 4));
    result.bytes.push_back(
        static_cast<uint8_t>(random.below(4) << 6 | (indexed ? fixed.index & 7 : 4) << 3 | (base & 7)));
  } else {
    result.bytes.push_back(static_cast<uint8_t>(mod << 6 | reg | (base & 7)));
  }
  if (mod == 1) result.bytes.push_back(static_cast<uint8_t>(random.below(17) - 8));  // scaled by up to 64 in EVEX
  if (mod == 2) add_word(result.bytes, random.below(1024) - 512);
  return result;
}

Operand any_operand(Random& random, const Rules& rules) {
  if (random.percent(50)) return memory_operand(random, rules);
  Operand result;
  result.bytes.push_back(static_cast<uint8_t>(0xc0 | random.below(64)));
  result.base_high = random.percent(50);
  result.index_high = random.percent(50);
  return result;
}

void legacy_prefixes(Random& random, std::vector<uint8_t>& bytes) {
  if (random.percent(25)) bytes.push_back(0x66);
  if (random.percent(12)) bytes.push_back(0xf2);
  if (random.percent(14)) bytes.push_back(0xf3);
  if (random.percent(5)) bytes.push_back(0xf0);
  if (random.percent(6)) bytes.push_back(0x67);
  if (random.percent(6)) bytes.push_back(random.one_of<uint8_t>({0x2e, 0x36, 0x3e, 0x26, 0x64, 0x64, 0x64}));
  if (random.percent(2) && !bytes.empty()) bytes.push_back(bytes.front());  // twice
  for (size_t i = bytes.size(); i > 1; --i) std::swap(bytes[i - 1], bytes[random.below(static_cast<uint32_t>(i))]);
}

void legacy(Random& random, std::vector<uint8_t>& bytes, const Operand& operand) {
  legacy_prefixes(random, bytes);
  if (random.percent(2)) bytes.insert(bytes.begin(), static_cast<uint8_t>(0x40 | random.below(16)));  // has no effect
  const auto rex = static_cast<uint8_t>((random.percent(45) ? 0x40 | (random.below(4) << 2) : 0) |
                                        (operand.index_high ? 0x42 : 0) | (operand.base_high ? 0x41 : 0));
  if (rex != 0) bytes.push_back(rex);
  const uint32_t map = random.below(100);
  if (map < 40) {
    bytes.push_back(random.percent(18) ? static_cast<uint8_t>(0xd8 | random.below(8)) : random.byte());
    return;
  }
  bytes.push_back(0x0f);
  if (map >= 78) bytes.push_back(map < 89 ? 0x38 : 0x3a);
  bytes.push_back(random.byte());
}

void vex(Random& random, std::vector<uint8_t>& bytes, const Operand& operand) {
  if (random.percent(4)) bytes.push_back(random.one_of<uint8_t>({0x67, 0x64, 0x2e}));
  const auto low = static_cast<uint8_t>((random.percent(50) ? 15u : random.below(16)) << 3 | random.below(8));
  if (!operand.base_high && !operand.index_high && random.percent(40)) {
    bytes.push_back(0xc5);
    bytes.push_back(static_cast<uint8_t>(low | random.below(2) << 7));
  } else {
    bytes.push_back(random.percent(3) ? 0x8f : 0xc4);  // sometimes XOP
    const uint32_t map = bytes.back() == 0x8f ? 8 + random.below(3) : 1 + random.below(3);
    bytes.push_back(
        static_cast<uint8_t>(random.below(2) << 7 | !operand.index_high << 6 | !operand.base_high << 5 | map));
    bytes.push_back(static_cast<uint8_t>(low | random.below(2) << 7));
  }
  bytes.push_back(random.byte());
}

void evex(Random& random, std::vector<uint8_t>& bytes, const Operand& operand) {
  if (random.percent(4)) bytes.push_back(random.one_of<uint8_t>({0x67, 0x64, 0x2e}));
  bytes.push_back(0x62);
  const uint32_t map = random.percent(96) ? 1 + random.below(3) : 5 + random.below(2);
  bytes.push_back(static_cast<uint8_t>(random.below(2) << 7 | !operand.index_high << 6 | !operand.base_high << 5 |
                                       random.below(2) << 4 | map));
  const bool unused = random.percent(50);
  bytes.push_back(
      static_cast<uint8_t>(random.below(2) << 7 | (unused ? 15u : random.below(16)) << 3 | 4 | random.below(4)));
  const bool plain = random.percent(30);
  bytes.push_back(static_cast<uint8_t>((plain ? 0 : random.below(2) << 7) | random.below(4) << 5 |
                                       (random.percent(25) ? 16 : 0) | (unused ? 8u : random.below(2) << 3) |
                                       (plain ? 0 : random.below(8))));
  bytes.push_back(random.byte());
}

// --- selection ------------------------------------------------------------------------------------------------------

/// Differs from run to run, or is a known difference of the engine, or would leave the sandbox.
bool unwanted(const ZydisDecodedInstruction& in) {
  switch (in.mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDPID:
    case ZYDIS_MNEMONIC_RDPRU:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_XGETBV:  // may show which state is in use
    case ZYDIS_MNEMONIC_CPUID:   // likewise, and the processor that it runs on
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_FXSAVE:  // show where the last x87 instruction was
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_RDFSBASE:
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_RDGSBASE:  // the program continues natively
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_SWAPGS:
    case ZYDIS_MNEMONIC_LFS:
    case ZYDIS_MNEMONIC_LGS:
    case ZYDIS_MNEMONIC_LSS:
    case ZYDIS_MNEMONIC_POPF:  // sets random flags
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_WRPKRU:
    case ZYDIS_MNEMONIC_RDPKRU:
    case ZYDIS_MNEMONIC_VMCALL:
    case ZYDIS_MNEMONIC_VMMCALL:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_MWAIT:
    case ZYDIS_MNEMONIC_UMONITOR:
    case ZYDIS_MNEMONIC_UMWAIT:
    case ZYDIS_MNEMONIC_TPAUSE:
    case ZYDIS_MNEMONIC_MOVDIR64B:  // stores through a register
    case ZYDIS_MNEMONIC_ENQCMD:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_SYSEXIT: return true;
    case ZYDIS_MNEMONIC_PAUSE: return in.raw.rex.B != 0;  // with REX.B it is xchg
    case ZYDIS_MNEMONIC_INT: return in.raw.imm[0].value.u == 0x80;
    default: break;
  }
  switch (in.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET: return true;
    default: return false;
  }
}

/// A sequence of extensions that hardly any processor has would be only illegal instructions.
bool rare(const ZydisDecodedInstruction& in) {
  static const std::string_view sets[] = {
      "AMX",     "AVX512ER", "AVX512PF", "AVX512_4", "AVX512_FP16", "AVX512_VP2", "FMA4",     "XOP",
      "TBM",     "LWP",      "3DNOW",    "AMD3DNOW", "KNC",         "PADLOCK",    "CET",      "VTX",
      "VMX",     "SVM",      "SMX",      "SGX",      "RTM",         "MPX",        "PT",       "KEYLOCKER",
      "ENQCMD",  "MOVDIR",   "UINTR",    "AVX_VNNI", "HRESET",      "SERIALIZE",  "WAITPKG",  "PKU",
      "PCONFIG", "SNP",      "TDX",      "INVPCID",  "XSAVES",      "SMAP",       "TSX_LDTRK"};
  const char* name = ZydisISASetGetString(in.meta.isa_set);
  if (name == nullptr) return false;
  const std::string_view set(name);
  return std::any_of(std::begin(sets), std::end(sets), [&](std::string_view one) { return set.starts_with(one); });
}

bool privileged(const ZydisDecodedInstruction& in) {
  return (in.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) || in.meta.category == ZYDIS_CATEGORY_INTERRUPT ||
         in.meta.category == ZYDIS_CATEGORY_IO || in.meta.category == ZYDIS_CATEGORY_IOSTRINGOP ||
         in.meta.category == ZYDIS_CATEGORY_SYSTEM || in.mnemonic == ZYDIS_MNEMONIC_UD0 ||
         in.mnemonic == ZYDIS_MNEMONIC_UD1 || in.mnemonic == ZYDIS_MNEMONIC_UD2;
}

/// The engine promises the flags of a fault only for these.
bool shows_flags(const ZydisDecodedInstruction& in) {
  return in.meta.category == ZYDIS_CATEGORY_INTERRUPT || in.mnemonic == ZYDIS_MNEMONIC_UD2 ||
         in.mnemonic == ZYDIS_MNEMONIC_UD1 || in.mnemonic == ZYDIS_MNEMONIC_UD0 || in.mnemonic == ZYDIS_MNEMONIC_HLT;
}

/// Some virtual machines report a debugger's step over int1 as if int1 had not been executed; if the kernel emulates an
/// instruction, one step includes the next instruction.
bool confuses_steppers(const ZydisDecodedInstruction& in) {
  switch (in.mnemonic) {
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_SGDT:
    case ZYDIS_MNEMONIC_SIDT:
    case ZYDIS_MNEMONIC_SLDT:
    case ZYDIS_MNEMONIC_SMSW:
    case ZYDIS_MNEMONIC_STR: return true;
    default: return false;
  }
}

int general(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
}

bool is_bit_string(const ZydisDecodedInstruction& in, const ZydisDecodedOperand* op) {
  const bool bits = in.mnemonic == ZYDIS_MNEMONIC_BT || in.mnemonic == ZYDIS_MNEMONIC_BTS ||
                    in.mnemonic == ZYDIS_MNEMONIC_BTR || in.mnemonic == ZYDIS_MNEMONIC_BTC;
  return bits && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

bool confined(const ZydisDecodedOperand& op, const Rules& rules, bool stack_operand) {
  const auto& mem = op.mem;
  if (mem.type == ZYDIS_MEMOP_TYPE_AGEN) return true;
  if (mem.segment == ZYDIS_REGISTER_GS) return false;
  if (mem.base == ZYDIS_REGISTER_EIP && !rules.layout.low()) return false;
  const bool relative = mem.base == ZYDIS_REGISTER_RIP || mem.base == ZYDIS_REGISTER_EIP;
  const int base = general(mem.base);
  if (mem.base == ZYDIS_REGISTER_NONE) {
    if (!rules.layout.low() || mem.type == ZYDIS_MEMOP_TYPE_VSIB) return false;
  } else if (!relative && !stack_operand && (base < 0 || !rules.fixed.has(base) || base == rules.fixed.index)) {
    return false;
  }
  if (mem.type == ZYDIS_MEMOP_TYPE_VSIB) return base == rules.fixed.data;
  return mem.index == ZYDIS_REGISTER_NONE || general(mem.index) == rules.fixed.index;
}

bool harmless(const ZydisDecodedInstruction& in, const ZydisDecodedOperand* op, const Rules& rules) {
  const bool pushes = in.meta.category == ZYDIS_CATEGORY_PUSH || in.meta.category == ZYDIS_CATEGORY_POP;
  if (pushes && !rules.uses_stack) return false;
  if (in.mnemonic == ZYDIS_MNEMONIC_CLZERO && rules.fixed.data != rax) return false;
  if (is_bit_string(in, op) && general(op[1].reg.value) != rules.fixed.index) return false;
  for (unsigned i = 0; i < in.operand_count; ++i) {
    // Zen 4 converts an old RSP, without the pushes just before (vcvtsi2sd with rounding control).
    if (in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        general(op[i].reg.value) == rsp)
      return false;
    const bool writes = op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && writes) {
      const int reg = general(op[i].reg.value);
      const bool implied = op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
      if (reg == rsp ? !(pushes && implied) : reg >= 0 && rules.fixed.has(reg)) return false;
      const ZydisRegister segment = op[i].reg.value;
      if (segment == ZYDIS_REGISTER_FS || segment == ZYDIS_REGISTER_GS || segment == ZYDIS_REGISTER_SS) return false;
    }
    if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const bool stack = op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && general(op[i].mem.base) == rsp;
      if (!confined(op[i], rules, stack)) return false;
    }
  }
  return true;
}

/// vmovdqu of indices to the vector that a gather uses as its index.
Item load_indices(Random& random, const Rules& rules, int vector, bool quad) {
  Item item;
  const auto low = static_cast<uint8_t>((vector & 8 ? 0 : 0x80) | 0x60);
  if (vector > 15 || random.percent(30)) {
    item.bytes = {0x62, static_cast<uint8_t>(low | (vector & 16 ? 0 : 0x10) | 1), 0x7e, 0x48, 0x6f};
  } else {
    item.bytes = {0xc4, static_cast<uint8_t>(low | 1), 0x7e, 0x6f};
  }
  item.bytes.push_back(static_cast<uint8_t>((vector & 7) << 3 | 5));
  item.relative_at = static_cast<int>(item.bytes.size());
  add_word(item.bytes, 0);
  item.target = rules.layout.data + constants_at + (random.percent(25) ? 2048u : 0u) + (quad ? 1024u : 0u) +
                uint64_t{random.below(14)} * 64;
  return item;
}

/// Sets the bits that extend base and index of an operand relative to RIP, where they mean nothing. The instruction
/// determines which bits, so that the code of a seed does not change otherwise.
void add_meaningless_bits(Item& item, const ZydisDecodedInstruction& in) {
  uint64_t seed = item.target;
  for (const uint8_t byte : item.bytes) seed = seed * 31 + byte;
  Random random(seed);
  if (!random.percent(40)) return;
  const auto bits = static_cast<uint8_t>(1 + random.below(3));
  const auto inverted = static_cast<uint8_t>(~(bits << 5));
  switch (in.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
      if (in.attributes & ZYDIS_ATTRIB_HAS_REX) item.bytes[in.raw.rex.offset] |= bits;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
      if (in.raw.vex.size == 3) item.bytes[in.raw.vex.offset + 1u] &= inverted;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX: item.bytes[in.raw.evex.offset + 1u] &= inverted; break;
    case ZYDIS_INSTRUCTION_ENCODING_XOP: item.bytes[in.raw.xop.offset + 1u] &= inverted; break;
    default: break;
  }
}

std::optional<std::vector<Item>> attempt(Random& random, const Rules& rules) {
  const Operand operand = any_operand(random, rules);
  Item item;
  const uint32_t encoding = random.below(100);
  if (encoding < 58) {
    legacy(random, item.bytes, operand);
  } else if (encoding < 76) {
    vex(random, item.bytes, operand);
  } else {
    evex(random, item.bytes, operand);
  }
  const size_t opcode_end = item.bytes.size();
  item.bytes.insert(item.bytes.end(), operand.bytes.begin(), operand.bytes.end());
  for (int i = 0; i < 10; ++i) item.bytes.push_back(random.byte());
  ZydisDecodedInstruction in;
  ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder(), item.bytes.data(), std::min<size_t>(item.bytes.size(), 15), &in, op)))
    return {};
  if (unwanted(in) || (rare(in) && !random.percent(2)) || (privileged(in) && !random.percent(6))) return {};
  // The ModRM byte is in another position than intended: prefixes that are not what they seem.
  if ((in.attributes & ZYDIS_ATTRIB_HAS_MODRM) && in.raw.modrm.mod != 3 && in.raw.modrm.offset != opcode_end) return {};
  if (!(in.attributes & ZYDIS_ATTRIB_HAS_MODRM) && in.raw.disp.size != 0) {  // an absolute address
    const uint64_t address = data_address(random, rules.layout);
    if ((in.raw.disp.size < 64 && !rules.layout.low()) || rules.fixed.has(rax)) return {};
    std::memcpy(&item.bytes[in.raw.disp.offset], &address, in.raw.disp.size / 8u);
    if (in.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS) return {};
  } else if (!harmless(in, op, rules)) {
    return {};
  }
  item.bytes.resize(in.length);
  item.exact_flags = shows_flags(in);
  item.steppable = !confuses_steppers(in);
  const bool relative = (in.attributes & ZYDIS_ATTRIB_HAS_MODRM) && in.raw.modrm.mod == 0 && in.raw.modrm.rm == 5 &&
                        in.raw.disp.size != 0;
  if (relative) {
    item.relative_at = in.raw.disp.offset;
    item.target = data_address(random, rules.layout);
    add_meaningless_bits(item, in);
  }
  std::vector<Item> items;
  for (unsigned i = 0; i < in.operand_count; ++i) {
    if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY || op[i].mem.type != ZYDIS_MEMOP_TYPE_VSIB) continue;
    const int vector = static_cast<uint8_t>(ZydisRegisterGetId(op[i].mem.index));
    const std::string_view name(ZydisMnemonicGetString(in.mnemonic));
    const bool quad = name.ends_with("qd") || name.ends_with("qq") || name.find("herq") != name.npos ||
                      name.find("terq") != name.npos;
    items.push_back(load_indices(random, rules, vector, quad));
  }
  items.push_back(item);
  return items;
}

}  // namespace

uint64_t encoding_of(const std::vector<uint8_t>& bytes) {
  ZydisDecodedInstruction in;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes.data(), bytes.size(), &in))) return 0;
  const bool has_modrm = in.attributes & ZYDIS_ATTRIB_HAS_MODRM;
  const bool memory = has_modrm && in.raw.modrm.mod != 3;
  const bool relative = memory && in.raw.modrm.mod == 0 && in.raw.modrm.rm == 5;
  uint64_t key = 1;
  const auto add = [&key](uint64_t value, uint64_t bound) { key = key * bound + value; };
  add(static_cast<uint64_t>(in.mnemonic), 2048);
  add(static_cast<uint64_t>(in.encoding), 8);
  add(static_cast<uint64_t>(in.opcode_map), 16);
  add(in.opcode, 256);
  add(memory, 2);
  add(relative, 2);
  uint64_t meaningless = 0;
  if (relative) {
    const auto& raw = in.raw;
    switch (in.encoding) {
      case ZYDIS_INSTRUCTION_ENCODING_LEGACY: meaningless = raw.rex.X * 2u + raw.rex.B; break;
      case ZYDIS_INSTRUCTION_ENCODING_VEX:
        meaningless = raw.vex.size == 3 ? 3u - (raw.vex.X * 2u + raw.vex.B) : 0;
        break;
      case ZYDIS_INSTRUCTION_ENCODING_EVEX: meaningless = 3u - (raw.evex.X * 2u + raw.evex.B); break;
      default: break;
    }
  }
  add(meaningless, 4);
  return key;
}

std::vector<Item> random_instruction(Random& random, const Rules& rules) {
  for (;;)
    if (auto items = attempt(random, rules)) return *items;
}

}  // namespace tally::differential
