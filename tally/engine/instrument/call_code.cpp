#include "tally/engine/instrument/call_code.hpp"

#include "tally/engine/instrument/jump_probes.hpp"
#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::instrument {

u32 calls_generation;

namespace {

constexpr u32 o_top = calls_at + offsetof(ActiveFrames, top), o_end = calls_at + offsetof(ActiveFrames, end),
              o_lowest = calls_at + offsetof(ActiveFrames, lowest);
constexpr u32 recent(u32 member) { return recent_calls_at + member; }
constexpr s8 frame_node = offsetof(Frame, node);
static_assert(offsetof(Frame, above) == 0);

/// Opcodes of operations with a register and memory.
enum Opcode : u8 { subtract = 0x2b, compare = 0x3b, load = 0x8b };
/// Conditions of jumps.
enum Unsigned : int { below = 2, not_below = 3 };

/// Emits the code of one kind of event. It is called for calls, so that the program's stack pointer is rsp + 8. Returns
/// jump to it, and it continues at their target.
class CallCode {
 public:
  CallCode(Arena& a, u32 kind) : a_(a), e_{reinterpret_cast<u8*>(a.hot)}, kind_(kind) {}

  u64 make() {
    const u64 at = e_.here();
    save();
    if (jumps_on())
      count_jump();
    else
      kind_ == call_return ? follow_return() : follow_call();
    restore();
    const u64 back = e_.here();
    kind_ == call_return ? emit_indirect(e_, false) : e_.byte(0xc3);
    make_slow(back);
    a_.hot = (e_.here() + trace_alignment - 1) & ~(trace_alignment - 1);
    return at;
  }

 private:
  /// A store takes longer than the rest, so these are few. Returns use no rcx; r11 is free where a target is in rcx.
  bool loses_rcx() const { return kind_ != call_return && !jumps_on(); }
  bool loses_r11() const { return kind_ == call_direct || kind_ == call_linked; }

  void save() {
    e_.store(rax, o_model_rax);
    e_.save_flags();
    if (loses_rcx()) e_.store(rcx, o_model_a);
    if (loses_r11()) e_.store(r11, o_model_b);
    e_.store(rdx, o_model_argument);
  }
  void restore() {
    e_.load(rdx, o_model_argument);
    if (loses_r11()) e_.load(r11, o_model_b);
    if (loses_rcx()) e_.load(rcx, o_model_a);
    e_.restore_flags();
    e_.load(rax, o_model_rax);
  }

  /// Leaves to the engine on this condition.
  void leave_if(int condition) { leaves_[leave_count_++] = jump_if(e_, condition); }

  void make_slow(u64 back) {
    const u64 at = e_.here();
    for (u32 i = 0; i < leave_count_; i++) {
      const u32 distance = static_cast<u32>(at - reinterpret_cast<u64>(leaves_[i]) - 4);
      __builtin_memcpy(leaves_[i], &distance, 4);
    }
    if (kind_ == call_return && !jumps_on()) store_constant(e_, o_model_word, call_tag | call_return);
    static const u8 lea_r11[] = {0x4c, 0x8d, 0x1d};  // lea r11, [rip + …]
    e_.bytes(lea_r11, sizeof lea_r11);
    e_.dword(static_cast<u32>(back - e_.here() - 4));
    e_.store(r11, o_model_back);
    restore();
    e_.jump(a_.to_model);
  }

  /// CMP reg, gs:[offset]
  void compare_with(u8 reg, u32 offset) { table_access(e_, compare, reg, no_register, 0, offset); }
  /// OP reg, gs:[rcx + offset]
  void of_recent(Opcode opcode, u8 reg, u32 member) { table_access(e_, opcode, reg, rcx, 0, recent(member)); }

  /// Adds the events since the last change to the node in r11. `reg` is lost.
  void add_sums(u8 reg) {
    for (u32 i = 0; i < summed_events.count; i++) {
      const u8 add[] = {static_cast<u8>(reg >> 3 << 2 | 0x49), 0x01, static_cast<u8>(0x40 | (reg & 7) << 3 | (r11 & 7)),
                        static_cast<u8>(offsetof(CallNode, self) + 8 * i)};  // add [r11 + …], reg
      e_.load(reg, o_sums + 8 * i);
      if (calls_restart_sums()) {
        e_.bytes(add, sizeof add);
        store_constant(e_, o_sums + 8 * i, 0);
        continue;
      }
      table_access(e_, subtract, reg, no_register, 0, o_calls_seen + 8 * i);
      e_.bytes(add, sizeof add);
      e_.load(reg, o_sums + 8 * i);
      e_.store(reg, o_calls_seen + 8 * i);
    }
  }

