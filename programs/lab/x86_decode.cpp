#include "programs/lab/x86_decode.hpp"

#include <Zydis/Zydis.h>

namespace tally::lab {
namespace {

using pmu::emulated::Signal;

// Opcodes of the branches that test RCX: LOOPNE, LOOPE, LOOP, JCXZ.
constexpr std::uint8_t first_loop = 0xE0, loop_if_equal = 0xE1, loop_always = 0xE2, count_zero = 0xE3;

ZydisDecoder decoder_for(int bits) {
  ZydisDecoder decoder;
  if (bits == 64) {
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  } else if (bits == 32) {
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
  } else {
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_REAL_16, ZYDIS_STACK_WIDTH_16);
  }
  return decoder;
}

// Returns the segment register that an instruction loads, in any of its operands: MOV, POP, LDS and the like.
ZydisRegister loaded_segment(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operands) {
  for (int i = 0; i < raw.operand_count; ++i) {
    if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
        ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_SEGMENT) {
      return operands[i].reg.value;
    }
  }
  return ZYDIS_REGISTER_NONE;
}

// LIDT, LGDT, LTR, SWAPGS, MOV to a debug register …: the following instructions of a block may change.
bool changes_system(const ZydisDecodedInstruction& raw) {
  switch (raw.meta.category) {
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_INTERRUPT: return true;
    default: break;
  }
  return (raw.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 || raw.mnemonic == ZYDIS_MNEMONIC_UD0 ||
         raw.mnemonic == ZYDIS_MNEMONIC_UD1 || raw.mnemonic == ZYDIS_MNEMONIC_UD2;
}

Kind kind_of(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operands) {
  switch (raw.mnemonic) {
    case ZYDIS_MNEMONIC_RDMSR: return Kind::rdmsr;
    case ZYDIS_MNEMONIC_WRMSR: return Kind::wrmsr;
    case ZYDIS_MNEMONIC_RDPMC: return Kind::rdpmc;
    case ZYDIS_MNEMONIC_RDTSC: return Kind::rdtsc;
    case ZYDIS_MNEMONIC_RDTSCP: return Kind::rdtscp;
    case ZYDIS_MNEMONIC_CPUID: return Kind::cpuid;
    case ZYDIS_MNEMONIC_HLT: return Kind::halt;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INTO: return Kind::software_interrupt;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ: return Kind::interrupt_return;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_SYSEXIT: return Kind::far;
    case ZYDIS_MNEMONIC_STI: return Kind::enable;
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_INVPCID: return Kind::paging;
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_OUT:
    case ZYDIS_MNEMONIC_INSB:
    case ZYDIS_MNEMONIC_INSW:
    case ZYDIS_MNEMONIC_INSD:
    case ZYDIS_MNEMONIC_OUTSB:
    case ZYDIS_MNEMONIC_OUTSW:
    case ZYDIS_MNEMONIC_OUTSD: return Kind::port;
    default: break;
  }
  if (raw.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return Kind::far;
  if (raw.mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
      ZydisRegisterGetClass(operands[0].reg.value) == ZYDIS_REGCLASS_CONTROL) {
    return Kind::paging;
  }
  const ZydisRegister segment = loaded_segment(raw, operands);
  if (segment != ZYDIS_REGISTER_NONE) {
    const bool is_move = raw.mnemonic == ZYDIS_MNEMONIC_MOV || raw.mnemonic == ZYDIS_MNEMONIC_POP;
    return segment == ZYDIS_REGISTER_SS && is_move ? Kind::enable : Kind::segment;
  }
  return changes_system(raw) ? Kind::system : Kind::plain;
}

bool is_multiplication(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_MUL || mnemonic == ZYDIS_MNEMONIC_IMUL;
}

void describe_branch(Instruction& out, const ZydisDecodedInstruction& raw) {
  switch (raw.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      out.is_branch = out.is_conditional = true;
      out.condition = raw.opcode >= first_loop && raw.opcode <= count_zero ? raw.opcode : raw.opcode & 0xF;
      out.count_bits = raw.address_width;
      break;
    case ZYDIS_CATEGORY_UNCOND_BR: out.is_branch = true; break;
    case ZYDIS_CATEGORY_CALL: out.is_branch = out.is_call = true; break;
    case ZYDIS_CATEGORY_RET: out.is_branch = out.is_return = true; break;
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET: out.is_branch = true; break;
    default: break;
  }
  out.is_far = out.is_branch &&
               (out.kind == Kind::far || out.kind == Kind::interrupt_return || out.kind == Kind::software_interrupt);
  if (out.is_far) out.is_call = out.is_return = false;
}

}  // namespace

pmu::emulated::Work Instruction::work() const {
  pmu::emulated::Work work;
  work[Signal::instructions] = 1;
  work[Signal::core_cycles] = cycles;
  work[Signal::branches] = is_branch ? 1 : 0;
  work[Signal::conditional_branches] = is_conditional ? 1 : 0;
  work[Signal::calls] = is_call ? 1 : 0;
  work[Signal::returns] = is_return ? 1 : 0;
  work[Signal::far_branches] = is_far ? 1 : 0;
  work[Signal::loads] = loads;
  work[Signal::stores] = stores;
  return work;
}

// Conditions: Intel SDM vol. 2, appendix B, "Encoding of Conditional Test (tttn) Field".
bool Instruction::was_taken(std::uint64_t flags, std::uint64_t count) const {
  const auto flag = [&](int bit) { return (flags >> bit & 1) != 0; };
  const bool carry = flag(0), parity = flag(2), zero = flag(6), sign = flag(7), overflow = flag(11);
  if (condition >= first_loop) {
    const bool is_zero = count << (64 - count_bits) == 0;
    if (condition == count_zero) return is_zero;
    return !is_zero && (condition == loop_always || zero == (condition == loop_if_equal));
  }
  const bool tests[] = {overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};
  return tests[condition / 2] != ((condition & 1) != 0);
}

std::uint64_t Instruction::elements(std::uint64_t count_before, std::uint64_t count_after) const {
  const int unused_bits = 64 - count_bits;
  return (count_before - count_after) << unused_bits >> unused_bits;
}

Instruction decode(std::span<const std::uint8_t> bytes, std::uint64_t address, int bits) {
  const ZydisDecoder decoder = decoder_for(bits);
  ZydisDecodedInstruction raw;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  Instruction out;
  out.address = address;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &raw, operands))) {
    out.kind = Kind::undecoded;
    return out;
  }
  out.length = raw.length;
  out.kind = kind_of(raw, operands);
  out.repeats = (raw.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  out.cycles = is_multiplication(raw.mnemonic) ? 3 : 1;
  if (out.repeats) out.count_bits = raw.address_width;
  describe_branch(out, raw);
  if (raw.mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
      ZydisRegisterGetClass(operands[0].reg.value) == ZYDIS_REGCLASS_CONTROL) {
    out.control = ZydisRegisterGetId(operands[0].reg.value);
    out.general = static_cast<std::uint8_t>(ZydisRegisterGetId(operands[1].reg.value));
  }
  if (raw.meta.category == ZYDIS_CATEGORY_RET && out.is_far && out.kind == Kind::far) {
    out.far_return_bytes = raw.operand_width / 8;
    out.drops = static_cast<std::uint16_t>(raw.raw.imm[0].value.u);
  }
  for (int i = 0; i < raw.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    // LEA and NOP have memory operands that they do not access.
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM) continue;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) ++out.loads;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) ++out.stores;
    out.modifies = out.modifies || ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
                                    (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0);
  }
  if (raw.meta.category == ZYDIS_CATEGORY_WIDENOP || raw.meta.category == ZYDIS_CATEGORY_NOP)
    out.loads = out.stores = 0;
  return out;
}

std::string text_of(std::span<const std::uint8_t> bytes, std::uint64_t address, int bits) {
  const ZydisDecoder decoder = decoder_for(bits);
  ZydisDecodedInstruction raw;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &raw, operands)))
    return "(no instruction)";
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_TRUE);
  char buffer[128];
  ZydisFormatterFormatInstruction(&formatter, &raw, operands, raw.operand_count_visible, buffer, sizeof buffer, address,
                                  nullptr);
  return buffer;
}

}  // namespace tally::lab
