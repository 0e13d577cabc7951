#include "tally/engine/guest/failing.hpp"

#include "tally/engine/channel/count_request.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

/// Takes the lock. Where only a few words are involved, also changes data that only the holder may see changed.
bool hold(Thread* t, u64 held) {
  switch (held) {
    case channel::held_nothing: return true;
    case channel::held_mappings: lock_mappings(t); return true;
    case channel::held_cache: cache_lock.take(); return true;
    case channel::held_code: lock_code(); return true;
    case channel::held_threads:
      threads_lock.take();
      own_records.threads += 5;
      return true;
    case channel::held_reserve: reserve_lock.take(); return true;
    case channel::held_models: instrument::llc_lock.take(); return true;
    case channel::held_turn: take_turn(t); return true;
    case channel::held_others: take_turn(t); return hold_others(t);
    case channel::held_all:
      lock_mappings(t);
      take_turn(t);
      hold_others(t);
      lock_tables();
      return true;
    default: return false;
  }
}

void describe(channel::EngineFailure& f, const char* what, u64 value, Context* c, const u8* info) {
  const Thread* const t = current();
  f.process = t->process;
  f.pid = static_cast<s32>(kernel(SYS_getpid));
  f.tid = static_cast<s32>(kernel(SYS_gettid));
  f.value = value;
  f.image = image_base;
  f.image_bytes = image_header().bytes;
  f.program_pc = t->pc;
  f.resume = t->resume;
  copy(f.program, t->gpr, sizeof f.program);
  for (u32 i = 0; i < sizeof f.what - 1 && what[i] != 0; i++) f.what[i] = what[i];
  if (c == nullptr) return;
  f.address = c->ip;
  f.error = c->error;
  for (u8 i = 0; i < 16; i++) f.registers[i] = c->reg(i);
  f.signal = at<s32>(reinterpret_cast<u64>(info));
  f.code = at<s32>(reinterpret_cast<u64>(info) + 8);
  f.fault_address = at<u64>(reinterpret_cast<u64>(info) + 16);
}

/// Returns where the first failure of all processes is described; null for later ones.
channel::EngineFailure* begin_failure() {
  block_everything();
  channel::EngineFailure& f = records().header().failure;
  u32 none = 0;
  return __atomic_compare_exchange_n(&f.state, &none, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? &f : nullptr;
}

[[noreturn]] void end_failure(channel::EngineFailure* described, channel::Partial partial) {
  if (described != nullptr) __atomic_store_n(&described->state, 2, __ATOMIC_SEQ_CST);
  mark_partial(current(), partial);
  end_as(current(), channel::End::exited, 125);
  for (;;) kernel(SYS_exit_group, 125);
}

}  // namespace

void end_by_failure(const char* what, u64 value, Context* c, const u8* info) {
  channel::EngineFailure* const f = begin_failure();
  if (f != nullptr) describe(*f, what, value, c, info);
  end_failure(f, channel::partial_engine_failed);
}

void end_strictly(Thread* t, channel::Partial why) {
  channel::EngineFailure* const f = begin_failure();
  if (f != nullptr) {
    f->process = t->process;
    f->pid = static_cast<s32>(kernel(SYS_getpid));
    f->unwilling = why;
  }
  end_failure(f, channel::partial_strict);
}

s64 fail_as_requested(Thread*, u64 failure) {
  if (failure == channel::fails_by_check) die("a failure that was asked for:", failure);
  if (failure == channel::fails_without_handlers) block_everything();
  if (failure != channel::fails_by_fault && failure != channel::fails_without_handlers) return -EINVAL;
  u64 nowhere = 8;
  asm volatile("" : "+r"(nowhere));
  return at<volatile u8>(nowhere);
}

s64 kill_as_requested(Thread* t, u64 held) {
  if (held >= channel::held_limit) return -EINVAL;
  hold(t, held);
  kernel(SYS_kill, static_cast<u64>(kernel(SYS_getpid)), sigkill);
  for (;;) kernel(SYS_pause);
}

}  // namespace tally::engine::guest
