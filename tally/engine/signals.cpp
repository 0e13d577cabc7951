#include "tally/engine/signals.hpp"

#include "tally/engine/cache.hpp"
#include "tally/engine/entry.hpp"
#include "tally/engine/image.hpp"

namespace tally::engine {
namespace {

/// struct ucontext as the kernel has it, on x86-64.
struct Context {
  u64 uc_flags, link;
  AltStack stack;
  u64 r[16];  // r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp
  u64 ip, flags;
  u16 cs, gs, fs, ss;
  u64 error, trap, old_mask, cr2;
  u64 fpstate;
  u64 reserved[8];
  u64 mask;

  u64& reg(u8 number) {
    static const u8 order[16] = {13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7};
    return r[order[number]];
  }
};
static_assert(sizeof(Context) == 304);

/// What the kernel puts on the stack for a handler.
struct Frame {
  u64 restorer;
  Context context;
  u8 info[128];
};
static_assert(sizeof(Frame) == 440);

enum : u64 {
  on_stack = 0x08000000,
  restart = 0x10000000,
  no_defer = 0x40000000,
  reset_hand = 0x80000000,
  sig_info = 4,
  has_restorer = 0x04000000,
  no_child_stop = 1,
  no_child_wait = 2
};
constexpr u64 trap_flag = 0x100, direction_flag = 0x400, resume_flag = 0x10000;
constexpr int sigill = 4, sigtrap = 5, sigkill = 9, sigsegv = 11, sigstop = 19;
constexpr u64 autodisarm = 1u << 31, alt_disabled = 2, alt_on = 1;

// Default action: the process ends. They get a handler of the engine's, so that the counts are exact at the end.
constexpr u64 fatal_signals = bit(1) | bit(2) | bit(3) | bit(6) | bit(10) | bit(12) | bit(13) | bit(14) | bit(15) |
                              bit(16) | bit(24) | bit(25) | bit(26) | bit(27) | bit(29) | bit(30) | bit(31);

enum Stepping : u32 { not_stepping, to_boundary, one_instruction };

u32 opmask_offset;  // of the opmask registers in a signal frame
bool stopping;      // the process ends: threads stop
bool leaving_;      // the process goes on natively
u64 actions_known;  // signals whose action the program has set or that the engine has asked for

extern "C" void signal_entry(int, u8*, Context*);

s64 kernel_action(int signal, const Action* set, Action* old) {
  return kernel(SYS_rt_sigaction, static_cast<u64>(signal), reinterpret_cast<u64>(set), reinterpret_cast<u64>(old), 8);
}

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

void set_kernel_mask(u64 mask) { kernel(SYS_rt_sigprocmask, 2, reinterpret_cast<u64>(&mask), 0, 8); }

bool in_engine(u64 rip) { return rip - image_base < image_header().bytes; }

// --- exact counts in the middle of a trace --------------------------------------------------------------------------

u32 mask_elements(const Place& p, Context* c) {
  const u8* fp = reinterpret_cast<const u8*>(c->fpstate);
  u32 n = 0;
  if (p.pad[1] == 0) {
    const u64 mask = *reinterpret_cast<const u64*>(fp + opmask_offset + 8 * p.pad[2]);
    return bits_set(mask & ((1ull << p.pad[0]) - 1));
  }
  const u32 step = p.pad[1] / 8u;
  for (u32 i = 0; i < p.pad[0]; i++) {
    const u32 last = i * step + step - 1;  // the byte with the sign of element i
    const u8 b = last < 16 ? fp[160 + 16 * p.pad[2] + last] : fp[576 + 16 * p.pad[2] + last - 16];
    n += b >> 7;
  }
  return n;
}

/// Makes counts and registers those of the program at the place: what was counted ahead is taken back, what ran before
/// its segment was counted is added, what generated code had borrowed is given back. Returns the program's pc.
u64 settle_at(Thread* t, Context* c, const Spot& s) {
  const Trace& trace = *s.trace;
  const Segment& seg = tables.segments[trace.segments + s.place->segment];
  channel::Totals delta;
  channel::SegmentVector kinds{};
  for (u32 i = seg.first; i < s.index; i++) {
    const Place& p = tables.places[trace.places + i];
    delta.field[channel::instructions]++;
    delta.field[channel::loads] += p.loads;
    delta.field[channel::stores] += p.stores;
    add_kind(kinds, p.kind);
  }
  channel::add(delta, kinds, 1);
  if (s.place->segment > 0) delta.field[channel::taken]--;
  if (s.offset >= seg.counted) channel::add(delta, segment(trace.number + s.place->segment), -1);
  correct(t, delta);
  const Place& p = *s.place;
  if (p.dynamic != 0 && s.offset == p.offset) {
    const u32 number = p.dynamic & 0x3f;
    u64 n = c->reg(rcx);
    if (p.dynamic & 0x80) n = static_cast<u32>(n);
    if (p.dynamic & 0x40) n = mask_elements(p, c);
    counters(t)[number] -= n;
  }
  if (s.offset >= p.offset) {
    if (p.borrowed == Borrowed::rcx_r11) c->reg(rcx) = t->gpr[rcx], c->reg(r11) = t->gpr[r11];
    if (p.borrowed == Borrowed::one) c->reg(p.reg) = t->spill[0];
  }
  return trace.pc + static_cast<s64>(p.pc);
}

// --- delivery -------------------------------------------------------------------------------------------------------

[[noreturn]] void go_on(Thread* t) {
  dispatch(t);
  resume_program();
}

/// The program dies by `signal`, at its own address and with its own registers: the handler returns there.
void die_by(Thread* t, Context* c, int signal, const u8* info, u64 mask) {
  stop_others(t);
  end_as(t, channel::End::signalled, signal);
  finish_process(t);
  const Action natural = {0, has_restorer, reinterpret_cast<u64>(signal_restorer), 0};
  kernel_action(signal, &natural, nullptr);
  c->flags &= ~trap_flag;
  c->mask = mask & ~bit(signal);
  c->stack = t->alt;
  kernel(SYS_rt_tgsigqueueinfo, static_cast<u64>(kernel(SYS_getpid)), static_cast<u64>(kernel(SYS_gettid)),
         static_cast<u64>(signal), reinterpret_cast<u64>(info));
}

u64 frame_bytes_of_vectors(u64 fpstate) {
  if (fpstate == 0) return 0;
  const bool extended = at<u32>(fpstate + 464) == 0x46505853;
  return extended ? at<u32>(fpstate + 468) : 512;
}

/// Runs the program's handler for `signal` as the kernel would, the program being at c->ip with the registers of `c`.
/// Returns only when there is nothing to run: then the handler's return goes on with `c`.
void deliver(Thread* t, Context* c, int signal, u8* info, u64 mask) {
  Action& action = t->actions->of[signal];
  c->flags &= ~trap_flag;
  t->stepping = not_stepping;
  if (action.handler == 0 || c->cs != 0x33) return die_by(t, c, signal, info, mask);
  const Action a = action;
  const u64 sp = c->reg(rsp);
  const bool alt_usable = t->alt.bytes != 0 && !(t->alt.flags & alt_disabled);
  const bool already =
      alt_usable && !(t->alt.flags & autodisarm) && sp > t->alt.base && sp - t->alt.base <= t->alt.bytes;
  const u64 top = (a.flags & on_stack) && alt_usable && !already ? t->alt.base + t->alt.bytes : sp - 128;
  const u64 vectors = frame_bytes_of_vectors(c->fpstate);
  const u64 fp = (top - vectors) & ~63ull;
  const u64 frame_at = ((fp - sizeof(Frame)) & ~15ull) - 8;
  Frame frame;
  frame.restorer = a.restorer;
  copy(&frame.context, c, sizeof(Context));
  copy(frame.info, info, sizeof frame.info);
  frame.context.stack = t->alt;
  frame.context.mask = mask;
  frame.context.fpstate = c->fpstate != 0 ? fp : 0;
  if (put(fp, reinterpret_cast<const void*>(c->fpstate), vectors) != 0 || put(frame_at, &frame, sizeof frame) != 0) {
    u8 segv[128] = {sigsegv};
    segv[8] = 0x80;
    return die_by(t, c, sigsegv, segv, mask);
  }
  if (t->alt.flags & autodisarm) t->alt = {0, alt_disabled, 0, 0};
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  t->gpr[rax] = 0;
  t->gpr[rdi] = static_cast<u64>(signal);
  t->gpr[rsi] = frame_at + offsetof(Frame, info);
  t->gpr[rdx] = frame_at + offsetof(Frame, context);
  t->gpr[rsp] = frame_at;
  t->flags = c->flags & ~(direction_flag | resume_flag | trap_flag);
  t->pc = a.handler;
  t->link = 0;
  if (a.flags & reset_hand) {
    action.handler = 0;
    apply_action(action, signal);
  }
  set_mask(t, mask | a.mask | (a.flags & no_defer ? 0 : bit(signal)));
  on_engine_stack(t, go_on);
}

/// A signal that came where the program's state is not in place: it waits for the next place where it is.
void note(Thread* t, Context* c, int signal, const u8* info, u64 mask) {
  if (t->signal != 0) {
    // One waits already, so this is one that cannot be blocked: it comes again later.
    c->mask |= bit(signal);
    kernel(SYS_rt_tgsigqueueinfo, static_cast<u64>(kernel(SYS_getpid)), static_cast<u64>(kernel(SYS_gettid)),
           static_cast<u64>(signal), reinterpret_cast<u64>(info));
    return;
  }
  copy(t->info, info, sizeof t->info);
  t->signal = static_cast<u32>(signal);
  t->mask_before = mask;
  t->pad |= pad_deliver;
  c->mask = ~engine_signals;
}

/// Whatever waits, at a place where the program's registers are those of `c` and its pc is c->ip.
void arrived(Thread* t, Context* c) {
  c->flags &= ~trap_flag;
  t->stepping = not_stepping;
  if (stopping) {
    t->parked = 1;
    for (;;) kernel(SYS_pause);
  }
  if (t->signal == 0) return;
  const int signal = static_cast<int>(t->signal);
  t->signal = 0;
  t->pad &= ~static_cast<u64>(pad_deliver);
  deliver(t, c, signal, t->info, t->mask_before);
}

/// Goes on in the engine with the registers of `c`, when the handler returns.
void enter_from(Thread* t, Context* c) {
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  t->flags = c->flags & ~trap_flag;
  t->pc = c->ip;
  t->link = 0;
  c->flags &= ~(trap_flag | direction_flag);
  c->ip = reinterpret_cast<u64>(on_engine_stack);
  c->reg(rdi) = reinterpret_cast<u64>(t);
  c->reg(rsi) = reinterpret_cast<u64>(go_on);
  c->reg(rsp) = t->stack;
}

/// The process leaves the engine: the kernel's handlers become the program's, this thread goes on at its pc.
void leave_from(Thread* t, Context* c) {
  for (int s = 1; s <= 64; s++) {
    if (s == sigkill || s == sigstop || !(actions_known & bit(s))) continue;
    Action a = t->actions->of[s];
    kernel_action(s, &a, nullptr);
  }
  unwatch_all();
  c->ip = t->pc;
  c->mask = t->mask;
  c->stack = t->alt;
  set_gs(0);
}

void at_pad(Thread* t, Context* c) {
  const u64 why = t->pad;
  c->ip = t->pc;
  t->pad = 0;
  if (why & pad_leave) return leave_from(t, c);
  if (stopping || t->signal != 0) return arrived(t, c);
  if (why & pad_step) {
    t->stepping = one_instruction;
    c->flags |= trap_flag;
    return;
  }
  enter_from(t, c);
}

void step_done(Thread* t, Context* c) {
  if (t->stepping == one_instruction) {
    t->stepping = not_stepping;
    if (c->cs != 0x33) {
      mark_partial(t, channel::partial_foreign_segment);
      finish_process(t);
      t->pc = c->ip;
      c->flags &= ~trap_flag;
      return leave_from(t, c);
    }
    count_stepped(t, c->ip);
    return enter_from(t, c);
  }
  Spot spot;
  if (!in_cache(c->ip)) {
    // Back in the engine, which will find that something waits.
    t->stepping = not_stepping;
    c->flags &= ~trap_flag;
  } else if (locate(c->ip, spot) && spot.exact) {
    c->ip = settle_at(t, c, spot);
    const bool waits = t->signal != 0;
    arrived(t, c);
    if (!waits) enter_from(t, c);
  }
}

bool synchronous(int signal, const u8* info) {
  return (engine_signals & bit(signal)) != 0 && at<s32>(reinterpret_cast<u64>(info) + 8) > 0;
}

void fault(Thread* t, Context* c, int signal, u8* info) {
  const u64 rip = c->ip;
  Spot spot;
  if (t->stepping == one_instruction) {
    t->stepping = not_stepping;
  } else if (locate(rip, spot)) {
    c->ip = settle_at(t, c, spot);
  } else {
    die("a fault in the engine at", rip);
  }
  u64* address = reinterpret_cast<u64*>(info + 16);
  if (signal != sigsegv && *address == rip) *address = c->ip;
  t->stepping = not_stepping;
  // Another signal may be waiting; then the kernel's mask is not the program's.
  const u64 mask = t->signal != 0 ? t->mask_before : (c->mask & ~engine_signals) | (t->mask & engine_signals);
  if ((mask & bit(signal)) || t->actions->of[signal].handler <= 1) return die_by(t, c, signal, info, mask);
  deliver(t, c, signal, info, mask);
}

/// A write to a page whose code was translated; it is writable now. If the very trace that writes is among what was
/// dropped, the write is executed alone and what follows is read anew: it may be what was written.
void written(Thread* t, Context* c) {
  Spot spot;
  if (t->signal != 0 || !locate(c->ip, spot) || !spot.trace->dead || spot.place->dynamic != 0) return;
  c->ip = settle_at(t, c, spot);
  t->pc = c->ip;
  t->stepping = one_instruction;
  c->flags |= trap_flag;
}

extern "C" void on_signal(int signal, u8* info, Context* c) {
  Thread* t = current();
  const u64 rip = c->ip;
  const s32 code = at<s32>(reinterpret_cast<u64>(info) + 8);
  if (signal == sigsegv && code > 0) {
    if (rip == reinterpret_cast<u64>(safe_copy_instruction)) {
      if (unwatch_page(*reinterpret_cast<u64*>(info + 16))) return;
      c->ip = reinterpret_cast<u64>(safe_copy_end);
      return;
    }
    if (code == 2 && (c->error & 2) && unwatch_page(*reinterpret_cast<u64*>(info + 16))) return written(t, c);
  }
  if (signal == sigtrap && code > 0) {
    if (rip == reinterpret_cast<u64>(landing_pad) + 1) return at_pad(t, c);
    if (t->stepping != not_stepping && code == 2) return step_done(t, c);
  }
  if (signal == sigtrap && code <= 0 && stopping && t->signal == 0) {
    Spot where;
    if (locate(rip, where) && where.exact) {
      c->ip = settle_at(t, c, where);
      return arrived(t, c);
    }
    t->pad |= pad_stop;
    c->mask = ~engine_signals;
    if (in_cache(rip))
      t->stepping = to_boundary, c->flags |= trap_flag;
    else if (rip >= reinterpret_cast<u64>(resume_begin) && rip < reinterpret_cast<u64>(resume_end))
      c->ip = reinterpret_cast<u64>(resume_program);
    return;
  }
  if (synchronous(signal, info)) return fault(t, c, signal, info);

  // Asynchronous. The mask that the program had:
  const u64 mask = (c->mask & ~engine_signals) | (t->mask & engine_signals);
  if (t->actions->of[signal].handler == 1) return;  // ignored meanwhile
  if (mask & bit(signal) & engine_signals) {
    t->held |= bit(signal);  // the program blocks what the engine cannot
    return;
  }
  Spot spot;
  if (t->signal == 0 && t->stepping == one_instruction && !in_engine(rip)) return deliver(t, c, signal, info, mask);
  if (t->signal == 0 && locate(rip, spot) && spot.exact) {
    c->ip = settle_at(t, c, spot);
    return deliver(t, c, signal, info, mask);
  }
  note(t, c, signal, info, mask);
  if (in_cache(rip)) {
    t->stepping = to_boundary;
    c->flags |= trap_flag;
  } else if (rip >= reinterpret_cast<u64>(resume_begin) && rip < reinterpret_cast<u64>(resume_end)) {
    c->ip = reinterpret_cast<u64>(resume_program);
  } else if (rip >= reinterpret_cast<u64>(syscall_begin) && rip <= reinterpret_cast<u64>(syscall_instruction)) {
    // Not begun, or interrupted and set back by the kernel to begin anew: only then rcx is the address behind it.
    const bool begun = rip == reinterpret_cast<u64>(syscall_instruction) && c->reg(rcx) == rip + 2;
    c->reg(rcx) = begun ? 1 : 0;
    c->ip = reinterpret_cast<u64>(syscall_abort);
  }
}

// The kernel enters with the stack as after a call, and leaves the program's alignment check (AC) on. The engine's
// handlers use no vector register.
asm(R"(
.text
.globl signal_entry
.hidden signal_entry
signal_entry:
  push $2
  popfq
  sub $8, %rsp
  call on_signal
  add $8, %rsp
  ret
)");

}  // namespace

s64 put(u64 to, const void* from, u64 n) { return safe_copy(reinterpret_cast<void*>(to), from, n) == 0 ? 0 : -14; }
s64 get(void* to, u64 from, u64 n) { return safe_copy(to, reinterpret_cast<const void*>(from), n) == 0 ? 0 : -14; }

void use_signal_stack(Thread* t) {
  const AltStack ours = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, stack_bytes};
  kernel(SYS_sigaltstack, reinterpret_cast<u64>(&ours), 0);
}

