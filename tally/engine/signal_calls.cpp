// The program's system calls about signals, as if its actions, masks and stacks were the kernel's.
#include "tally/engine/entry.hpp"
#include "tally/engine/frame.hpp"

namespace tally::engine {
namespace {

u64 actions_known;  // signals whose action the program has set or that the engine has asked for

void set_kernel_mask(u64 mask) { kernel(SYS_rt_sigprocmask, 2, reinterpret_cast<u64>(&mask), 0, 8); }

}  // namespace

void apply_action(const Action& a, int signal) {
  const bool engines =
      (engine_signals & bit(signal)) != 0 || a.handler > 1 || (a.handler == 0 && (fatal_signals & bit(signal)) != 0);
  if (!engines) {
    Action plain = a;
    plain.flags |= has_restorer;
    plain.restorer = reinterpret_cast<u64>(signal_restorer);
    kernel_action(signal, &plain, nullptr);
    return;
  }
  const Action ours = {reinterpret_cast<u64>(signal_entry),
                       (a.handler > 1 ? a.flags & (restart | no_child_stop | no_child_wait) : u64{0}) | sig_info |
                           on_stack | has_restorer | ((engine_signals & bit(signal)) != 0 ? u64{no_defer} : u64{0}),
                       reinterpret_cast<u64>(signal_restorer), ~engine_signals};
  kernel_action(signal, &ours, nullptr);
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
  kernel(SYS_rt_sigprocmask, 0, 0, reinterpret_cast<u64>(&t->mask), 8);
  for (int s = 1; s <= 31; s++) {
    if (!((engine_signals | fatal_signals) & bit(s))) continue;
    kernel_action(s, nullptr, &t->actions->of[s]);  // ignored ones stay so over an execve
    actions_known |= bit(s);
    apply_action(t->actions->of[s], s);
  }
  set_mask(t, t->mask);
}

static u8* held_info(Thread* t, int signal) { return t->held_info[bits_set(engine_signals & (bit(signal) - 1))]; }

void hold(Thread* t, int signal, const u8* info) {
  if (t->held & bit(signal)) return;  // the kernel keeps one of a kind, too
  copy(held_info(t, signal), info, sizeof t->held_info[0]);
  t->held |= bit(signal);
}

/// Sends held signals anew, to whom they were sent: the thread or all of its process.
static void send_held(Thread* t, u64 which) {
  constexpr s32 by_thread = -6;  // SI_TKILL
  const u64 pid = static_cast<u64>(kernel(SYS_getpid)), tid = static_cast<u64>(kernel(SYS_gettid));
  for (int s = 1; u64 due = t->held & which; s++) {
    if (!(due & bit(s))) continue;
    t->held &= ~bit(s);
    const u64 number = static_cast<u64>(s), info = reinterpret_cast<u64>(held_info(t, s));
    if (at<s32>(info + 8) == by_thread)
      kernel(SYS_rt_tgsigqueueinfo, pid, tid, number, info);
    else
      kernel(SYS_rt_sigqueueinfo, pid, number, info);
  }
}

/// What the engine held back for the program is sent anew when it no longer blocks it.
static void release_held(Thread* t) { send_held(t, ~t->mask); }

void show_blocked(Thread* t) {
  if (t->signal != 0) return;  // that one comes before the call
  set_kernel_mask(t->mask);
  send_held(t, ~u64{0});
}

void set_mask(Thread* t, u64 mask) {
  t->mask = mask & ~(bit(sigkill) | bit(sigstop));
  if (t->signal != 0)
    t->mask_before = t->mask;
  else
    set_kernel_mask(t->mask & ~engine_signals);
  release_held(t);
}
void block_all() { set_kernel_mask(~engine_signals); }
void block_everything() { set_kernel_mask(~0ull); }
void unblock(Thread* t) {
  if (t->signal == 0) set_kernel_mask(t->mask & ~engine_signals);
}

s64 emulate_sigaction(Thread* t, u64 signal, u64 action, u64 old, u64 size) {
  if (size != 8 || signal < 1 || signal > 64) return -22;
  if (action != 0 && (signal == sigkill || signal == sigstop)) return -22;
  const int s = static_cast<int>(signal);
  Action wanted;
  if (action != 0 && get(&wanted, action, sizeof wanted) != 0) return -14;
  Action& current_action = t->actions->of[s];
  if (!(actions_known & bit(s))) {
    if (s != sigkill && s != sigstop) kernel_action(s, nullptr, &current_action);
    actions_known |= bit(s);
  }
  const Action before = current_action;
  if (action != 0) {
    current_action = wanted;
    current_action.mask &= ~(bit(sigkill) | bit(sigstop));
    apply_action(current_action, s);
  }
  return old != 0 ? put(old, &before, sizeof before) : 0;
}

s64 emulate_sigprocmask(Thread* t, u64 how, u64 set, u64 old, u64 size) {
  if (size != 8) return -22;
  block_all();
  if (t->signal != 0) {
    // It came before this call: its handler runs before it, under the mask of before.
    t->kernel_seen = 0;
    return begin_anew;
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

s64 emulate_sigaltstack(Thread* t, u64 set, u64 old) {
  AltStack before = t->alt, wanted;
  const u64 sp = t->gpr[rsp];
  const bool on = !(before.flags & (alt_disabled | autodisarm)) && sp > before.base && sp - before.base <= before.bytes;
  if (on) before.flags |= alt_on;
  if (set != 0) {
    if (get(&wanted, set, sizeof wanted) != 0) return -14;
    if (on) return -1;
    const u64 mode = wanted.flags & ~autodisarm;
    if (mode != 0 && mode != alt_disabled && mode != alt_on) return -22;
    if (mode == alt_disabled)
      wanted = {0, static_cast<u32>(alt_disabled), 0, 0};
    else if (wanted.bytes < 2048)
      return -12;
    else
      wanted.flags &= static_cast<u32>(autodisarm);
    t->alt = wanted;
    t->alt.pad = 0;
  }
  return old != 0 ? put(old, &before, sizeof before) : 0;
}

s64 emulate_sigreturn(Thread* t) {
  block_all();
  if (t->signal != 0) {
    t->kernel_seen = 0;
    return begin_anew;
  }
  // rsp is where the handler's return left it: behind the restorer's address.
  Context copy_of;
  Context* c = &copy_of;
  if (get(c, t->gpr[rsp], sizeof(Context)) != 0) {
    u8 info[128] = {sigsegv};
    info[8] = 0x80;
    kernel(SYS_rt_tgsigqueueinfo, static_cast<u64>(kernel(SYS_getpid)), static_cast<u64>(kernel(SYS_gettid)), sigsegv,
           reinterpret_cast<u64>(info));
    leave(t, channel::partial_foreign_segment);
  }
  t->alt = c->stack;
  t->pc = c->ip;
  t->link = no_link;
  t->mask = c->mask & ~(bit(sigkill) | bit(sigstop));
  release_held(t);
  const u64 kept = t->flags & id_flag;
  t->flags = (c->flags & ~(trap_flag | id_flag)) | kept;
  t->traces_itself = (c->flags & trap_flag) != 0;
  c->flags &= ~trap_flag;
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  dispatch(t);
  if (t->traces_itself != 0) t->pad |= pad_step;
  c->ip = t->pad != 0 ? reinterpret_cast<u64>(landing_pad) : t->resume;
  c->mask = t->signal != 0 ? ~engine_signals : t->mask & ~engine_signals;
  c->stack = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, stack_bytes};
  signal_return(reinterpret_cast<u64>(c), kept | 2);
}

void signals_for_exec(Thread* t) {
  for (int s = 1; s <= 31; s++)
    if ((engine_signals & bit(s)) && t->actions->of[s].handler == 1) kernel_action(s, &t->actions->of[s], nullptr);
  show_blocked(t);
}

void signals_after_failed_exec(Thread* t) {
  for (int s = 1; s <= 31; s++)
    if (engine_signals & bit(s)) apply_action(t->actions->of[s], s);
  unblock(t);
}

}  // namespace tally::engine
