// The program's system calls for signals, which act as if the kernel had the program's actions, masks and stacks.
#include "tally/engine/guest/delivery.hpp"
#include "tally/engine/guest/denied_keys.hpp"
#include "tally/engine/guest/frame_state.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/guest/timer_signals.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

u64 actions_known;  // signals whose action the program has set or the engine has read

void set_kernel_mask(u64 mask) { kernel(SYS_rt_sigprocmask, 2, reinterpret_cast<u64>(&mask), 0, 8); }

/// A signal that the program ignores must not interrupt a call that can restart.
u64 flags_for_kernel(const Action& a) {
  if (a.handler > 1) return a.flags & (restart | no_child_stop | no_child_wait);
  return a.handler == 1 ? u64{restart} : u64{0};
}

}  // namespace

void apply_action(const Action& a, int signal, Action* old) {
  const bool engines =
      (engine_signals & bit(signal)) != 0 || a.handler > 1 || (a.handler == 0 && (fatal_signals & bit(signal)) != 0);
  if (!engines) {
    Action plain = a;
    plain.flags |= has_restorer;
    plain.restorer = reinterpret_cast<u64>(signal_restorer);
    kernel_action(signal, &plain, old);
    return;
  }
  // The handler runs with all signals blocked until it unblocks them (allow_faults), so they arrive in the kernel's
  // order.
  const Action ours = {reinterpret_cast<u64>(signal_entry), flags_for_kernel(a) | sig_info | on_stack | has_restorer,
                       reinterpret_cast<u64>(signal_restorer), ~u64{0}};
  kernel_action(signal, &ours, old);
}

void restore_actions(Thread* t) {
  for (int s = 1; s <= 64; s++) {
    if (s == sigkill || s == sigstop || !(actions_known & bit(s))) continue;
    const Action a = t->actions->of[s];
    kernel_action(s, &a, nullptr);
  }
}

void clear_actions(Thread* t) {
  for (int s = 1; s <= 64; s++) {
    if (s == sigkill || s == sigstop || !(actions_known & bit(s))) continue;
    Action& a = t->actions->of[s];
    a = {a.handler == 1 ? u64{1} : u64{0}, 0, 0, 0};
    apply_action(a, s);
  }
}

s64 put(u64 to, const void* from, u64 n) { return safe_copy(reinterpret_cast<void*>(to), from, n) == 0 ? 0 : -14; }
s64 get(void* to, u64 from, u64 n) { return safe_copy(to, reinterpret_cast<const void*>(from), n) == 0 ? 0 : -14; }

void use_signal_stack(Thread* t) {
  const AltStack ours = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, stack_bytes};
  kernel(SYS_sigaltstack, reinterpret_cast<u64>(&ours), 0);
}

void signals_init(Thread* t) {
  use_signal_stack(t);
  // Nothing is delivered before the actions are known.
  const u64 all = ~u64{0};
  kernel(SYS_rt_sigprocmask, 2, reinterpret_cast<u64>(&all), reinterpret_cast<u64>(&t->mask), 8);
  for (int s = 1; s <= 64; s++) {
    if (!((engine_signals | fatal_signals) & bit(s))) continue;
    Action& action = t->actions->of[s];
    apply_action(Action{}, s, &action);
    if (action.handler == 1) apply_action(action, s);  // ignored signals stay ignored over an execve
  }
  actions_known = engine_signals | fatal_signals;
  set_mask(t, t->mask);
}

void show_blocked(Thread* t) {
  if (t->pad & pad_deliver) return;  // the delivery happens before the call
  set_kernel_mask(t->mask);
  show_pending(t);
}

void deliver_soon(Thread* t) {
  t->pad |= pad_deliver;
  set_kernel_mask(~engine_signals);
}

void set_mask(Thread* t, u64 mask) {
  // Set the mask before reading the pending set: a thread that passes a signal on reads the masks after it made the
  // signal pending.
  __atomic_store_n(&t->mask, mask & ~(bit(sigkill) | bit(sigstop)), __ATOMIC_SEQ_CST);
  if (awaits_delivery(t)) return deliver_soon(t);
  set_kernel_mask(t->mask & ~engine_signals);
}
void block_all() { set_kernel_mask(~engine_signals); }
void block_everything() { set_kernel_mask(~0ull); }
void unblock(Thread* t) { set_kernel_mask(t->pad & pad_deliver ? ~engine_signals : t->mask & ~engine_signals); }