void signals_init(Thread* t) {
  u32 a = 13, b = 0, c = 5, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  opmask_offset = b;
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

void set_mask(Thread* t, u64 mask) {
  t->mask = mask & ~(bit(sigkill) | bit(sigstop));
  if (t->signal != 0)
    t->mask_before = t->mask;
  else
    set_kernel_mask(t->mask & ~engine_signals);
  for (int s = 1; u64 due = t->held & ~t->mask; s++) {
    if (!(due & bit(s))) continue;
    t->held &= ~bit(s);
    kernel(SYS_tgkill, static_cast<u64>(kernel(SYS_getpid)), static_cast<u64>(kernel(SYS_gettid)), static_cast<u64>(s));
  }
}
void block_all() { set_kernel_mask(~engine_signals); }
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
  const u64 before = t->mask;
  u64 wanted = 0;
  if (set != 0) {
    if (get(&wanted, set, 8) != 0) return -14;
    if (how > 2) return -22;
    set_mask(t, how == 0 ? before | wanted : how == 1 ? before & ~wanted : wanted);
  }
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

void emulate_sigreturn(Thread* t) {
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
  t->link = 0;
  t->mask = c->mask & ~(bit(sigkill) | bit(sigstop));
  if (t->signal != 0) t->mask_before = t->mask;
  t->flags = c->flags & ~trap_flag;
  c->flags &= ~trap_flag;
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  dispatch(t);
  c->ip = t->pad != 0 ? reinterpret_cast<u64>(landing_pad) : t->resume;
  c->mask = t->signal != 0 ? ~engine_signals : t->mask & ~engine_signals;
  c->stack = {reinterpret_cast<u64>(t) + signal_stack_at, 0, 0, stack_bytes};
  signal_return(reinterpret_cast<u64>(c));
}

void stop_here_if_asked(Thread* t) {
  if (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) return;
  block_all();
  t->parked = 1;
  for (;;) kernel(SYS_pause);
}

void stop_others(Thread* t) {
  if (t->vfork_child != 0) return;
  if (__atomic_exchange_n(&stopping, true, __ATOMIC_ACQ_REL)) {
    // Another thread ends the process already.
    block_all();
    t->parked = 1;
    for (;;) kernel(SYS_pause);
  }
  const u64 pid = static_cast<u64>(kernel(SYS_getpid));
  for (u32 round = 0; round < 2000; round++) {
    bool all = true;
    {
      Guard guard(threads_lock);
      for (Thread* o = threads(); o != nullptr; o = o->next) {
        if (o == t || o->process != t->process) continue;
        if (__atomic_load_n(&o->parked, __ATOMIC_ACQUIRE) != 0 || __atomic_load_n(&o->in_kernel, __ATOMIC_ACQUIRE) != 0)
          continue;
        all = false;
        if (o->tid != 0 && round % 100 == 0) kernel(SYS_tgkill, pid, static_cast<u64>(o->tid), sigtrap);
      }
    }
    if (all) return;
    const u64 half_millisecond[2] = {0, 500000};
    kernel(SYS_nanosleep, reinterpret_cast<u64>(half_millisecond), 0);
  }
  mark_partial(t, channel::partial_not_parked);
}

bool leaving() { return leaving_; }

void leave(Thread* t, channel::Partial why) {
  mark_partial(t, why);
  finish_process(t);  // what was counted up to here is all that ever will be
  leaving_ = true;
  t->pad = pad_leave;
  resume_program();
}

}  // namespace tally::engine
