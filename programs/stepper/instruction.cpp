#include "programs/stepper/instruction.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>

namespace tally::stepper {
namespace {

struct Decoded {
  ZydisDecodedInstruction head;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/// Processors do not count the start, end or abort of a transaction as a branch.
bool is_of_transactions(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_XBEGIN || mnemonic == ZYDIS_MNEMONIC_XEND || mnemonic == ZYDIS_MNEMONIC_XABORT;
}

Flow flow_of(const Decoded& decoded) {
  if (is_of_transactions(decoded.head.mnemonic)) return Flow::next;
  const bool direct =
      decoded.head.operand_count_visible > 0 && decoded.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  const bool far = decoded.head.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (decoded.head.meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return Flow::conditional;
    case ZYDIS_CATEGORY_UNCOND_BR: return far ? Flow::far : direct ? Flow::direct_jump : Flow::indirect_jump;
    case ZYDIS_CATEGORY_CALL: return far ? Flow::far : direct ? Flow::direct_call : Flow::indirect_call;
    case ZYDIS_CATEGORY_RET: return far || decoded.head.mnemonic != ZYDIS_MNEMONIC_RET ? Flow::far : Flow::ret;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT: return Flow::far;
    default: return Flow::next;
  }
}

/// Hints have an address operand that they do not access.
bool is_hint(const Decoded& decoded) {
  switch (decoded.head.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB: return true;
    default: return decoded.head.mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
  }
}

bool is_prefetch(const Decoded& decoded) {
  return (decoded.head.meta.category == ZYDIS_CATEGORY_PREFETCH ||
          decoded.head.meta.category == ZYDIS_CATEGORY_PREFETCHWT1) &&
         decoded.head.operand_count > 0 && decoded.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool is_state_save(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_XSAVE || mnemonic == ZYDIS_MNEMONIC_XSAVE64 || mnemonic == ZYDIS_MNEMONIC_XSAVEC ||
         mnemonic == ZYDIS_MNEMONIC_XSAVEC64 || mnemonic == ZYDIS_MNEMONIC_XSAVEOPT ||
         mnemonic == ZYDIS_MNEMONIC_XSAVEOPT64;
}

void count_accesses(const Decoded& decoded, Instruction& result) {
  result.prefetches = is_prefetch(decoded);
  if (is_hint(decoded)) return;
  for (unsigned i = 0; i < decoded.head.operand_count; ++i) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM) continue;
    // xsave also reads the header that it updates; the whole area counts as one store.
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !is_state_save(decoded.head.mnemonic)) ++result.loads;
    if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ++result.stores;
  }
  if (decoded.head.mnemonic == ZYDIS_MNEMONIC_CLZERO) result.stores = 1;
  // Eight registers, each an element.
  constexpr uint8_t registers = 8;
  const auto is_any = [&](ZydisMnemonic one, ZydisMnemonic other) {
    return decoded.head.mnemonic == one || decoded.head.mnemonic == other;
  };
  if (is_any(ZYDIS_MNEMONIC_PUSHA, ZYDIS_MNEMONIC_PUSHAD)) result.stores = registers;
  if (is_any(ZYDIS_MNEMONIC_POPA, ZYDIS_MNEMONIC_POPAD)) result.loads = registers;
  if (decoded.head.mnemonic == ZYDIS_MNEMONIC_ENTER) {
    // SDM, ENTER: pushes rbp; at level n > 0 also copies n - 1 frame pointers from the outer frame and its own.
    const auto level = static_cast<uint8_t>(decoded.operands[1].imm.value.u % 32);
    result.loads = level > 1 ? static_cast<uint8_t>(level - 1) : 0;
    result.stores = static_cast<uint8_t>(level + 1);
  }
}

/// Bits of an index and of an element; zero for other instructions.
struct Widths {
  int index = 0;
  int element = 0;
  bool store = false;
};

Widths vector_memory(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VGATHERDPS: return {32, 32, false};
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VGATHERDPD: return {32, 64, false};
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VGATHERQPS: return {64, 32, false};
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VGATHERQPD: return {64, 64, false};
    case ZYDIS_MNEMONIC_VPSCATTERDD:
    case ZYDIS_MNEMONIC_VSCATTERDPS: return {32, 32, true};
    case ZYDIS_MNEMONIC_VPSCATTERDQ:
    case ZYDIS_MNEMONIC_VSCATTERDPD: return {32, 64, true};
    case ZYDIS_MNEMONIC_VPSCATTERQD:
    case ZYDIS_MNEMONIC_VSCATTERQPS: return {64, 32, true};
    case ZYDIS_MNEMONIC_VPSCATTERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPD: return {64, 64, true};
    default: return {};
  }
}