  void check_generation() {
    static const u8 load_it[] = {0x45, 0x8b, 0x1b};                 // mov r11d, [r11]
    static const u8 compare_it[] = {0x65, 0x44, 0x3b, 0x1c, 0x25};  // cmp r11d, gs:[…]
    e_.move_constant(r11, reinterpret_cast<u64>(&calls_generation));
    e_.bytes(load_it, sizeof load_it);
    e_.bytes(compare_it, sizeof compare_it);
    e_.dword(o_calls_generation);
    leave_if(not_equal);
  }

  /// rcx = offset of the recent call with the caller's node in r11; r11 = its own node.
  void find_recent() {
    static const u8 multiply_node[] = {0x41, 0x69, 0xcb};     // imul ecx, r11d, …
    static const u8 add_to_ecx[] = {0x65, 0x03, 0x0c, 0x25};  // add ecx, gs:[…]
    e_.bytes(multiply_node, sizeof multiply_node);
    e_.dword(recent_caller_factor);
    for (const u32 from : {o_model_word, o_model_a}) {
      if (from == o_model_a && kind_ != call_indirect) continue;
      e_.bytes(add_to_ecx, sizeof add_to_ecx);
      e_.dword(from);
    }
    and_low(e_, rcx, ((1u << recent_bits) - 1) << recent_shift);
    of_recent(compare, r11, offsetof(RecentCall, caller));
    leave_if(not_equal);
    static const u8 load_word_again[] = {0x65, 0x44, 0x8b, 0x1c, 0x25};  // mov r11d, gs:[…]
    static const u8 compare_word[] = {0x65, 0x44, 0x3b, 0x99};           // cmp r11d, gs:[rcx + …]
    e_.bytes(load_word_again, sizeof load_word_again);
    e_.dword(o_model_word);
    e_.bytes(compare_word, sizeof compare_word);
    e_.dword(recent(offsetof(RecentCall, word)));
    leave_if(not_equal);
    of_recent(load, r11, offsetof(RecentCall, node));
    if (kind_ == call_direct) return;
    static const u8 compare_target[] = {0x49, 0x3b, 0x13};  // cmp rdx, [r11]
    static_assert(offsetof(CallNode, target) == 0);
    if (kind_ == call_linked) {
      of_recent(load, rdx, offsetof(RecentCall, pointer));
      load_at(e_, rdx, rdx, 0);
    } else {
      e_.load(rdx, o_model_a);
    }
    e_.bytes(compare_target, sizeof compare_target);
    leave_if(not_equal);
    e_.load(rdx, o_top);
  }

  void follow_call() {
    static const u8 compare_top[] = {0x48, 0x3b, 0x0a};  // cmp rcx, [rdx]
    check_generation();
    e_.load(rdx, o_top);
    address_of(e_, rcx, rsp, no_register, 0, 8, false);
    e_.bytes(compare_top, sizeof compare_top);
    leave_if(not_below);
    compare_with(rcx, o_lowest);
    leave_if(below);
    load_at(e_, r11, rdx, frame_node);
    add_sums(rcx);
    find_recent();
    e_.add_constant(rdx, sizeof(Frame));
    compare_with(rdx, o_end);
    leave_if(not_below);
    count_and_push();
  }

  void count_and_push() {
    static const u8 increment[] = {0x49, 0xff, 0x43, offsetof(CallNode, calls)};  // inc qword [r11 + …]
    static const u8 load_below[] = {0x65, 0x48, 0x63, 0x89};                      // movsxd rcx, gs:[rcx + …]
    e_.bytes(increment, sizeof increment);
    e_.bytes(load_below, sizeof load_below);
    e_.dword(recent(offsetof(RecentCall, below)));
    e_.add_registers(r11, r11, rcx);
    store_at(e_, rdx, r11, static_cast<u32>(frame_node));
    address_of(e_, rcx, rsp, no_register, 0, 8, false);
    store_at(e_, rdx, rcx, u32{0});
    e_.store(rdx, o_top);
  }

