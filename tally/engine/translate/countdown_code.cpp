#include "tally/engine/translate/countdown_code.hpp"

#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::translate {

SummedEvents summed_events;

namespace {

u32 countdown_of(u32 trigger) { return o_countdown + 8 * trigger; }

/// add or sub qword gs:[at], n
enum Operation : u8 { op_add = 0x04, op_sub = 0x2c };
void change(Emitter& e, Operation operation, u32 at, s64 n) {
  const bool short_form = n >= -128 && n < 128;
  const u8 head[] = {0x65, 0x48, static_cast<u8>(short_form ? 0x83 : 0x81), operation, 0x25};
  e.bytes(head, sizeof head);
  e.dword(at);
  short_form ? e.byte(static_cast<u8>(n)) : e.dword(static_cast<u32>(n));
}

/// Emits reg = [from] + n, stores it at `to`, and preserves the flags. The register's old value is lost.
void change_by(u8 reg, Emitter& e, u32 from, s64 n, u32 to) {
  e.load(reg, from);
  e.rex_w(reg, reg);
  e.byte(0x8d);  // lea reg, [reg + n]
  e.byte(static_cast<u8>(0x80 | (reg & 7) << 3 | (reg & 7)));
  e.dword(static_cast<u32>(n));
  e.store(reg, to);
}

/// A register that may be saved and used temporarily.
u8 spare() { return is_instrumented ? instrumentation->spared(rcx) : u8{rcx}; }

/// Emits code that jumps to `exit_path` if the number at `at` is negative. It changes rcx and preserves the flags.
void leave_if_negative(Emitter& e, u32 at, u64 exit_path) {
  static const u8 highest_byte[] = {0x65, 0x0f, 0xb6, 0x0c, 0x25};  // movzx ecx, byte gs:[…]
  e.bytes(highest_byte, sizeof highest_byte);
  e.dword(at + 7);
  e.byte(0xe3);  // jrcxz over the jump
  e.byte(5);
  e.jump(exit_path);
  recorder.refer(e.p - 4, exit_path);
}

/// Emits the path into the engine, outside the trace. `from` is the start of the countdown code. If the flags are live,
/// the code there has saved rcx.
u64 emit_window_exit(Builder& b, u64 from, u32 word, Flags flags) {
  static const u8 store_constant[] = {0x65, 0x48, 0xc7, 0x04, 0x25};  // mov qword gs:[…], …
  Emitter e{reinterpret_cast<u8*>(b.arena.cold)};
  const u64 at = e.here();
  if (flags == Flags::live) e.load(rcx, o_spill1);
  if (flags == Flags::saved) {
    e.restore_flags();
    e.load(rax, o_spill1);
  }
  e.store(rax, o_gpr);
  e.bytes(store_constant, sizeof store_constant);
  e.dword(o_pc);
  e.dword(word);
  static const u8 address_of_rax[] = {0x48, 0x8d, 0x05};  // lea rax, [rip + …]
  e.bytes(address_of_rax, sizeof address_of_rax);
  e.dword(static_cast<u32>(from - e.here() - 4));
  recorder.refer(e.p - 4, from);
  e.jump(b.arena.to_window);
  recorder.refer(e.p - 4, b.arena.to_window);
  b.arena.cold = e.here();
  return at;
}

/// The usual maximum of loads, and of stores, of an instruction.
constexpr u32 usual_accesses = 2;
/// What generated code passes to identify a countdown: its trigger; or, with the number of the trace above these bits,
/// the check of a trace in steps or the first check of another trace.
constexpr u32 trigger_bits = 2, steps_word = 1u << trigger_bits, first_word = 3u << trigger_bits;
constexpr u32 trace_shift = trigger_bits + 2;
static_assert(channel::window_trigger_limit <= 1u << trigger_bits);

bool is_weighed(u32 trigger, channel::Field field) { return own_records.countdown[trigger].weight[field] != 0; }

}  // namespace

s64 slack_of(u32 trigger) {
  const bool accesses = is_weighed(trigger, channel::loads) || is_weighed(trigger, channel::stores);
  // The longest trace: that of reoptimize.cpp, or the one that settings allow.
  constexpr u32 longest = 98;
  u32 instructions = countdown_reach;
  if (is_instrumented) instructions = settings().trace_limit > longest ? settings().trace_limit + 1 : longest;
  const s64 slack = s64{instructions} * (accesses ? 2 * usual_accesses : 1);
  if (!own_records.notes_path) return slack;
  // The last 32 taken branches are usually among these.
  const s64 noted = accesses || is_weighed(trigger, channel::instructions) ? 1024 : 128;
  return slack > noted ? slack : noted;
}

s64 amount_of(u32 trigger, const channel::SegmentVector& v) {
  channel::Totals totals;
  totals.add(v);
  return engine::amount_of(trigger, totals);
}

bool is_countdown_late(const Instruction& in) {
  bool accesses = false;
  for (u32 k = 0; k < own_records.countdowns; k++)
    accesses |= is_weighed(k, channel::loads) || is_weighed(k, channel::stores);
  return accesses && (in.dynamic != 0 || in.loads > usual_accesses || in.stores > usual_accesses);
}

namespace {

s64 amount_of_sum(u32 sum, u32 number) {
  channel::Totals totals;
  add_segment(totals, number);
  s64 n = 0;
  for (u32 i = 0; i < counted_fields(); i++) n += summed_events.weight[sum][i] * totals.field[i];
  return n;
}

}  // namespace

