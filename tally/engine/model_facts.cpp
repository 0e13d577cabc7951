// What must be known of an instruction before looks can be woven around it.
#include <initializer_list>

#include "tally/engine/model_code.hpp"

namespace tally::engine {
namespace {

bool in_range(ZydisRegister r, ZydisRegister first, u32 n) { return r >= first && r < first + static_cast<int>(n); }

/// The number of a general register, whatever its width.
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

/// One memory operand; `popped`: by how much the stack pointer has moved when its address is computed.
DataAccess data_access(const ZydisDecodedOperand& op, const Instruction& in, Ask what, s64 popped) {
  DataAccess a{};
  a.what = what;
  a.bytes = op.size / 8u;
  if (a.bytes == 0) a.bytes = 512;  // xsave and its like: at least that much
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
  // What is read comes first.
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

}  // namespace

ModelFacts facts_of(const Instruction& in) {
  ModelFacts f{};
  f.known = true;
  if (in.kind == Kind::call) {
    add_access(f, stack_access(Ask::store, 8, -8));
    f.registers = 1u << rsp;
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
    // Those without any operand; else it is not known what it needs.
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
  if (in.gather) return f;
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

}  // namespace tally::engine
