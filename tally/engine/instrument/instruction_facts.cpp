#include "tally/engine/instrument/instruction_facts.hpp"

#include <initializer_list>

namespace tally::engine::instrument {
namespace {

bool in_range(ZydisRegister r, ZydisRegister first, u32 n) { return r >= first && r < first + static_cast<int>(n); }

/// Returns the number of a general register of any width.
u8 number_of(ZydisRegister r) {
  if (in_range(r, ZYDIS_REGISTER_RAX, 16)) return static_cast<u8>(r - ZYDIS_REGISTER_RAX);
  if (in_range(r, ZYDIS_REGISTER_EAX, 16)) return static_cast<u8>(r - ZYDIS_REGISTER_EAX);
  if (in_range(r, ZYDIS_REGISTER_AX, 16)) return static_cast<u8>(r - ZYDIS_REGISTER_AX);
  if (in_range(r, ZYDIS_REGISTER_AL, 4)) return static_cast<u8>(r - ZYDIS_REGISTER_AL);
  if (in_range(r, ZYDIS_REGISTER_AH, 4)) return static_cast<u8>(r - ZYDIS_REGISTER_AH);
  if (in_range(r, ZYDIS_REGISTER_SPL, 12)) return static_cast<u8>(r - ZYDIS_REGISTER_SPL + rsp);
  return no_register;
}

void add_register(u16& mask, ZydisRegister r) {
  if (const u8 n = number_of(r); n != no_register) mask |= static_cast<u16>(1u << n);
}

DataAccess stack_access(Ask what, u32 bytes, s64 displacement) {
  return {what, bytes, rsp, no_register, 0, false, false, false, displacement};
}

/// Describes a memory operand; `popped`: by how much the stack pointer has moved when its address is computed.
DataAccess data_access(const ZydisDecodedOperand& op, const Instruction& in, Ask what, s64 popped) {
  DataAccess a{};
  a.what = what;
  a.bytes = op.size / 8u;
  if (a.bytes == 0) a.bytes = 512;  // xsave and similar: at least that much
  a.base = number_of(op.mem.base);
  a.index = number_of(op.mem.index);
  for (u32 s = op.mem.scale; s > 1; s /= 2) a.scale++;
  a.fs = op.mem.segment == ZYDIS_REGISTER_FS;
  a.low = in.address_bits == 32;
  a.displacement = op.mem.disp.value;
  if (op.mem.base == ZYDIS_REGISTER_RIP || op.mem.base == ZYDIS_REGISTER_EIP) {
    a.fixed = true;
    a.displacement = static_cast<s64>(in.rip_operand());
  } else if (a.base == no_register && a.index == no_register && (!fits32(a.displacement) || !a.fs)) {
    a.fixed = true;
    if (a.low) a.displacement = static_cast<u32>(a.displacement);
  }
  if (a.base == rsp) a.displacement += popped;
  return a;
}

bool is_stack(const ZydisDecodedOperand& op) {
  return op.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op.mem.base == ZYDIS_REGISTER_RSP;
}

void add_access(ModelFacts& f, const DataAccess& a) {
  if (f.accesses < 4) f.access[f.accesses++] = a;
}

void find_operands(ModelFacts& f, const Instruction& in, const Details& d) {
  // A pop has moved the stack pointer before the address of its destination is computed.
  s64 popped = 0;
  for (u32 k = 0; k < d.operands; k++)
    if (d.operand[k].type == ZYDIS_OPERAND_TYPE_MEMORY && is_stack(d.operand[k]) &&
        (d.operand[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ))
      popped = d.operand[k].size / 8;
  // Reads come first.
  for (const bool writes : {false, true})
    for (u32 k = 0; k < d.operands; k++) {
      const ZydisDecodedOperand& op = d.operand[k];
      if (op.type != ZYDIS_OPERAND_TYPE_MEMORY || op.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
      const bool r = op.actions & ZYDIS_OPERAND_ACTION_MASK_READ, w = op.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
      if (writes ? r || !w : !r) continue;
      if (is_stack(op))
        add_access(f, stack_access(r ? Ask::load : Ask::store, op.size / 8u, r ? 0 : -(op.size / 8)));
      else
        add_access(f, data_access(op, in, r && w ? Ask::modify : r ? Ask::load : Ask::store, popped));
    }
}

// --- accesses that depend on registers ------------------------------------------------------------------------------

/// Returns the number of a vector register.
u8 vector_of(ZydisRegister r) {
  for (const ZydisRegister first : {ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_ZMM0})
    if (in_range(r, first, 32)) return static_cast<u8>(r - first);
  return 0;
}

const ZydisDecodedOperand* memory_operand(const Details& d) {
  for (u32 k = 0; k < d.operands; k++)
    if (d.operand[k].type == ZYDIS_OPERAND_TYPE_MEMORY) return &d.operand[k];
  return nullptr;
}

void selected_by(ElementAccesses& s, const Details& d, u32 operand, const models::Elements& elements) {
  s.elements = elements;
  s.by_k = d.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  s.narrow = elements.count <= 16;
  s.mask = s.by_k ? static_cast<u8>(d.raw.avx.mask.reg - ZYDIS_REGISTER_K0) : vector_of(d.operand[operand].reg.value);
  s.old_vector = d.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/// Whether the instruction is a move that leaves out elements. Other masked instructions are assumed to access their
/// whole operand; so is maskmovq, because reading an MMX register raises pending x87 exceptions.
bool moves_by_mask(const Details& d) {
  switch (d.raw.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
    default:
      return d.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && d.raw.meta.category == ZYDIS_CATEGORY_DATAXFER &&
             d.raw.avx.mask.reg > ZYDIS_REGISTER_K0 && d.raw.avx.mask.reg <= ZYDIS_REGISTER_K7;
  }
}

bool is_bytewise(ZydisMnemonic m) { return m == ZYDIS_MNEMONIC_MASKMOVDQU || m == ZYDIS_MNEMONIC_VMASKMOVDQU; }

/// xsave and similar, xrstor: their accesses depend on their header, or on what is in use.
bool moves_state(ElementAccesses& s, ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64: s.compact = true; [[fallthrough]];
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64: s.choice = true; [[fallthrough]];
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
      s.stores = true;
      s.header = s.compact ? 16 : 8;
      return true;
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64: s.header = 64; return true;
    default: return false;
  }
}

Pattern pattern_of(ElementAccesses& s, const Instruction& in, const Details& d) {
  if (in.gather) return Pattern::elements;
  if (in.loads + in.stores == 0) return Pattern::none;
  if (moves_by_mask(d)) return Pattern::masked;
  if (moves_state(s, d.raw.mnemonic)) return Pattern::state;
  if (d.raw.mnemonic == ZYDIS_MNEMONIC_CLZERO) return Pattern::line;
  if (!in.legacy) return Pattern::none;
  if (in.map == Map::two_bytes && (in.opcode & 0xe7) == 0xa3) return Pattern::bits;
  if (in.map != Map::one_byte) return Pattern::none;
  if (in.opcode == 0xd7) return Pattern::table;
  return in.opcode == 0xc8 && in.stores > 1 ? Pattern::frames : Pattern::none;
}

/// Describes the accesses of such an instruction and their address; false for all others.
bool find_scattered(ModelFacts& f, const Instruction& in, const Details& d) {
  ElementAccesses& s = f.scattered;
  s.pattern = pattern_of(s, in, d);
  if (s.pattern == Pattern::none) return false;
  const ZydisDecodedOperand* const op = memory_operand(d);
  if (op != nullptr) f.access[0] = data_access(*op, in, Ask::load, 0);
  const bool reads = op != nullptr && (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ),
             writes = op != nullptr && (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
  s.elements.low = in.address_bits == 32 && !in.fs;
  switch (s.pattern) {
    case Pattern::elements: {
      const Gathering g = gathering_of(d.raw, in.opcode);
      s.vector = vector_of(op->mem.index);
      s.stores = writes;
      selected_by(s, d, 2,
                  {g.elements, static_cast<u8>(g.element_bits / 8), static_cast<u8>(g.index_bits / 8),
                   f.access[0].scale, s.elements.low});
      break;
    }
    case Pattern::masked: {
      const bool bytes = is_bytewise(d.raw.mnemonic);
      s.stores = writes;
      selected_by(s, d, 1,
                  {static_cast<u8>(bytes ? op->size / 8 : op->element_count),
                   static_cast<u8>(bytes ? 1 : op->element_size / 8), 0, 0, false});
      break;
    }
    case Pattern::bits:
      s.modifies = reads && writes;
      s.elements.bytes = in.operand_bits / 8;
      break;
    case Pattern::frames:
      f.access[0] = {Ask::load, 8, rbp, no_register, 0, false, false, false, 0};
      s.level = static_cast<u8>(in.stores - 1);
      s.elements.bytes = in.operand_bits == 16 ? 2 : 8;
      break;
    case Pattern::line:
      f.access[0] = {Ask::store, 64, rax, no_register, 0, false, false, in.address_bits == 32, 0};
      s.stores = true;
      break;
    default: break;
  }
  return true;
}

}  // namespace

ModelFacts facts_of(const Instruction& in) {
  ModelFacts f;
  return facts_common(in, f) ? f : facts_any(in);
}

ModelFacts facts_any(const Instruction& in) {
  ModelFacts f{};
  f.known = true;
  if (in.kind == Kind::call) {
    add_access(f, stack_access(Ask::store, 8, -8));
    f.registers = 1u << rsp;
    return f;
  }
  if (in.kind == Kind::far_return) {
    constexpr u8 interrupt_return = 0xcf;
    add_access(f, stack_access(Ask::load, (in.opcode == interrupt_return ? 5u : 2u) * in.operand_bits / 8, 0));
    f.registers = 1u << rsp;
    f.touches_flags = true;
    return f;
  }
  const bool one_byte = in.legacy && in.map == Map::one_byte;
  if (one_byte && in.opcode == 0xc9) {  // leave
    add_access(f, {Ask::load, 8, rbp, no_register, 0, false, false, false, 0});
    f.registers = 1u << rsp | 1u << rbp;
    return f;
  }
  const Details d(in);
  const ZydisAccessedFlags* const flags = d.raw.cpu_flags;
  f.touches_flags =
      d.raw.length == 0 ||
      (flags != nullptr && (flags->tested | flags->modified | flags->set_0 | flags->set_1 | flags->undefined) != 0);
  if (d.operands == 0) {
    // Either the instruction has no operands, or they are unknown.
    f.known = d.raw.operand_count == 0 && d.raw.length != 0;
    return f;
  }
  f.registers = 1u << rsp;
  for (u32 k = 0; k < d.operands; k++) {
    const ZydisDecodedOperand& op = d.operand[k];
    if (op.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(f.registers, op.reg.value);
    if (op.type == ZYDIS_OPERAND_TYPE_MEMORY)
      add_register(f.registers, op.mem.base), add_register(f.registers, op.mem.index);
  }
  if (find_scattered(f, in, d)) return f;
  if (in.dynamic != 0) {
    f.repeat.bytes = static_cast<u8>(in.operand_bits / 8);
    f.repeat.from =
        in.dynamic == channel::dynamic_move || in.dynamic == channel::dynamic_compare || (in.opcode & 0xfe) == 0xac;
    f.repeat.to = (in.opcode & 0xfe) != 0xac;
    f.repeat.low = in.address_bits == 32;
    f.repeat.to_stores = in.dynamic == channel::dynamic_move || in.dynamic == channel::dynamic_store;
    return f;
  }
  if (in.loads + in.stores != 0) find_operands(f, in, d);
  return f;
}

}  // namespace tally::engine::instrument