void emit_sums(Builder& b, u32 number, Flags flags) {
  Emitter& e = b.e;
  const u8 reg = spare();
  bool saved = false;
  for (u32 i = 0; i < summed_events.count; i++) {
    const s64 n = amount_of_sum(i, number);
    const u32 at = o_sums + 8 * i;
    if (n == 0) continue;
    if (flags != Flags::live) {
      change(e, op_add, at, n);
      continue;
    }
    if (!saved) e.store(reg, o_spill1);
    saved = true;
    change_by(reg, e, at, n, at);
  }
  if (saved) e.load(reg, o_spill1);
}

namespace {

/// Emits [at] += reg * n. It changes rdx and preserves the flags.
void add_multiple(Emitter& e, u32 at, u8 reg, s64 n) {
  if (n == 0) return;
  e.load(rdx, at);
  if (n < 0) e.not_register(reg);
  for (s64 i = n < 0 ? -n : n; i > 0; i--) {
    e.add_registers(rdx, rdx, reg);
    if (n < 0) e.add_constant(rdx, 1);
  }
  if (n < 0) e.not_register(reg);
  e.store(rdx, at);
}

}  // namespace

void emit_run_time_count(Emitter& e, u32 number, u8 reg, s32 each) {
  add_multiple(e, counters_at + 8 * number, reg, each);
  if (!summed_events.has_all) return;
  for (u32 i = 0; i < summed_events.count; i++) add_multiple(e, o_sums + 8 * i, reg, each * amount_of_sum(i, number));
}

void add_run_time_count(Thread* t, u32 number, s64 n) {
  counters(t)[number] += static_cast<u64>(n);
  if (!summed_events.has_all) return;
  for (u32 i = 0; i < summed_events.count; i++) t->sums[i] += n * amount_of_sum(i, number);
}

void emit_countdown(Builder& b, u32 number, Flags flags) {
  Emitter& e = b.e;
  const u64 from = e.here();
  for (u32 k = 0; k < own_records.countdowns; k++) {
    const s64 n = amount_of(k, segment(number));
    const u32 at = countdown_of(k);
    if (n == 0) continue;
    const bool has_check = n > 0 && !b.trace.steps && !is_instrumented;
    if (flags != Flags::live) {
      change(e, op_sub, at, n);
      if (!has_check) continue;
      const u64 exit_path = emit_window_exit(b, from, k, flags);
      e.byte(0x0f);  // js
      e.byte(0x88);
      e.dword(static_cast<u32>(exit_path - e.here() - 4));
      recorder.refer(e.p - 4, exit_path);
      continue;
    }
    const u8 reg = spare();
    e.store(reg, o_spill1);
    change_by(reg, e, at, -n, at);
    if (has_check) leave_if_negative(e, at, emit_window_exit(b, from, k, flags));
    e.load(reg, o_spill1);
  }
}

bool looks_first(const Instruction& first) { return counts_down() && (is_instrumented || is_countdown_late(first)); }

void emit_first_check(Builder& b, const Instruction& first) {
  recorder.give_up();  // the code contains the number of its trace
  Emitter& e = b.e;
  const u32 trace = static_cast<u32>(&b.trace - tables.traces.data);
  const u64 exit_path = emit_window_exit(b, b.body, trace << trace_shift | first_word, Flags::live);
  e.store(rcx, o_spill1);
  for (u32 k = 0; k < own_records.countdowns; k++) {
    if (is_countdown_late(first)) {
      e.jump(exit_path);
      break;
    }
    leave_if_negative(e, countdown_of(k), exit_path);
  }
  e.load(rcx, o_spill1);
  b.trace.check = b.offset();
}

void emit_check(Builder& b, const Instruction& in) {
  recorder.give_up();  // the same
  Emitter& e = b.e;
  channel::SegmentVector v{};
  add_counts(v, in);
  const bool always = is_countdown_late(in) || own_records.notes_path;
  const u32 trace = static_cast<u32>(&b.trace - tables.traces.data);
  e.store(rcx, o_spill1);
  for (u32 k = 0; k < own_records.countdowns; k++) {
    const u64 exit_path = emit_window_exit(b, b.body, trace << trace_shift | steps_word, Flags::live);
    if (always) {
      e.jump(exit_path);
      break;
    }
    change_by(rcx, e, countdown_of(k), -amount_of(k, v), o_spill2);
    leave_if_negative(e, o_spill2, exit_path);
  }
  e.load(rcx, o_spill1);
  // If the code always leaves, it returns to here, with rcx intact.
  b.trace.check = b.offset();
}

CountdownExit reached(u64 from, u64 word) {
  CountdownExit r{};
  if ((word & first_word) == first_word) {
    r.first = &tables.traces[static_cast<u32>(word >> trace_shift)];
    return r;
  }
  if (word & steps_word) {
    r.steps = &tables.traces[static_cast<u32>(word >> trace_shift)];
    return r;
  }
  if (!locate(from, r.location)) die("a countdown outside of all traces at", from);
  r.triggers = static_cast<u32>(word) + 1;
  // The next instruction to execute: the last one that has a place at or before this offset was executed.
  if (r.location.place->offset <= r.location.offset) r.location.index++;
  r.location.place = &r.location.trace->places[r.location.index];
  r.location.exact = false;
  return r;
}

}  // namespace tally::engine::translate
