#include "tally/engine/guest/valgrind_answers.hpp"

#include "tally/engine/guest/client_text.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/instrument/extended_state.hpp"
#include "tally/engine/instrument/marks/valgrind_marks.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

/// Numbers of requests in valgrind.h.
enum Request : u64 {
  running_on_valgrind = 0x1001,
  discard_translations = 0x1002,
  call_0 = 0x1101,
  call_3 = 0x1104,
  count_errors = 0x1201,
  monitor_command = 0x1202,
  print_list = 0x1403,
  print_list_and_stack = 0x1404,
  register_stack = 0x1501,
};

/// A function that the program requested to call.
struct Call {
  Thread* by;  // null: free
  u64 sp;      // above the return address, which is that of the request
  u64 gpr[16], flags, pc;
  u8* state;  // XSAVE area
};
constexpr u32 call_limit = 64;
constexpr u64 state_bytes = 16384;  // more than all components of any processor
Call calls[call_limit];             // of all threads; the caller of what follows holds calls_lock
Lock calls_lock;

void save_state(u8* to) { asm volatile("xsave64 %0" : "=m"(*to) : "a"(~0u), "d"(~0u) : "memory"); }
void restore_state(const u8* from) { asm volatile("xrstor64 %0" ::"m"(*from), "a"(~0u), "d"(~0u) : "memory"); }

/// Returns a free call. Those that a thread has left without a return are below its stack pointer.
Call* free_call(Thread* t) {
  for (Call& c : calls)
    if (c.by == t && c.sp <= t->gpr[rsp]) c.by = nullptr;
  for (Call& c : calls) {
    if (c.by != nullptr) continue;
    if (c.state == nullptr) c.state = reinterpret_cast<u8*>(try_reserve(state_bytes, read_write));
    return c.state != nullptr ? &c : nullptr;
  }
  return nullptr;
}

/// Numbers threads as valgrind does, from 1.
u64 number_of(Thread* t) { return t->index - process_record(t).thread + 1; }

void begin_call(Thread* t, const u64 (&words)[6]) {
  constexpr u64 red_zone = 128, direction = 1u << 10;
  Guard guard(calls_lock);
  const u64 sp = ((t->gpr[rsp] - red_zone) & ~u64{15}) - 8;
  Call* const c = free_call(t);
  if (c == nullptr || put(sp, &t->pc, 8) != 0) return;
  c->by = t;
  c->sp = sp + 8;
  c->pc = t->pc;
  c->flags = t->flags;
  for (u32 i = 0; i < 16; i++) c->gpr[i] = t->gpr[i];
  save_state(c->state);
  t->gpr[rsp] = sp;
  t->gpr[rdi] = number_of(t);
  t->gpr[rsi] = words[2];
  t->gpr[rdx] = words[3];
  t->gpr[rcx] = words[4];
  t->gpr[rax] = 0;
  t->flags &= ~direction;
  t->pc = words[1];
}

}  // namespace

void forget_requested_calls(const Thread* t) {
  Guard guard(calls_lock);
  for (Call& c : calls)
    if (c.by == t) c.by = nullptr;
}

void requested_calls_after_fork(const Thread* t) {
  calls_lock = Lock{};
  for (Call& c : calls)
    if (c.by != t) c.by = nullptr;
}

void release_requested_calls_for_dead(u32 holder) { calls_lock.release_for_dead(holder); }

bool end_requested_call(Thread* t) {
  Guard guard(calls_lock);
  for (Call& c : calls) {
    if (c.by != t || c.sp != t->gpr[rsp] || c.pc != t->pc) continue;
    const u64 result = t->gpr[rax];
    restore_state(c.state);
    for (u32 i = 0; i < 16; i++) t->gpr[i] = c.gpr[i];
    t->flags = c.flags;
    t->gpr[rdx] = result;
    c.by = nullptr;
    return true;
  }
  return false;
}

void answer_request(Thread* t, const u64 (&words)[6]) {
  u64& result = t->gpr[rdx];
  if (words[0] >= call_0 && words[0] <= call_3) return begin_call(t, words);
  switch (words[0]) {
    case running_on_valgrind:
    case monitor_command:  // no monitor knows the command
      result = 1;
      return;
    case discard_translations:
    case count_errors:
    case register_stack: result = 0; return;
    case print_list:
    case print_list_and_stack: result = print_client_text(process_record(t).pid, words[1], words[2]); return;
    default: return;
  }
}

}  // namespace tally::engine::guest

bool tally::engine::instrument::end_call_of_request(Thread* t) { return guest::end_requested_call(t); }
void tally::engine::instrument::answer_as_valgrind(Thread* t, const u64 (&words)[6]) {
  guest::answer_request(t, words);
}