s64 emulate_sigaction(Thread* t, u64 signal, u64 action, u64 old, u64 size) {
  if (size != 8) return -EINVAL;
  Action wanted;
  if (action != 0 && get(&wanted, action, sizeof wanted) != 0) return -EFAULT;
  if (signal < 1 || signal > 64 || (action != 0 && (signal == sigkill || signal == sigstop))) return -EINVAL;
  const int s = static_cast<int>(signal);
  Action& current_action = t->actions->of[s];
  if (!(actions_known & bit(s))) {
    if (s != sigkill && s != sigstop) kernel_action(s, nullptr, &current_action);
    actions_known |= bit(s);
  }
  const Action before = current_action;
  if (action != 0) {
    current_action = wanted;
    current_action.flags &= known_action_flags;
    current_action.mask &= ~(bit(sigkill) | bit(sigstop));
    apply_action(current_action, s);
    if ((engine_signals & bit(s)) && current_action.handler == 1) discard_pending(t, s);
  }
  return old != 0 ? put(old, &before, sizeof before) : 0;
}

s64 emulate_sigprocmask(Thread* t, u64 how, u64 set, u64 old, u64 size) {
  if (size != 8) return -EINVAL;
  block_all();
  if (t->pad & pad_deliver) {
    // The signal came before this call, so its handler runs first, under the old mask.
    t->kernel_seen = 0;
    return restart_counts;
  }
  const u64 before = t->mask;
  u64 wanted = 0;
  if (set != 0) {
    const s64 refused = get(&wanted, set, 8) != 0 ? -14 : how > 2 ? -22 : 0;
    if (refused != 0) {
      unblock(t);
      return refused;
    }
    set_mask(t, how == 0 ? before | wanted : how == 1 ? before & ~wanted : wanted);
  }
  if (set == 0) unblock(t);
  return old != 0 ? put(old, &before, 8) : 0;
}

/// Whether the kernel accepts an alternate signal stack of this size, which depends on the processor, on the state that
/// the process may use, and on kernel parameters. May leave signals blocked, as block_all() does.
static bool is_enough_for_kernel(Thread* t, u64 bytes) {
  constexpr u64 always_enough = 0x10000;
  if (bytes >= always_enough) return true;
  block_everything();
  const AltStack as_large = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, bytes};
  const s64 r = kernel(SYS_sigaltstack, reinterpret_cast<u64>(&as_large), 0);
  use_signal_stack(t);
  block_all();
  return !failed(r);
}

/// do_sigaltstack() of the kernel, with the program's stack pointer `sp`. May leave signals blocked, as block_all()
/// does.
static s64 set_alternate_stack(Thread* t, AltStack wanted, u64 sp) {
  constexpr u64 least_bytes = 2048;  // MINSIGSTKSZ
  constexpr s64 not_permitted = -1, no_memory = -ENOMEM, invalid = -EINVAL;
  if (is_on_alternate_stack(t->alt, sp)) return not_permitted;
  const u64 mode = wanted.flags & ~autodisarm;
  if (mode != 0 && mode != alt_disabled && mode != alt_on) return invalid;
  if (t->alt.base == wanted.base && t->alt.bytes == wanted.bytes && t->alt.flags == wanted.flags) return 0;
  if (mode == alt_disabled)
    wanted.base = wanted.bytes = 0;
  else if (wanted.bytes < least_bytes || !is_enough_for_kernel(t, wanted.bytes))
    return no_memory;
  t->alt = {wanted.base, wanted.flags, 0, wanted.bytes};
  return 0;
}

s64 emulate_sigaltstack(Thread* t, u64 set, u64 old) {
  const u64 sp = t->gpr[rsp];
  AltStack before = t->alt, wanted;
  before.flags &= static_cast<u32>(autodisarm);
  before.flags |= static_cast<u32>(before.bytes == 0 ? alt_disabled : is_on_alternate_stack(t->alt, sp) ? alt_on : 0);
  if (set != 0) {
    if (get(&wanted, set, sizeof wanted) != 0) return -EFAULT;
    const s64 refused = set_alternate_stack(t, wanted, sp);
    unblock(t);
    if (refused != 0) return refused;
  }
  return old != 0 ? put(old, &before, sizeof before) : 0;
}

