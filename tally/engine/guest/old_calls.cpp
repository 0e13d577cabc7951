#include "tally/engine/guest/old_calls.hpp"

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/persist/translation_store.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/protection_keys.hpp"

namespace tally::engine::guest {
namespace {

/// Numbers of 32-bit system calls (asm/unistd_32.h).
enum OldCall : u32 { old_exit = 1, old_ptrace = 26, old_prctl = 172, old_exit_group = 252, old_seccomp = 354 };
/// fork, execve, clone, vfork, execveat and clone3; then those of signals: signal, sigaction, ssetmask, sigsuspend,
/// sigreturn, sigprocmask, rt_sigreturn, rt_sigaction, rt_sigprocmask, rt_sigsuspend and sigaltstack.
constexpr u32 unmakeable[] = {2, 11, 120, 190, 358, 435, 48, 67, 69, 72, 119, 126, 173, 174, 175, 179, 186};

/// Adds the instruction, which has not been counted yet, or subtracts it.
void count_call(Thread* t, s64 times) {
  channel::Totals delta;
  delta.field[channel::instructions] = delta.field[channel::far] = times;
  translate::add_mix_at(delta, t->pc, times);
  correct(t, t->pc, delta);
}

/// Returns only if a signal must be delivered before the thread ends.
void end_by_old_call(Thread* t, u32 number, u64 status) {
  instrument::countdowns_settle(t);
  count_call(t, 1);
  if (number == old_exit_group) emulate_exit_group(t, status);
  const u64 before = t->gpr[rax];
  t->gpr[rax] = SYS_exit;
  emulate_exit(t, status);
  t->gpr[rax] = before;
  count_call(t, -1);
}

}  // namespace

bool prepare_old_call(Thread* t) {
  u8 bytes[16] = {};
  Instruction in;
  if (!decode(t->pc, bytes, read_code(t->pc, bytes, 15), in) || !is_old_call(in)) return false;
  mark_partial(t, channel::partial_int80);
  persist::give_up_writing();  // the call may drop privileges
  constexpr u32 set_seccomp = 22;
  const u32 number = static_cast<u32>(t->gpr[rax]), argument = static_cast<u32>(t->gpr[rbx]);
  if (number == old_exit || number == old_exit_group) end_by_old_call(t, number, argument);
  if (number == old_ptrace) leave(t, channel::partial_ptraced);
  if (number == old_seccomp || (number == old_prctl && argument == set_seccomp)) leave(t, channel::partial_confined);
  for (const u32 call : unmakeable)
    if (number == call) leave(t, channel::partial_int80);
  return true;
}

}  // namespace tally::engine::guest