  /// rcx: the target.
  void count_jump() {
    static const u8 load_word[] = {0x65, 0x44, 0x8b, 0x1c, 0x25};          // mov r11d, gs:[…]
    static const u8 multiply[] = {0x45, 0x69, 0xdb};                       // imul r11d, r11d, …
    static const u8 add_target[] = {0x41, 0xc1, 0xeb, jump_hash_shift,     // shr r11d, …
                                    0x41, 0x01, 0xcb,                      // add r11d, ecx
                                    0x41, 0xc1, 0xe3, recent_jump_shift};  // shl r11d, …
    static const u8 compare_word[] = {0x65, 0x44, 0x3b, 0x1c, 0x25};       // cmp r11d, gs:[…]
    static const u8 increment[] = {0x49, 0xc1, 0xeb, 32,                   // shr r11, 32
                                   0x65, 0x49, 0xff, 0x03};                // inc qword gs:[r11]
    e_.bytes(load_word, sizeof load_word);
    e_.dword(o_model_word);
    e_.bytes(multiply, sizeof multiply);
    e_.dword(jump_word_factor);
    e_.bytes(add_target, sizeof add_target);
    and_low(e_, r11, ((1u << recent_jump_bits) - 1) << recent_jump_shift);
    table_access(e_, compare, rcx, r11, 0, recent_jumps_at + offsetof(RecentJump, target));
    leave_if(not_equal);
    table_access(e_, load, r11, r11, 0, recent_jumps_at + offsetof(RecentJump, word));
    e_.bytes(compare_word, sizeof compare_word);
    e_.dword(o_model_word);
    leave_if(not_equal);
    e_.bytes(increment, sizeof increment);
  }

  void follow_return() {
    static const u8 compare_top[] = {0x48, 0x3b, 0x22};  // cmp rsp, [rdx]
    e_.load(rdx, o_top);
    e_.bytes(compare_top, sizeof compare_top);
    leave_if(not_equal);
    load_at(e_, r11, rdx, frame_node);
    address_of(e_, rdx, rdx, no_register, 0, -static_cast<s32>(sizeof(Frame)), false);
    e_.store(rdx, o_top);
    add_sums(rdx);
  }

  Arena& a_;
  Emitter e_;
  u32 kind_;
  u8* leaves_[12];
  u32 leave_count_ = 0;
};

/// Stores the word that identifies a call or jump, for the code that uses it.
void emit_word(Builder& b, const Instruction& in, bool direct, u32 word) {
  constexpr u32 word_at = 9;  // offset in the instruction that stores it
  recorder.fix_at(Fix::call_site, b.e.p + word_at, in.pc, direct);
  store_constant(b.e, o_model_word, word);
}

void emit_jump_to_code(Builder& b) {
  b.e.byte(0xe9);
  b.fix(Fix::to_call, b.trace.pc, 0, true);
  b.e.dword(static_cast<u32>(b.arena.to_call[call_return] - b.e.here() - 4));
}

}  // namespace

void make_call_code(Arena& a) {
  a.to_model = make_gate(a, enter_model);
  for (u32 kind = 0; kind < call_kinds; kind++) a.to_call[kind] = CallCode(a, kind).make();
}

void emit_call(Builder& b, const Instruction& in, bool direct, u32 word) {
  Emitter& e = b.e;
  if (direct) recorder.fix_at(Fix::call_target, e.p, in.resolved ? in.rip_operand() : in.target(), in.resolved);
  emit_word(b, in, direct, word);
  // This writes where the program's call is about to write.
  e.byte(0xe8);
  b.fix(Fix::to_call, b.trace.pc, 0);
  e.dword(static_cast<u32>(b.arena.to_call[word % call_kinds] - e.here() - 4));
}

void emit_distance_to_active(Emitter& e, u64 target) {
  e.load(r11, o_top);
  load_at(e, r11, r11, frame_node);
  load_at(e, r11, r11, offsetof(CallNode, target));
  e.move_constant(rcx, 0 - target);
  address_of(e, rcx, rcx, r11, 0, 0, false);
}

bool emit_return(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  if (in.opcode == 0xc2) {
    ask(e, b.arena.to_model, call_tag | call_return | static_cast<u32>(static_cast<u16>(in.immediate)) << recent_shift,
        r11, 0);
    return false;
  }
  emit_jump_to_code(b);
  return true;
}

void emit_jump(Builder& b, const Instruction& in, u32 word) {
  emit_word(b, in, false, word);
  emit_jump_to_code(b);
}

}  // namespace tally::engine::instrument