s64 emulate_sigpending(Thread* t, u64 set, u64 size) {
  const s64 r = run(t);
  u64 pending = 0;
  if (r != 0 || size != 8 || get(&pending, set, 8) != 0) return r;
  pending |= pending_for_process(t) & t->mask;
  return put(set, &pending, 8);
}

s64 emulate_sigtimedwait(Thread* t, u64 set, u64 info, u64 size) {
  u64 wanted = 0;
  u8 found[128];
  if (size != 8 || get(&wanted, set, 8) != 0) return run(t);
  if (!(wanted & engine_signals)) {
    const s64 r = run(t);
    u8 received[128];
    if (r <= 0 || info == 0 || get(received, info, sizeof received) != 0) return r;
    reveal(static_cast<int>(r), received);
    return put(info, received, sizeof received) != 0 ? -EFAULT : r;
  }
  for (;;) {
    // From here on, a thread that holds a signal for the process sees that this thread waits for it.
    __atomic_store_n(&t->waits_for, wanted, __ATOMIC_SEQ_CST);
    t->gpr[rsi] = reinterpret_cast<u64>(found);
    const u64 mask = t->mask;
    const s64 r = run(t, &mask);
    t->gpr[rsi] = info;
    __atomic_store_n(&t->waits_for, 0, __ATOMIC_SEQ_CST);
    if (r > 0) forget_queued_to_thread(t, static_cast<int>(r));  // before another one returns from the kernel
    unblock(t);
    // The kernel woke the thread for a signal of the process, but another thread, which the kernel sees as not blocking
    // it, took it first. That thread passes it on.
    constexpr s64 interrupted = -EINTR;
    if (r == interrupted && !awaits_delivery(t) && !is_last(t)) continue;
    if (r <= 0) return r;
    reveal(static_cast<int>(r), found);
    if (is_routed(found) && !take_routed(t, static_cast<int>(r), found)) continue;  // another thread was first
    if (engine_signals & bit(static_cast<int>(r))) note_overruns(found);
    return info != 0 && put(info, found, sizeof found) != 0 ? -14 : r;
  }
}

s64 send_with_info(Thread* t, u8 info, u64 to, u64 signal) {
  const u64 original = t->gpr[info];
  u8 copy_of[128];
  const bool engines = signal - 1 < 64 && (engine_signals & bit(static_cast<int>(signal))) != 0;
  // It may not be sent to any other thread.
  if (!engines || to != static_cast<u64>(kernel(SYS_gettid)) || get(copy_of, original, sizeof copy_of) != 0)
    return run(t);
  disguise(copy_of);
  t->gpr[info] = reinterpret_cast<u64>(copy_of);
  const s64 r = run(t);
  t->gpr[info] = original;
  return r;
}

s64 send_by_descriptor(Thread* t) {
  const u64 descriptor = t->gpr[rdi], signal = t->gpr[rsi], flags = t->gpr[r10];
  // Makes the same call without a signal: the kernel permits it exactly if the process may send itself any siginfo.
  u8 without[128];
  if (t->gpr[rdx] == 0 || get(without, t->gpr[rdx], sizeof without) != 0) return run(t);
  __builtin_memset(without, 0, sizeof(s32));
  const s64 allowed = kernel(SYS_pidfd_send_signal, descriptor, 0, reinterpret_cast<u64>(without), flags);
  return send_with_info(t, rdx, failed(allowed) ? 0 : static_cast<u64>(kernel(SYS_gettid)), signal);
}

s64 emulate_read(Thread* t, u64 buffer) {
  s64 left = 0;
  if (read_from_descriptors() == 0) {
    const s64 r = run(t);
    return r > 0 && has_disguised_events() ? resolve_routed(t, buffer, r) : r;
  }
  do {
    const u64 mask = t->mask;
    const s64 r = run(t, &mask);
    left = r > 0 ? resolve_routed(t, buffer, r) : 1;
    unblock(t);
    if (r <= 0) return r;
  } while (left == 0);  // other threads took all of them
  return left;
}

