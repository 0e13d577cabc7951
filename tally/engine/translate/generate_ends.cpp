// The ends of segments: branches, calls, returns, system calls.
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/generate.hpp"
#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::translate {
namespace {

void emit_push(Builder& b, u64 value) {
  if (value < 0x7fffffff) {
    b.e.byte(0x68);
    b.e.dword(static_cast<u32>(value));
    return;
  }
  const u64 at = literal(b.arena, value);
  b.e.byte(0xff);
  b.e.byte(0x35);
  b.fix(Fix::pushed, value, 0);
  b.e.dword(static_cast<u32>(at - b.e.here() - 4));
}

/// Emits mov rcx, the operand of an indirect jump or call.
void emit_load_target(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (in.fs) e.byte(0x64);
  if (in.rip_relative()) {
    const u64 operand = in.rip_operand();
    if (fits32(static_cast<s64>(operand - (e.here() + 7)))) {
      e.byte(0x48);
      e.byte(0x8b);
      e.byte(0x0d);
      b.displacement(operand, 0);
    } else {
      b.move_address(rcx, operand);
      e.byte(0x48);
      e.byte(0x8b);
      e.byte(0x09);
    }
    return;
  }
  if (in.address_bits == 32) e.byte(0x67);
  e.byte(static_cast<u8>(0x48 | (in.rex & 3)));
  e.byte(0x8b);
  e.byte(static_cast<u8>((in.modrm & 0xc7) | rcx << 3));
  const bool by_sib = in.mod() != 3 && (in.modrm & 7) == 4;
  if (by_sib) e.byte(in.sib);
  if (in.mod() == 1)
    e.byte(static_cast<u8>(in.displacement));
  else if (in.mod() == 2 || (in.mod() == 0 && by_sib && (in.sib & 7) == 5))
    e.dword(static_cast<u32>(in.displacement));
}

void emit_saves(Emitter& e) {
  e.store(rcx, o_borrowed_rcx);
  e.store(r11, o_borrowed_r11);
}

void end_indirect(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number,
                  u16& counted) {
  emit_saves(b.e);
  b.place(in, segment, Borrowed::rcx_r11);
  if (in.kind == Kind::ret) {
    b.e.byte(0x59);  // pop rcx
    if (in.opcode == 0xc2) {
      static const u8 lea_rsp[] = {0x48, 0x8d, 0xa4, 0x24};
      b.e.bytes(lea_rsp, sizeof lea_rsp);
      b.e.dword(static_cast<u16>(in.immediate));
    }
  } else {
    emit_load_target(b, in);
    if (in.kind == Kind::call_indirect && !is_probed) emit_push(b, in.next());
  }
  if (increment.how == Increment::late) {
    emit_increment(b, segment, number, Increment::late, r11);
    counted = b.offset();
  }
  if (is_instrumented) instrumentation->indirect(b, in);
  if (is_probed && in.kind == Kind::call_indirect) {
    probes->called(b, in, false);
    emit_push(b, in.next());
  }
  if (is_probed && in.kind == Kind::ret && probes->returns(b, in)) return;
  if (is_probed && in.kind == Kind::jump_indirect && probes->jumps(b, in)) return;
  emit_indirect(b.e, b.trace.steps);
}

void end_syscall(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number, u16& counted) {
  b.place(in, segment);
  emit_saves(b.e);
  if (increment.how == Increment::late) {
    emit_increment(b, segment, number, Increment::late, r11);
    counted = b.offset();
  }
  b.move_address(rcx, in.next());
  b.enter(Gate::system_call, b.arena.to_syscall);
}

/// Reads one of the sums as a counter, after emit_saves(). Preserves the flags. What follows executes the other
/// counters.
struct CounterRead {
  u8* matches[channel::window_sum_limit];

  explicit CounterRead(Emitter& e) {
    static const u8 number[] = {0x41, 0x89, 0xcb};  // mov r11d, ecx
    e.bytes(number, sizeof number);
    for (u32 k = 0; k < summed_events.count; k++) {
      e.load(rcx, static_cast<u32>(offsetof(Thread, counter)) + 8 * k);
      e.add_registers(rcx, rcx, r11);
      e.byte(0xe3);  // jrcxz
      matches[k] = e.p;
      e.byte(0);
    }
  }

