#include "tally/engine/guest/delivery.hpp"

#include "tally/engine/guest/core_file.hpp"
#include "tally/engine/guest/denied_keys.hpp"
#include "tally/engine/guest/frame_state.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/source_calls.hpp"
#include "tally/engine/guest/timer_signals.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/protection_keys.hpp"
#include "tally/engine/translate/x87_pointer.hpp"

namespace tally::engine::guest {
namespace {

constexpr u8 by_kernel = 0x80;  // SI_KERNEL

bool may_be_on_alternate_stack(const AltStack& alt, u64 address) {
  return address > alt.base && address - alt.base <= alt.bytes;
}

/// Returns the mask that the return from the handler restores.
u64 mask_to_save(const Thread* t) { return t->restores_mask != 0 ? t->saved_mask : t->mask; }

/// Makes the program die by `signal` with its own address and registers: the engine's handler returns there.
void die_by(Thread* t, Context* c, int signal, const u8* info) {
  // If another thread dies first, its core file shows this thread.
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  t->flags = c->flags & ~trap_flag;
  t->pc = c->ip;
  t->vectors_in_frame = c->fpstate;
  stop_others(t);
  end_as(t, channel::End::signalled, signal);
  finish_process(t);
  block_everything();  // the signal takes effect after the handler returns: a core file then shows the program
  show_in_core_file(t, signal);
  const Action natural = {0, has_restorer, reinterpret_cast<u64>(signal_restorer), 0};
  kernel_action(signal, &natural, nullptr);
  c->flags &= ~trap_flag;
  c->mask = t->mask & ~bit(signal);
  c->stack = t->alt;
  send_to_self(signal, info);
}

/// The addresses of a handler's frame.
struct FrameLayout {
  u64 vectors, frame;
  bool fits;
};

FrameLayout layout_of_frame(const Thread* t, const Context* c, const Action& a, u64 vector_bytes) {
  constexpr u64 red_zone = 128;
  const u64 sp = c->r[15];  // rsp
  const AltStack& alt = t->alt;
  u64 top = sp - red_zone;
  bool on_alternate = is_on_alternate_stack(alt, sp);
  if ((a.flags & on_stack) && alt.bytes != 0 && !is_on_alternate_stack(alt, top)) {
    top = alt.base + alt.bytes;
    on_alternate = true;
  }
  const u64 vectors = (top - vector_bytes) & ~63ull;
  const u64 frame = ((vectors - sizeof(Frame)) & ~15ull) - 8;
  return {vectors, frame, !on_alternate || may_be_on_alternate_stack(alt, frame)};
}

/// Writes the frame. Returns false if there is no layout for it.
bool write_frame(Thread* t, const Context* c, const u8* info, const Action& a, u64& frame_at) {
  if (!(a.flags & has_restorer)) return false;
  const u64 vectors = frame_bytes_of_state(c->fpstate);
  const FrameLayout layout = layout_of_frame(t, c, a, vectors);
  if (!layout.fits) return false;
  const u64 mask = mask_to_save(t);
  Frame frame;
  frame.restorer = a.restorer;
  copy(&frame.context, c, sizeof(Context));
  copy(frame.info, info, sizeof frame.info);
  frame.context.stack = t->alt;
  frame.context.trap = t->last_trap.number;
  frame.context.error = t->last_trap.error;
  frame.context.cr2 = t->last_trap.address;
  frame.context.mask = frame.context.old_mask = mask;
  frame.context.fpstate = c->fpstate != 0 ? layout.vectors : 0;
  if (c->fpstate != 0) translate::show_program_x87(reinterpret_cast<u8*>(c->fpstate));
  frame_at = layout.frame;
  const auto write = [&] {
    return write_frame_state(layout.vectors, c->fpstate) && put(frame_at, &frame, sizeof frame) == 0;
  };
  if (!translate::has_protection_keys()) return write();
  const translate::ScopedKeys keys(keys_of_program(*c));  // the stack may have any key that the program may use
  return write();
}

}  // namespace

bool is_ignored(const Action& a, int signal) {
  return a.handler == 1 || (a.handler == 0 && !((fatal_signals | engine_signals) & bit(signal)));
}

bool awaits_delivery(const Thread* t) { return t->signal != 0 || t->forced_sigsegv != 0 || deliverable(t) != 0; }

bool next_signal(Thread* t, int& signal, u8* info) {
  for (;;) {
    // The order of the kernel: signals of the thread before those of the process, and in each set those of the
    // processor first. If the kernel has already delivered a signal, it preferred it to the process's signals that are
    // pending here.
    signal = take_own(t, ~t->mask, info);
    if (signal == 0 && t->signal == 0 && (pending_for_process(t) & ~t->mask) != 0) {
      signal = take_own_from_kernel(~t->mask & ~engine_signals, info);
      if (signal == 0) signal = take_of_process(t, ~t->mask, info);
    }
    if (signal == 0 && t->signal != 0) {
      signal = static_cast<int>(t->signal);
      copy(info, t->info, sizeof t->info);
      t->signal = 0;
      if (t->mask & bit(signal)) {
        // Blocked meanwhile by the handler of a trap: the kernel keeps it from here on.
        send_to_self(signal, info);
        continue;
      }
    }
    if (signal == 0) return false;
    if (is_ignored(t->actions->of[signal], signal) || is_taken_back(info)) continue;
    if (engine_signals & bit(signal)) note_overruns(info);
    count_signal(t, info);
    return true;
  }
}

[[noreturn]] void go_on(Thread* t) {
  dispatch(t);
  resume_program();
}

bool is_on_alternate_stack(const AltStack& alt, u64 sp) {
  return !(alt.flags & (autodisarm | alt_disabled)) && may_be_on_alternate_stack(alt, sp);
}

void force_sigsegv(Thread* t, Context* c, int failed) {
  u8 info[128] = {sigsegv};
  info[8] = by_kernel;
  if (failed == sigsegv) return die_by(t, c, sigsegv, info);
  raise(t, c, sigsegv, info);
}

void raise(Thread* t, Context* c, int signal, u8* info) {
  if ((t->mask & bit(signal)) || t->actions->of[signal].handler <= 1) return die_by(t, c, signal, info);
  deliver(t, c, signal, info);
}

void deliver(Thread* t, Context* c, int signal, u8* info) {
  // The frame shows the program's own trap flag; the handler runs without the flag.
  c->flags = t->traces_itself != 0 ? c->flags | trap_flag : c->flags & ~trap_flag;
  t->stepping = t->traces_itself = 0;
  const Action a = t->actions->of[signal];
  if (a.handler <= 1 || c->cs != 0x33) return die_by(t, c, signal, info);
  if (a.flags & reset_hand) {
    Action& reset = t->actions->of[signal];
    reset.handler = 0;
    apply_action(reset, signal);
  }
  u64 frame_at = 0;
  if (!write_frame(t, c, info, a, frame_at)) return force_sigsegv(t, c, signal);
  t->restores_mask = 0;
  const bool enters_alternate = (a.flags & on_stack) && !may_be_on_alternate_stack(t->alt, c->r[15]) &&
                                may_be_on_alternate_stack(t->alt, frame_at);
  instrument::countdowns_interrupted(t, c->ip);
  instrument::calls_handler(t, frame_at, t->alt.base, enters_alternate ? t->alt.bytes : 0);
  if (t->alt.flags & autodisarm) t->alt = {0, alt_disabled, 0, 0};
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  t->gpr[rax] = 0;
  t->gpr[rdi] = static_cast<u64>(signal);
  t->gpr[rsi] = frame_at + offsetof(Frame, info);
  t->gpr[rdx] = frame_at + offsetof(Frame, context);
  t->gpr[rsp] = frame_at;
  t->flags = c->flags & ~(direction_flag | resume_flag | trap_flag);
  t->pc = a.handler;
  t->past_check = t->past_gate = 0;
  t->link = no_link;
  t->handled |= bit(signal);
  set_mask(t, t->mask | a.mask | (a.flags & no_defer ? 0 : bit(signal)));
  on_engine_stack(t, go_on);
}

}  // namespace tally::engine::guest