s64 emulate_signalfd(Thread* t, u64 mask, u64 size) {
  u64 signals = 0;
  const s64 r = run(t);
  if (!failed(r) && size == 8 && get(&signals, mask, 8) == 0) note_descriptor(signals);
  return r;
}

/// Whether the kernel would have continued from an ignored signal to one that is delivered because `mask` does not
/// block it.
static bool has_another(const Thread* t, u64 mask) {
  u64 pending = 0;
  if (!(t->woken_in_vain & woken_by_ignored)) return false;
  kernel(SYS_rt_sigpending, reinterpret_cast<u64>(&pending), 8);
  return (pending & ~mask) != 0;
}

/// Runs a call during which `mask` replaces the program's mask. It also applies to the handler of the signal that ended
/// the call, which then returns to the previous mask.
static s64 run_under(Thread* t, u64 mask) {
  constexpr s64 interrupted = -EINTR;
  mask &= ~(bit(sigkill) | bit(sigstop));
  for (;;) {
    const u64 before = t->mask;
    t->temporary_mask = mask;
    __atomic_store_n(&t->waits_for, ~mask, __ATOMIC_SEQ_CST);
    const s64 r = run(t, &mask);
    // If no signal ended the call, signals that its mask did not block stay pending.
    if (r != interrupted) __atomic_store_n(&t->mask, before, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->waits_for, 0, __ATOMIC_SEQ_CST);
    block_all();
    const bool ended_by_signal = r == interrupted && awaits_delivery(t);
    if (ended_by_signal) {
      t->saved_mask = before;
      t->restores_mask = 1;
    }
    set_mask(t, ended_by_signal ? mask : before);
    const bool again = (t->woken_in_vain & woken_for_another) || has_another(t, mask);
    if (r == interrupted && !ended_by_signal && again) continue;
    return r;
  }
}

s64 run_with_mask(Thread* t, u8 reg, u64 size) {
  u64* g = t->gpr;
  const u64 original = g[reg];
  u64 mask = 0;
  if (original == 0 || size != 8) return run(t);
  if (get(&mask, original, 8) != 0) return -EFAULT;
  g[reg] = reinterpret_cast<u64>(&t->temporary_mask);
  const s64 r = run_under(t, mask);
  g[reg] = original;
  return r;
}

s64 run_with_mask_pair(Thread* t, u8 reg) {
  u64* g = t->gpr;
  const u64 original = g[reg];
  u64 mask = 0;
  if (original == 0) return run(t);
  if (get(t->temporary_pair, original, 16) != 0) return -EFAULT;
  if (t->temporary_pair[0] == 0 || t->temporary_pair[1] != 8) return run(t);
  if (get(&mask, t->temporary_pair[0], 8) != 0) return -EFAULT;
  t->temporary_pair[0] = reinterpret_cast<u64>(&t->temporary_mask);
  g[reg] = reinterpret_cast<u64>(t->temporary_pair);
  const s64 r = run_under(t, mask);
  g[reg] = original;
  return r;
}

s64 run_with_mask_of_ring(Thread* t) {
  constexpr u64 extended_argument = 1 << 3;  // IORING_ENTER_EXT_ARG: r8 points to the mask, its size and more
  u64* g = t->gpr;
  if (!(g[r10] & extended_argument)) return run_with_mask(t, r8, g[r9]);
  const u64 original = g[r8];
  u64 mask = 0, *argument = t->temporary_pair;
  if (original == 0 || g[r9] != sizeof t->temporary_pair) return run(t);
  if (get(argument, original, sizeof t->temporary_pair) != 0) return -EFAULT;
  if (argument[0] == 0 || static_cast<u32>(argument[1]) != 8) return run(t);
  if (get(&mask, argument[0], 8) != 0) return -EFAULT;
  argument[0] = reinterpret_cast<u64>(&t->temporary_mask);
  g[r8] = reinterpret_cast<u64>(argument);
  const s64 r = run_under(t, mask);
  g[r8] = original;
  return r;
}