void describe_vector_memory(const Decoded& decoded, Instruction& result) {
  const Widths widths = vector_memory(decoded.head.mnemonic);
  if (widths.element == 0) return;
  result.special = widths.store ? Special::scatter : Special::gather;
  result.mask.elements = static_cast<uint8_t>(decoded.head.avx.vector_length / std::max(widths.index, widths.element));
  result.mask.element_bytes = static_cast<uint8_t>(widths.element / 8);
  result.mask.opmask = decoded.head.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  const ZydisRegister mask = result.mask.opmask ? decoded.head.avx.mask.reg : decoded.operands[2].reg.value;
  result.mask.register_index = static_cast<uint8_t>(ZydisRegisterGetId(mask));
}

uint8_t condition_of(const Decoded& decoded) {
  // The address does not show it if the branch leads to the next instruction, or if it has an operand-size prefix: AMD
  // processors then read a shorter displacement.
  const bool by_address =
      decoded.operands[0].imm.value.s != 0 && !(decoded.head.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE);
  if (decoded.head.meta.category != ZYDIS_CATEGORY_COND_BR || by_address ||
      decoded.head.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || is_of_transactions(decoded.head.mnemonic))
    return condition_by_address;
  const uint8_t opcode = decoded.head.opcode;
  return (opcode & 0xf0) == 0xe0 ? opcode : opcode & 15;
}

/// How 32-bit programs call the kernel.
bool is_call_of_32_bits(const Decoded& decoded) {
  constexpr ZyanU64 vector = 0x80;
  return decoded.head.mnemonic == ZYDIS_MNEMONIC_SYSENTER ||
         (decoded.head.mnemonic == ZYDIS_MNEMONIC_INT && decoded.operands[0].imm.value.u == vector);
}

Special special_of(const Decoded& decoded, CodeMode mode) {
  const ZydisInstructionAttributes repeat = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  if (decoded.head.meta.category == ZYDIS_CATEGORY_STRINGOP && (decoded.head.attributes & repeat)) {
    return Special::repeated_string;
  }
  if (is_call_of_32_bits(decoded)) {
    if (mode == CodeMode::bits32) return Special::syscall;
    if (decoded.head.mnemonic == ZYDIS_MNEMONIC_INT) return Special::int_syscall;
  }
  switch (decoded.head.mnemonic) {
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ: return Special::push_flags;
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ: return Special::pop_flags;
    case ZYDIS_MNEMONIC_SYSCALL: return Special::syscall;
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_SGDT:
    case ZYDIS_MNEMONIC_SIDT:
    case ZYDIS_MNEMONIC_SLDT:
    case ZYDIS_MNEMONIC_SMSW:
    case ZYDIS_MNEMONIC_STR: return Special::emulated;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3: return Special::trap;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_POP:
      return decoded.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                     decoded.operands[0].reg.value == ZYDIS_REGISTER_SS
                 ? Special::stack_segment
                 : Special::none;
    default: return Special::none;
  }
}

}  // namespace

Instruction decode(std::span<const uint8_t> code, CodeMode mode) {
  const auto made = [](ZydisMachineMode machine, ZydisStackWidth stack) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, machine, stack);
    return decoder;
  };
  static const ZydisDecoder decoder64 = made(ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  static const ZydisDecoder decoder32 = made(ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32);
  const ZydisDecoder& decoder = mode == CodeMode::bits64 ? decoder64 : decoder32;
  Decoded decoded;
  Instruction result;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded.head, decoded.operands))) {
    return result;
  }
  result.length = decoded.head.length;
  result.flow = flow_of(decoded);
  result.special = special_of(decoded, mode);
  result.condition = condition_of(decoded);
  result.operand_bytes = static_cast<uint8_t>(decoded.head.operand_width / 8);
  result.narrow_counter = decoded.head.address_width == 32;
  count_accesses(decoded, result);
  describe_vector_memory(decoded, result);
  return result;
}

}  // namespace tally::stepper
