#include "tally/engine/translate/generate.hpp"

#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/entry_check.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/unasked.hpp"

namespace tally::engine::translate {
namespace {

// --- copies ---------------------------------------------------------------------------------------------------------

/// Copies an instruction whose RIP-relative operand the cache cannot reach, above 2 GB: addresses it by a register.
void copy_far(Builder& b, const Instruction& in, u32 segment) {
  static const u8 candidates[] = {rax, rcx, rdx, rbx, rsi, rdi};
  const u16 used = registers_of(in);
  u8 reg = rax;
  for (const u8 c : candidates)
    if (!(used >> c & 1)) reg = c;
  const u32 modrm = in.modrm_at, displacement = in.displacement_at;
  u8 bytes[16];
  without_extensions(in, bytes);
  b.e.store(reg, o_spill1);
  b.move_address(reg, in.rip_operand());
  b.place(in, segment, Borrowed::one, reg);
  b.e.bytes(bytes, modrm);
  b.e.byte(static_cast<u8>((in.bytes[modrm] & 0x38) | reg));
  b.e.bytes(in.bytes + displacement + 4, in.length - displacement - 4);
  b.e.load(reg, o_spill1);
}

void copy_plain(Builder& b, const Instruction& in, u32 segment) {
  if (!in.rip_relative()) {
    b.place(in, segment);
    b.e.instruction(in.bytes, in.length);
    return;
  }
  const u64 operand = in.rip_operand();
  if (in.legacy && in.map == Map::one_byte && in.opcode == 0x8d && in.operand_bits >= 32) {
    b.place(in, segment);
    b.move_address(in.reg(), operand, in.operand_bits);
    return;
  }
  const u32 modrm = in.modrm_at, displacement = in.displacement_at;
  const s64 relative = static_cast<s64>(operand - (b.e.here() + in.length));
  if (fits32(relative)) {
    b.place(in, segment);
    b.e.bytes(in.bytes, displacement);
    b.displacement(operand, in.length - displacement - 4);
    b.e.bytes(in.bytes + displacement + 4, in.length - displacement - 4);
    return;
  }
  if (fits32(static_cast<s64>(operand))) {
    if (in.address_bits == 32) recorder.give_up();  // the low half of an address that is not known in advance
    u8 bytes[16];
    without_extensions(in, bytes);
    b.place(in, segment);
    b.e.bytes(bytes, modrm);
    b.e.byte(static_cast<u8>((in.bytes[modrm] & 0x38) | 4));
    b.e.byte(0x25);
    b.e.dword(static_cast<u32>(operand));
    b.e.bytes(in.bytes + displacement + 4, in.length - displacement - 4);
    return;
  }
  copy_far(b, in, segment);
}

/// Emits the counting of `reg` iterations or elements, or of minus as many. Changes rdx and preserves the flags.
void emit_dynamic(Emitter& e, const Instruction& in, u8 reg, s32 sign) {
  if (in.dynamic != 0) emit_run_time_count(e, in.dynamic, reg, sign);
  const Mix* const mix = run_time_mix(in);
  for (u32 i = 0; mix != nullptr && i < mix->at_run_time; i++)
    emit_run_time_count(e, channel::run_time_counter(mix->of_each[i].field), reg, sign * mix->of_each[i].n);
}

/// The same for RCX or ECX. Preserves all registers.
void emit_dynamic_by_rcx(Emitter& e, const Instruction& in, bool short_count, s32 sign) {
  e.store(rdx, o_spill1);
  if (short_count) {
    e.store(rax, o_spill2);
    e.byte(0x89);  // mov eax, ecx
    e.byte(0xc8);
    emit_dynamic(e, in, rax, sign);
    e.load(rax, o_spill2);
  } else {
    emit_dynamic(e, in, rcx, sign);
  }
  e.load(rdx, o_spill1);
}

void copy_repeat(Builder& b, const Instruction& in, u32 segment) {
  const bool short_count = in.address_bits == 32;
  emit_dynamic_by_rcx(b.e, in, short_count, 1);
  InstructionMapping& p = b.place(in, segment);
  p.dynamic = static_cast<u8>(in.dynamic | (short_count ? InstructionMapping::by_ecx : 0));
  b.e.instruction(in.bytes, in.length);
  if (in.ends_early) emit_dynamic_by_rcx(b.e, in, short_count, -1);
}

/// Emits eax = the bits of the mask from element `from` on; all of a vector register, up to 64 of an opmask register.
void emit_mask(Emitter& e, const ElementMask& mask, u32 from) {
  const u8 number = mask.number;
  if (mask.element_bits == 8) {
    const u8 pmovmskb[] = {0x66, static_cast<u8>(number < 8 ? 0x40 : 0x41), 0x0f, 0xd7,
                           static_cast<u8>(0xc0 | (number & 7))};
    e.bytes(pmovmskb, sizeof pmovmskb);
  } else if (mask.element_bits != 0) {
    const bool is_wide = mask.elements * mask.element_bits == 256;
    const u8 movmsk[] = {0xc4, static_cast<u8>(0xc1 | (number < 8 ? 0x20 : 0)),
                         static_cast<u8>(0x78 | (is_wide ? 4 : 0) | (mask.element_bits == 64 ? 1 : 0)), 0x50,
                         static_cast<u8>(0xc0 | (number & 7))};
    e.bytes(movmsk, sizeof movmsk);
  } else if (mask.elements <= 16) {
    const u8 kmovw[] = {0xc5, 0xf8, 0x93, static_cast<u8>(0xc0 | number)};
    e.bytes(kmovw, sizeof kmovw);
  } else {
    const u8 kmovq[] = {0xc4, 0xe1, 0xfb, 0x93, static_cast<u8>(0xc0 | number)};
    const u8 rorx[] = {0xc4, 0xe3, 0xfb, 0xf0, 0xc0, static_cast<u8>(from)};  // rorx rax, rax, from
    e.bytes(kmovq, sizeof kmovq);
    e.bytes(rorx, sizeof rorx);
  }
}

/// Emits eax = the number of bits set in the lowest `elements` bits of eax, at most 16. Changes rdx.
void emit_bits_set(Emitter& e, u32 elements, bool has_others) {
  static const u8 lookup_rax[] = {0x65, 0x0f, 0xb6, 0x80}, lookup_rdx[] = {0x65, 0x0f, 0xb6, 0x92};
  if (elements == 16) {
    static const u8 halves[] = {0x0f, 0xb6, 0xd4, 0x0f, 0xb6, 0xc0};  // movzx edx, ah; movzx eax, al
    e.bytes(halves, sizeof halves);
    e.bytes(lookup_rdx, sizeof lookup_rdx);
    e.dword(o_popcount);
    e.bytes(lookup_rax, sizeof lookup_rax);
    e.dword(o_popcount);
    e.add_registers(rax, rax, rdx);
    return;
  }
  if (has_others) {
    e.move_constant(rdx, (1u << elements) - 1);
    static const u8 pext[] = {0xc4, 0xe2, 0x7a, 0xf5, 0xc2};  // pext eax, eax, edx
    e.bytes(pext, sizeof pext);
  }
  e.bytes(lookup_rax, sizeof lookup_rax);
  e.dword(o_popcount);
}

/// Copies an instruction with a mask, and counts the elements whose bits are set. Preserves the flags.
void copy_masked(Builder& b, const Instruction& in, const ElementMask& mask, u32 segment) {
  constexpr u32 at_once = 16;
  Emitter& e = b.e;
  e.store(rax, o_spill1);
  e.store(rdx, o_spill2);
  for (u32 from = 0; from < mask.elements; from += at_once) {
    emit_mask(e, mask, from);
    emit_bits_set(e, mask.elements - from < at_once ? mask.elements - from : at_once, mask.element_bits == 0);
    emit_dynamic(e, in, rax, 1);
  }
  e.load(rdx, o_spill2);
  e.load(rax, o_spill1);
  const u32 first = tables.places.size;
  copy_plain(b, in, segment);
  InstructionMapping& p = tables.places[first];
  p.dynamic = static_cast<u8>(in.dynamic | InstructionMapping::by_mask);
  p.mask = mask;
}

/// Whether the address of a memory operand depends on this register.
bool addresses_by(const Instruction& in, u8 reg) {
  constexpr u8 by_sib = 4, no_base = 5, no_index = rsp;
  if (in.rip_relative()) return false;
  if ((in.rm() & 7) != by_sib) return in.rm() == reg;
  return (in.base() == reg && !(in.mod() == 0 && (in.base() & 7) == no_base)) ||
         (in.index() == reg && in.index() != no_index);
}

/// Whether the copy of an instruction that moves extended state must select fewer components than the program does.
/// A model with XSAVE has BMI2.
bool is_limited(const Instruction& in) {
  return in.moves_state && settings().cpu.features.has(channel::Feature::xsave);
}

/// Whether the copy cannot have the same operand: it is out of reach, or needs the registers of the selection.
bool is_operand_moved(const Builder& b, const Instruction& in) {
  const bool is_near = !in.rip_relative() || fits32(static_cast<s64>(in.rip_operand() - b.e.here()) + 64);
  return !is_near || addresses_by(in, rax) || addresses_by(in, rdx);
}

/// Emits lea rbx, the operand of the instruction.
void emit_operand_address(Builder& b, const Instruction& in) {
  if (in.rip_relative()) return b.move_address(rbx, in.rip_operand());
  constexpr u8 address_size = 0x67, extensions_of_operand = 3, lea = 0x8d;
  if (in.address_bits == 32) b.e.byte(address_size);
  b.e.byte(static_cast<u8>(0x48 | (in.rex & extensions_of_operand)));
  b.e.byte(lea);
  b.e.byte(static_cast<u8>((in.modrm & 0xc7) | rbx << 3));
  b.e.bytes(in.bytes + in.modrm_at + 1, in.length - in.modrm_at - 1u);
}

/// Copies the instruction with the operand [rbx].
void copy_by_rbx(Builder& b, const Instruction& in, u32 segment) {
  constexpr u8 by_fs = 0x64, wide = 8;
  b.place(in, segment, Borrowed::rax_rdx_rbx);
  if (in.fs) b.e.byte(by_fs);
  if (in.rex & wide) b.e.byte(0x48);
  b.e.byte(0x0f);
  b.e.byte(in.opcode);
  b.e.byte(static_cast<u8>((in.modrm & 0x38) | rbx));
}

/// Copies it so that it moves only components that the presented processor has, because the program reserved memory
/// for these. Preserves the flags.
void copy_limited_state(Builder& b, const Instruction& in, u32 segment) {
  Emitter& e = b.e;
  const bool is_moved = is_operand_moved(b, in);
  if (is_moved) {
    e.store(rbx, o_borrowed_rcx);
    emit_operand_address(b, in);
  }
  e.store(rax, o_spill1);
  e.store(rdx, o_spill2);
  e.move_constant(rdx, static_cast<u32>(settings().cpu.components));
  static const u8 select[] = {0xc4, 0xe2, 0x7a, 0xf5, 0xc2,   // pext eax, eax, edx
                              0xc4, 0xe2, 0x7b, 0xf5, 0xc2};  // pdep eax, eax, edx
  e.bytes(select, sizeof select);
  static const u8 no_high_components[] = {0xba, 0, 0, 0, 0};  // mov edx, 0
  e.bytes(no_high_components, sizeof no_high_components);
  if (is_moved) {
    copy_by_rbx(b, in, segment);
    e.load(rbx, o_borrowed_rcx);
  } else {
    const u32 first = tables.places.size;
    copy_plain(b, in, segment);
    tables.places[first].borrowed = Borrowed::rax_rdx;
  }
  e.load(rax, o_spill1);
  e.load(rdx, o_spill2);
}

bool reads_gs_base(const Instruction& in) {
  return in.legacy && in.map == Map::two_bytes && in.opcode == 0xae && in.mod() == 3 && (in.modrm >> 3 & 7) == 1;
}

/// The program's GS base is 0: a program that sets it continues natively.
void copy_gs_base(Builder& b, const Instruction& in, u32 segment) {
  b.place(in, segment);
  b.e.move_constant(in.rm(), 0);
}

}  // namespace

ElementMask mask_of(const Instruction& in, const Mix* at_run_time) {
  if (!in.gather) return at_run_time == nullptr ? ElementMask{} : at_run_time->mask;
  const ZydisDecodedInstruction raw = Details(in).raw;
  const Gathering gathering = gathering_of(raw, in.opcode);
  if (raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) return {gathering.elements, 0, raw.raw.evex.aaa};
  return {gathering.elements, static_cast<u8>(gathering.element_bits), static_cast<u8>(~raw.raw.vex.vvvv & 15)};
}

void emit_head(Builder& b, const Instruction& in) {
  const bool is_push_or_pop = in.legacy && in.map == Map::one_byte && (in.opcode & 0xf0) == 0x50;
  if (in.kind == Kind::jump || in.resolved)
    b.e.nops(2);
  else if (in.length == 1 && is_push_or_pop)
    b.e.byte(0x40);  // a prefix without effect
  else if (in.length == 1)
    b.e.nops(2);
}

void emit_increment(Builder& b, u32 segment, u32 number, Increment::Method how, u8 reg) {
  if (is_instrumented) reg = instrumentation->spared(reg);
  const u32 counter = counters_at + 8 * number;
  constexpr u32 displacement_at = 5;  // in an access through GS
  Emitter& e = b.e;
  const auto fix = [&] { recorder.fix(Fix::counter, b.offset() + displacement_at, segment); };
  if (is_probed) probes->counted(b, number);
  // Saving the flags costs less than changing several numbers without them.
  const bool saves_flags = how == Increment::spill && !is_instrumented && (counts_down() || summed_events.count != 0);
  const Flags flags = how == Increment::inc ? Flags::dead : saves_flags ? Flags::saved : Flags::live;
  if (saves_flags) {
    e.store(rax, o_spill1);
    e.save_flags();
  }
  if (counts_down()) emit_countdown(b, number, flags);
  emit_sums(b, number, flags);
  if (flags != Flags::live) {
    fix();
    e.byte(0x65);
    e.byte(0x48);
    e.byte(0xff);
    e.byte(0x04);
    e.byte(0x25);
    e.dword(counter);
    if (!saves_flags) return;
    e.restore_flags();
    e.load(rax, o_spill1);
    return;
  }
  if (how == Increment::spill) e.store(reg, o_spill1);
  fix();
  e.load(reg, counter);
  e.add_constant(reg, 1);
  fix();
  e.store(reg, counter);
  if (how == Increment::spill) e.load(reg, o_spill1);
}

void emit_copy(Builder& b, const Instruction& in, u32 segment) {
  if (in.unasked != 0) emit_unasked_count(b, in);
  if (reads_gs_base(in) && fsgsbase_allowed)
    copy_gs_base(b, in, segment);
  else if (const ElementMask mask = mask_of(in, run_time_mix(in)); mask.elements != 0)
    copy_masked(b, in, mask, segment);
  else if (in.dynamic != 0)
    copy_repeat(b, in, segment);
  else if (is_limited(in))
    copy_limited_state(b, in, segment);
  else
    copy_plain(b, in, segment);
  if (is_popf(in)) b.e.byte(0x90);
}

namespace {

void place_end(Builder& b, u64 target, u32 segment) {
  b.trace.place_count++;
  InstructionMapping p{};
  p.pc = static_cast<s32>(target - b.trace.pc);
  p.segment = static_cast<u8>(segment);
  p.kind = Kind::end;
  p.offset = b.offset();  // before the alignment of the jump: after an int3, the program's pc is here
  tables.places.add(p);
}

}  // namespace

void emit_leave(Builder& b, u64 target, u32 segment) {
  place_end(b, target, segment);
  b.exit(-1, target);
}

u64 emit_loop_jump(Builder& b, u64 to, u32 segment) {
  place_end(b, b.trace.pc, segment);
  while (crosses_line(b.e.here() + 1)) b.e.byte(0x90);
  b.e.jump(to);
  return b.e.here() - 4;
}

u64 next_body(const Arena& arena, u64 pc, bool by_jump) {
  const u32 check = by_jump ? entry_check_bytes(pc) : 0;
  return (arena.hot + dead_jump_bytes + check + trace_alignment - 1) & ~(trace_alignment - 1);
}

Builder begin_trace(Arena& arena, u64 key, bool by_jump, u64 later) {
  const u64 pc = pc_of_key(key);
  // The head is aligned so that one store can replace it. A larger alignment makes code larger and nothing faster.
  const u32 check = by_jump ? entry_check_bytes(pc) : 0;
  Emitter e{reinterpret_cast<u8*>(arena.hot)};
  e.nops(static_cast<u32>(next_body(arena, pc, by_jump) + later - check - arena.hot));
  Trace& trace = *new_trace(arena, key, e.here());
  if (by_jump) trace.entry = emit_entry_check(arena, e, pc);
  trace.body = e.here();
  trace.places = &tables.places[tables.places.size];
  trace.segments = &tables.segments[tables.segments.size];
  return {arena, e, trace, trace.body};
}

void abandon_trace(const Builder& b) {
  mark_dead(b.trace);
  b.trace.bytes = 0;
  b.trace.start = b.arena.hot;
}

}  // namespace tally::engine::translate