  void end(Builder& b, const Instruction& in, u32 segment) {
    Emitter& e = b.e;
    u8* jumps[channel::window_sum_limit];
    for (u32 k = 0; k < summed_events.count; k++) {
      *matches[k] = static_cast<u8>(e.p - matches[k] - 1);
      e.load(rax, o_sums + 8 * k);
      // It contains the instruction itself.
      e.add_constant(rax, static_cast<u8>(-summed_events.weight[k][channel::instructions]));
      e.byte(0xeb);  // jmp
      jumps[k] = e.p;
      e.byte(0);
    }
    for (u32 k = 0; k < summed_events.count; k++) *jumps[k] = static_cast<u8>(e.p - jumps[k] - 1);
    static const u8 low[] = {0x89, 0xc0},                                // mov eax, eax
        high[] = {0x65, 0x0f, 0xb7, 0x14, 0x25, o_spill2 + 4, 0, 0, 0};  // movzx edx, word gs:[…]: 48 bits in all
    e.store(rax, o_spill2);
    e.bytes(low, sizeof low);
    e.bytes(high, sizeof high);
    e.load(rcx, o_borrowed_rcx);
    e.load(r11, o_borrowed_r11);
    emit_leave(b, in.next(), segment);
  }
};

bool reads_sums(const Instruction& in) {
  return summed_events.are_counters && in.kind == Kind::emulated && in.map == Map::two_bytes && in.opcode == 0x33;
}

/// The engine executes it: see far_return() and emulate().
void end_in_engine(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number,
                   u16& counted) {
  b.place(in, segment);
  emit_saves(b.e);
  if (increment.how == Increment::late) {
    emit_increment(b, segment, number, Increment::late, r11);
    counted = b.offset();
  }
  if (reads_sums(in)) {
    recorder.give_up();  // the recorder has no form for it
    CounterRead read(b.e);
    b.move_address(rcx, in.pc);
    b.enter(Gate::emulated, b.arena.to_emulated);
    return read.end(b, in, segment);
  }
  b.move_address(rcx, in.pc);
  if (in.kind == Kind::emulated) return b.enter(Gate::emulated, b.arena.to_emulated);
  recorder.give_up();  // too rare to be worth a template
  b.e.jump(b.arena.to_far_return);
}

/// loop and jrcxz reach only 127 bytes, so they skip a jump to the code that follows.
void end_loop(Builder& b, const Instruction& in, u32 segment) {
  b.place(in, segment);
  if (in.address_bits == 32) b.e.byte(0x67);
  b.e.byte(in.opcode);
  b.e.byte(5);
  u8* jump = b.e.p;
  b.e.jump(0);
  b.exit(-1, in.target());
  const u32 over = static_cast<u32>(b.e.p - jump - 5);
  __builtin_memcpy(jump + 1, &over, 4);
}

/// The processor decides whether xbegin is illegal, aborts at once, or starts a transaction. The ud2 aborts the
/// transaction, and its exception is not delivered (SDM volume 1, chapter 16).
void end_transaction(Builder& b, const Instruction& in, u32 segment) {
  static const u8 code[] = {0xc7, 0xf8, 2, 0, 0, 0,  // xbegin over
                            0x0f, 0x0b};             // ud2
  b.place(in, segment);
  b.e.bytes(code, sizeof code);
  emit_leave(b, in.target(), segment);
}

void end_jcc(Builder& b, const Instruction& in, u32 segment) {
  const u32 index = tables.places.size;
  b.place(in, segment);
  const u64 jump = b.exit(in.opcode & 15, in.target());
  tables.places[index].offset = static_cast<u16>(jump - b.body);  // after the alignment of the jump
}

/// An indirect jump or call whose target is known.
void end_resolved(Builder& b, const Instruction& in, u32 segment) {
  b.place(in, segment);
  if (is_probed && in.kind == Kind::call_indirect) probes->called(b, in, true);
  if (in.kind == Kind::call_indirect) emit_push(b, in.next());
  b.exit_by(in.rip_operand(), in.target());
}

}  // namespace

void emit_indirect(Emitter& e, bool steps) {
  static const u8 rotate[] = {0xc4, 0x63, 0x7b, 0xf0, 0xd9, 16};                              // rorx r11d, ecx, 16
  static const u8 load_high[] = {0x65, 0x44, 0x0f, 0xb7, 0x1c, 0x25, o_spill1 + 2, 0, 0, 0};  // movzx r11d, gs:[…]
  static const u8 code[] = {0x46, 0x8d, 0x1c, 0x19,                                           // lea r11d, [rcx + r11]
                            0x45, 0x0f, 0xb7, 0xdb,                                           // movzx r11d, r11w
                            0x65, 0x42, 0xff, 0x24, 0xdd};  // jmp gs:[r11 * 8 + table]
  if (settings().has_bmi2 != 0) {
    e.bytes(rotate, sizeof rotate);
  } else {
    e.store(rcx, o_spill1);
    e.bytes(load_high, sizeof load_high);
  }
  e.bytes(code, sizeof code);
  e.dword(steps ? u32{steps_table_at} : u32{jump_table_at});
}

void emit_passed(Builder& b, const Instruction& in, u32 segment) {
  b.place(in, segment);
  if (in.kind == Kind::call) emit_push(b, in.next());
}

void emit_end(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number, u16& counted) {
  if (in.resolved) return end_resolved(b, in, segment);
  switch (in.kind) {
    case Kind::jcc: end_jcc(b, in, segment); break;
    case Kind::loop: end_loop(b, in, segment); break;
    case Kind::call:
      b.place(in, segment);
      if (is_probed) probes->called(b, in, true);
      emit_push(b, in.next());
      emit_leave(b, in.target(), segment);
      break;
    case Kind::jump_indirect:
    case Kind::call_indirect:
    case Kind::ret: end_indirect(b, in, segment, increment, number, counted); break;
    case Kind::syscall: end_syscall(b, in, segment, increment, number, counted); break;
    case Kind::emulated:
    case Kind::far_return: end_in_engine(b, in, segment, increment, number, counted); break;
    case Kind::transaction: end_transaction(b, in, segment); break;
    case Kind::jump:
      b.place(in, segment);
      emit_leave(b, in.target(), segment);
      break;
    default: break;
  }
}

}  // namespace tally::engine::translate
