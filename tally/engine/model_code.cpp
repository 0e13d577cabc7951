#include "tally/engine/model_code.hpp"

#include "tally/engine/frame.hpp"
#include "tally/engine/model_emit.hpp"

namespace tally::engine {

ModelCode model_code;

namespace {

/// Windows of all traces, by trace.
struct WindowsOf {
  u32 first, count;
};
Growing<WindowsOf> windows_of;
Growing<ModelWindow> windows;

void windows_init() {
  if (windows.data != nullptr) return;
  windows_of.init(1u << 20);
  windows.init(8u << 20);
}

}  // namespace

// --- windows --------------------------------------------------------------------------------------------------------

void ModelCode::begin_trace() {
  windows_init();
  last_line_ = 0;
  window_count_ = way_count_ = 0;
  open_ = passed_ = false;
}

void ModelCode::begin_segment(Builder& b, const Instruction* in, u32 n, u16 live) {
  in_ = in;
  n_ = n;
  for (u32 i = n; i-- > 0;) {
    facts_[i] = facts_of(in[i]);
    live = static_cast<u16>((live & ~flags_written(in[i])) | flags_read(in[i]));
    facts_[i].live = live;
  }
  if (!passed_) return;
  passed_ = false;
  const u16 here = n == 0 ? live : facts_[0].live;
  // Behind a branch that was not taken: before anything else of what follows.
  const u8 a = r11, r = r10;
  b.e.store(a, o_model_a);
  b.e.store(r, o_model_b);
  predict(b, passed_pc_, passed_target_, false, a, r, here);
  b.e.load(a, o_model_a);
  b.e.load(r, o_model_b);
}

bool ModelCode::wants_window(u32 i) const {
  const ModelFacts& f = facts_[i];
  if (!f.known) return false;
  const Instruction& in = in_[i];
  if (model_plan.each || f.accesses != 0 || f.repeat.bytes != 0) return true;
  if (model_plan.branches && (in.kind == Kind::call || in.kind == Kind::call_indirect || in.resolved)) return true;
  const u64 line = model_plan.line_bytes;
  return model_plan.l1i &&
         (in.pc / line != last_line_ / line || (in.next() - 1) / line != last_line_ / line || last_line_ == 0);
}

void ModelCode::open(Builder& b, u32 i) {
  u16 free = static_cast<u16>(~facts_[i].registers & ~(1u << rsp | 1u << rax));
  for (u32 k = i + 1; k < n_ && facts_[k].known; k++) {
    const u16 still = static_cast<u16>(free & ~facts_[k].registers);
    if (bits_set(still) < 2) break;
    free = still;
  }
  static const u8 order[] = {r11, r10, r9, r8, rdi, rsi, rcx, rdx, rbx, r12, r13, r14, r15, rbp};
  u32 found = 0;
  for (const u8 reg : order)
    if ((free >> reg & 1) && found < 2) (found++ == 0 ? a_ : b_) = reg;
  b.e.store(a_, o_model_a);
  b.e.store(b_, o_model_b);
  windows_[window_count_] = {b.offset(), 0xffff, a_, b_};
  open_ = true;
}

void ModelCode::close(Builder& b) {
  if (!open_) return;
  b.e.load(a_, o_model_a);
  b.e.load(b_, o_model_b);
  windows_[window_count_].end = b.offset();
  if (window_count_ + 1 < sizeof windows_ / sizeof *windows_) window_count_++;
  open_ = false;
}

void ModelCode::before(Builder& b, u32 i, bool ends) {
  const Instruction& in = in_[i];
  const ModelFacts& f = facts_[i];
  if (open_ && (!f.known || (f.registers >> a_ & 1) || (f.registers >> b_ & 1))) close(b);
  if (!open_ && wants_window(i)) open(b, i);
  if (open_) {
    Emitter& e = b.e;
    if (model_plan.l1i) {
      const u64 line = model_plan.line_bytes;
      for (u64 at = in.pc & ~(line - 1); at < in.next(); at += line) {
        if (last_line_ == at) continue;
        look_at_line(b, at, f.live);
        last_line_ = at;
      }
    }
    if (model_plan.each) {
      e.move_constant(a_, in.pc);
      e.store(a_, o_model_argument);
      ask(e, b.arena.to_model, word_of(Ask::plain_fetch, in.length), a_, 0);
    }
    for (u32 k = 0; k < f.accesses; k++) look_at_data(b, in, f.access[k], f.live);
    if (f.repeat.bytes != 0) {
      e.store(rcx, o_model_repeat);
      e.store(rsi, o_model_repeat + 8);
      e.store(rdi, o_model_repeat_rdi);
      store_constant(e, o_model_repeat_word, f.repeat.word());
    }
    if (in.kind == Kind::call || (in.kind == Kind::call_indirect && in.resolved)) push_return(b, in);
    if (in.resolved) resolved_target(b, in, f.live);
    if (model_plan.each_branch && in.kind == Kind::jump) {
      e.move_constant(a_, in.target());
      e.store(a_, o_model_target);
      e.move_constant(a_, in.pc);
      e.store(a_, o_model_argument);
      ask(e, b.arena.to_model, word_of(Ask::plain_jump), a_, 0);
    }
  }
  if (ends) close(b);
}

void ModelCode::after(Builder& b, u32 i) {
  if (!open_ || facts_[i].repeat.bytes == 0) return;
  ask(b.e, b.arena.to_model, facts_[i].repeat.word(), a_, 0);
}

void ModelCode::end_segment(Builder& b) { close(b); }

void ModelCode::end_trace(Builder& b, u32 trace) {
  if (windows_of.size <= trace) windows_of.size = trace + 1;
  windows_of[trace] = {windows.size, window_count_};
  for (u32 i = 0; i < window_count_ && !windows.full(); i++) windows.add(windows_[i]);
  for (u32 i = 0; i < way_count_; i++) {
    const Way& w = ways_[i];
    lead(reinterpret_cast<u8*>(w.from), b.e.here());
    b.e.store(r11, o_model_a);
    b.e.store(r10, o_model_b);
    predict(b, w.pc, w.target, true, r11, r10, w.live);
    b.e.load(r11, o_model_a);
    b.e.load(r10, o_model_b);
    b.exit(-1, w.target);
  }
}

void give_model_registers_back(Thread* t, Context* c, const Spot& s) {
  const u32 trace = static_cast<u32>(s.trace - tables.traces.data);
  if (trace >= windows_of.size) return;
  const WindowsOf& w = windows_of[trace];
  for (u32 i = 0; i < w.count; i++) {
    const ModelWindow& window = windows[w.first + i];
    if (s.offset < window.begin || s.offset >= window.end) continue;
    c->reg(window.a) = model_thread(t)->spill[0];
    c->reg(window.b) = model_thread(t)->spill[1];
  }
}

// --- looks ----------------------------------------------------------------------------------------------------------

void ModelCode::look_at_data(Builder& b, const Instruction&, const DataAccess& access, u16 live) {
  Emitter& e = b.e;
  if (model_plan.each) {
    load_address(e, access, a_, b_);
    e.store(a_, o_model_argument);
    const Ask what = access.what == Ask::load    ? Ask::plain_load
                     : access.what == Ask::store ? Ask::plain_store
                                                 : Ask::plain_modify;
    ask(e, b.arena.to_model, word_of(what, access.bytes), a_, 0);
  }
  if (!model_plan.l1d) return;
  const u32 line = model_plan.line_bytes;
  const bool fixed = access.fixed && !access.fs;
  const bool fits = access.bytes <= line && (!fixed || access.displacement % line + access.bytes <= line);
  load_address(e, access, a_, b_);
  const bool keeps = live != 0 || access.fs || !fits;  // the address, which cannot be computed again
  if (keeps) e.store(a_, o_model_argument);
  if (live != 0) save_flags(e);
  if (!fits) {
    ask(e, b.arena.to_look_at_data, word_of(access.what, access.bytes), a_, 0);
    if (live != 0) restore_flags(e);
    return;
  }
  u8* away;
  if (fixed) {
    const u64 address = static_cast<u64>(access.displacement);
    e.move_constant(a_, ~(address & ~u64{line - 1}));
    const u32 set = static_cast<u32>(address) & model_plan.l1d_mask;
    table_access(e, 0x3b, a_, no_register, 0, l1d_at + set * model_plan.l1d_scale);
    away = jump_if(e, not_equal);
  } else {
    move(e, b_, a_);
    and_constant(e, b_, model_plan.l1d_mask);
    u32 scale = 0;
    while (1u << scale < model_plan.l1d_scale) scale++;
    table_access(e, 0x33, a_, b_, scale, l1d_at);  // xor
    compare_constant(e, a_, static_cast<s32>(access.bytes) - static_cast<s32>(line) - 1);
    away = jump_if(e, below);
  }
  const u64 back = e.here();
  if (live != 0) restore_flags(e);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  if (!keeps) {
    load_address(stub, access, a_, b_);
    stub.store(a_, o_model_argument);
  }
  ask(stub, b.arena.to_look_at_data, word_of(access.what, access.bytes), a_, back);
  b.arena.cold = stub.here();
}

void ModelCode::look_at_line(Builder& b, u64 line, u16 live) {
  Emitter& e = b.e;
  const u32 number = line_number(line);
  if (number == 0) {
    mark_partial(current(), channel::partial_code_lines);
    return;
  }
  if (live != 0) save_flags(e);
  e.byte(0x65);  // mov a, gs:[…], 32 bits
  if (a_ >> 3) e.byte(0x44);
  e.byte(0x8b);
  e.byte(static_cast<u8>(4 | (a_ & 7) << 3));
  e.byte(0x25);
  e.dword(ways_at + number * 4);
  if (a_ >> 3) e.byte(0x45);
  e.byte(0x85);  // test a, a
  e.byte(static_cast<u8>(0xc0 | (a_ & 7) << 3 | (a_ & 7)));
  u8* const away = jump_if(e, equal);
  e.load(b_, o_model_clock);
  e.add_constant(b_, 1);
  e.store(b_, o_model_clock);
  e.byte(0x65);  // mov gs:[a], b
  e.rex_w(b_, a_);
  e.byte(0x89);
  e.byte(static_cast<u8>(0x80 | (b_ & 7) << 3 | (a_ & 7)));
  if ((a_ & 7) == rsp) e.byte(0x24);
  e.dword(0);
  const u64 back = e.here();
  if (live != 0) restore_flags(e);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  store_constant(stub, o_model_argument, number);
  ask(stub, b.arena.to_look, word_of(Ask::fetch), a_, back);
  b.arena.cold = stub.here();
}

// --- branches -------------------------------------------------------------------------------------------------------

void ModelCode::predict(Builder& b, u64 pc, u64 target, bool taken, u8 a, u8 r, u16 live) {
  Emitter& e = b.e;
  if (model_plan.each_branch) {
    e.move_constant(a, target);
    e.store(a, o_model_target);
    e.move_constant(a, pc);
    e.store(a, o_model_argument);
    ask(e, b.arena.to_model, word_of(taken ? Ask::plain_taken : Ask::plain_not_taken), a, 0);
  }
  if (!model_plan.branches) return;
  constexpr u32 mask = 0x3fff;
  e.load(a, o_model_history);
  if (live != 0) save_flags(e);
  address_of(e, r, no_register, a, 1, taken ? 1 : 0, false);
  and_constant(e, r, mask);
  e.store(r, o_model_history);
  xor_constant(e, a, static_cast<u32>(pc) & mask);
  static const u8 compare_byte[] = {0x65, 0x41, 0x80, 0xbb};  // cmp byte gs:[r11 + …]
  e.bytes(compare_byte, sizeof compare_byte);
  e.dword(gshare_at);
  e.byte(taken ? 3 : 0);
  u8* const away = jump_if(e, not_equal);
  const u64 back = e.here();
  if (live != 0) restore_flags(e);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  // One step towards what happened; wrong where that was not what it said. Nobody needs the flags here.
  static const u8 step_up[] = {0x65, 0x41, 0xfe, 0x83},
                  step_down[] = {0x65, 0x41, 0xfe, 0x8b};  // inc, dec gs:[r11 + …]
  stub.bytes(taken ? step_up : step_down, 4);
  stub.dword(gshare_at);
  stub.bytes(compare_byte, sizeof compare_byte);
  stub.dword(gshare_at);
  stub.byte(taken ? 3 : 0);
  lead(jump_if(stub, equal), back);
  static const u8 increment[] = {0x65, 0x48, 0xff, 0x04, 0x25};
  stub.bytes(increment, sizeof increment);
  stub.dword(model_counts_at + static_cast<u32>(offsetof(channel::ModelCounts, values.conditional_misses)));
  stub.jump(back);
  b.arena.cold = stub.here();
}

void ModelCode::push_return(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (model_plan.each_branch && in.kind == Kind::call) {
    e.move_constant(a_, in.target());
    e.store(a_, o_model_target);
    e.move_constant(a_, in.pc);
    e.store(a_, o_model_argument);
    ask(e, b.arena.to_model, word_of(Ask::plain_call, in.length), a_, 0);
  }
  if (!model_plan.branches) return;
  load_byte(e, a_, o_model_top);
  e.move_constant(b_, 0 - in.next());
  table_access(e, 0x89, b_, a_, 0, return_stack_at);
  address_of(e, a_, a_, no_register, 0, 16, false);
  store_byte(e, a_, o_model_top);
}

/// An indirect branch whose target is known where it is translated.
void ModelCode::resolved_target(Builder& b, const Instruction& in, u16 live) {
  Emitter& e = b.e;
  if (model_plan.each_branch) {
    e.move_constant(a_, in.target());
    e.store(a_, o_model_target);
    e.move_constant(a_, in.pc);
    e.store(a_, o_model_argument);
    const Ask what = in.kind == Kind::call_indirect ? Ask::plain_indirect_call : Ask::plain_indirect;
    ask(e, b.arena.to_model, word_of(what, in.length), a_, 0);
  }
  if (!model_plan.branches) return;
  if (live != 0) save_flags(e);
  e.move_constant(a_, 0 - in.target());
  table_access(e, 0x3b, a_, no_register, 0, indirect_at + static_cast<u32>(in.pc % 512) * 8);
  u8* const away = jump_if(e, not_equal);
  const u64 back = e.here();
  if (live != 0) restore_flags(e);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  stub.move_constant(a_, in.target());
  stub.store(a_, o_model_target);
  stub.move_constant(a_, in.pc);
  stub.store(a_, o_model_argument);
  ask(stub, b.arena.to_model, word_of(Ask::indirect), a_, back);
  b.arena.cold = stub.here();
}

void ModelCode::conditional(Builder& b, const Instruction& in, u32 segment, u16 live_there) {
  Emitter& e = b.e;
  b.place(in, segment);
  u8* from;
  if (in.kind == Kind::loop) {
    if (in.address_bits == 32) e.byte(0x67);
    e.byte(in.opcode);
    e.byte(5);
    u8* const over = jump_if(e, -1);
    from = jump_if(e, -1);
    lead(over, e.here());
  } else {
    from = jump_if(e, in.opcode & 15);
  }
  ways_[way_count_++] = {reinterpret_cast<u64>(from), in.pc, in.target(), in.length, live_there};
  passed_ = true;
  passed_pc_ = in.pc;
  passed_target_ = in.target();
}

void emit_model_indirect(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (model_plan.each_branch) {
    e.store(rcx, o_model_target);
    e.move_constant(r11, in.pc);
    e.store(r11, o_model_argument);
    const Ask what = in.kind == Kind::ret             ? Ask::plain_return
                     : in.kind == Kind::call_indirect ? Ask::plain_indirect_call
                                                      : Ask::plain_indirect;
    ask(e, b.arena.to_model, word_of(what, in.length), r11, 0);
  }
  if (!model_plan.branches) return;
  const bool returns = in.kind == Kind::ret;
  const u32 entry = indirect_at + static_cast<u32>(in.pc % 512) * 8;
  if (returns) {
    load_byte(e, r11, o_model_top);
    address_of(e, r11, r11, no_register, 0, -16, false);
    store_byte(e, r11, o_model_top);
    extend_byte(e, r11);
    table_access(e, 0x8b, r11, r11, 0, return_stack_at);
  } else {
    e.load(r11, entry);
  }
  e.add_registers(rcx, r11, rcx);  // what it was predicted to be is there, negated: 0 where that is right
  e.byte(0xe3);                    // jrcxz over the jump
  e.byte(5);
  u8* const away = jump_if(e, -1);
  const u64 back = e.here();
  e.not_register(r11);
  address_of(e, rcx, rcx, r11, 0, 1, false);  // the target again
  if (in.kind == Kind::call_indirect) {
    load_byte(e, r11, o_model_top);
    e.store(rax, o_model_rax);
    e.move_constant(rax, 0 - in.next());
    table_access(e, 0x89, rax, r11, 0, return_stack_at);
    e.load(rax, o_model_rax);
    address_of(e, r11, r11, no_register, 0, 16, false);
    store_byte(e, r11, o_model_top);
  }
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  // Wrong: no call of the model. Another register is kept for the time.
  const u32 misses =
      model_counts_at + static_cast<u32>(returns ? offsetof(channel::ModelCounts, values.return_misses)
                                                 : offsetof(channel::ModelCounts, values.indirect_misses));
  stub.store(rax, o_model_rax);
  stub.load(rax, misses);
  stub.add_constant(rax, 1);
  stub.store(rax, misses);
  if (!returns) {
    stub.not_register(r11);
    address_of(stub, rax, rcx, r11, 0, 1, false);
    stub.not_register(r11);
    stub.not_register(rax);
    stub.add_constant(rax, 1);
    stub.store(rax, entry);
  }
  stub.load(rax, o_model_rax);
  stub.jump(back);
  b.arena.cold = stub.here();
}

}  // namespace tally::engine