s64 ask_for_state(Thread* t) {
  // The kernel refuses if a thread's alternate stack is too small for larger frames. It knows the engine's stack only,
  // so that stack is meanwhile registered with the size of the smallest one of the program.
  u64 smallest = 0;
  {
    Guard guard(threads_lock);
    for (const Thread* o = threads(); o != nullptr; o = o->next)
      if (o->process == t->process && o->alt.bytes != 0 && (smallest == 0 || o->alt.bytes < smallest))
        smallest = o->alt.bytes;
  }
  if (smallest == 0) return run(t);
  block_everything();
  const AltStack as_small = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, smallest};
  kernel(SYS_sigaltstack, reinterpret_cast<u64>(&as_small), 0);
  const s64 r = kernel(SYS_arch_prctl, t->gpr[rdi], t->gpr[rsi]);
  use_signal_stack(t);
  unblock(t);
  return r;
}

/// force_valid_ss() of the kernel: whether a stack may use this segment.
static bool is_stack_segment(u64 selector) {
  constexpr u32 present_writable_data = 0xf200, of_what = 0xfa00;  // of privilege 3; it may grow down
  u32 rights = 0;
  asm volatile("lar %1, %0; jz 1f; xor %0, %0; 1:" : "=r"(rights) : "r"(static_cast<u32>(selector)) : "cc");
  return (rights & of_what) == present_writable_data;
}

/// Whether a return from this frame leads to code that the engine can run. Otherwise it leads to 32-bit code, or the
/// kernel's own return faults.
static bool leads_to_code(const Context& c) {
  constexpr u64 user_privilege = 3, code_selector = 0x33, stack_selector = 0x2b, strict_stack_segment = 4;
  if ((c.cs | user_privilege) != code_selector) return false;
  const u64 stack = c.ss | user_privilege;
  return stack == stack_selector || !(c.uc_flags & strict_stack_segment) || is_stack_segment(stack);
}

s64 emulate_sigreturn(Thread* t) {
  block_all();
  if (t->pad & pad_deliver) {
    t->kernel_seen = 0;
    return restart_counts;
  }
  // After the handler's return, rsp points after the restorer's address.
  Context copy_of;
  Context* c = &copy_of;
  if (get(c, t->gpr[rsp], sizeof(Context)) != 0) {
    t->forced_sigsegv = 1;
    deliver_soon(t);
    return 0;
  }
  if (!leads_to_code(*c)) continue_natively(t, channel::partial_foreign_segment);
  if (frame_denies_own_key(*c)) continue_natively(t, channel::partial_protection_keys);
  set_alternate_stack(t, c->stack, t->gpr[rsp]);  // the kernel checks the handler's stack pointer
  t->pc = c->ip;
  t->link = no_link;
  t->mask = c->mask & ~(bit(sigkill) | bit(sigstop));
  if (awaits_delivery(t)) t->pad |= pad_deliver;
  const u64 kept = t->flags & (id_flag | nested_task_flag);
  t->flags = (c->flags & returned_flags & ~trap_flag) | (t->flags & ~returned_flags);
  t->traces_itself = (c->flags & trap_flag) != 0;
  c->flags &= ~trap_flag;
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  dispatch(t);
  if (t->traces_itself != 0) t->pad |= pad_step;
  block_everything();  // a signal that arrives from here on finds the thread at its destination
  c->ip = t->pad != 0 ? reinterpret_cast<u64>(landing_pad) : t->resume;
  c->mask = t->pad & pad_deliver ? ~engine_signals : t->mask & ~engine_signals;
  c->stack = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, stack_bytes};
  FrameState state;
  c->fpstate = loadable_frame_state(c->fpstate, state);
  // The kernel checks all that it loads: stack segment, vector registers.
  signal_return(reinterpret_cast<u64>(c), kept | 2);
}

void signals_for_exec(Thread* t) {
  for (int s = 1; s <= 31; s++)
    if ((engine_signals & bit(s)) && t->actions->of[s].handler == 1) kernel_action(s, &t->actions->of[s], nullptr);
  show_blocked(t);
  move_pending_to_kernel(t);
}

void signals_after_failed_exec(Thread* t) {
  for (int s = 1; s <= 31; s++)
    if (engine_signals & bit(s)) apply_action(t->actions->of[s], s);
  unblock(t);
}

}  // namespace tally::engine::guest
