// The path of a signal: from the instruction where it arrives to an address with exact program state, and to its
// handler.
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/address_space_limits.hpp"
#include "tally/engine/guest/delivery.hpp"
#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/failing.hpp"
#include "tally/engine/guest/guest_state.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/leaving.hpp"
#include "tally/engine/guest/pmu_overflows.hpp"
#include "tally/engine/guest/pmu_processes.hpp"
#include "tally/engine/guest/single_steps.hpp"
#include "tally/engine/instrument/marks/illegal_marks.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/persist/translation_store.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/compared_code.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

bool in_engine(u64 rip) { return rip - image_base < image_header().bytes; }

/// Unblocks faults: from here on the engine's handler may access unmapped program memory.
void allow_faults() {
  const u64 mask = ~(bit(sigsegv) | bit(sigbus));
  kernel(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, reinterpret_cast<u64>(&mask), 0, 8);
}

void keep_registers(Thread* t, Context* c) {
  for (u8 i = 0; i < 16; i++) t->gpr[i] = c->reg(i);
  t->flags = c->flags & ~trap_flag;
  t->pc = c->ip;
  t->link = no_link;
}

/// Leaves and enters the engine again in a handler. The program's vector registers are in the handler's frame, because
/// the kernel has cleared those of the processor.
void step_aside_in_handler(Thread* t, const Context* c) {
  t->vectors_in_frame = c->fpstate;
  step_aside(t);
  t->vectors_in_frame = 0;
}

/// Continues in the engine with the registers of `c` when the handler returns.
void enter_from(Thread* t, Context* c) {
  keep_registers(t, c);
  c->flags &= ~(trap_flag | direction_flag | alignment_flag);
  c->ip = reinterpret_cast<u64>(on_engine_stack);
  c->reg(rdi) = reinterpret_cast<u64>(t);
  c->reg(rsi) = reinterpret_cast<u64>(go_on);
  c->reg(rsp) = t->stack;
}

/// Only the engine may execute system calls of the program, and marks that no processor knows.
bool must_execute(u64 pc) {
  u8 bytes[2] = {};
  const bool is_syscall = read_code(pc, bytes, 2) == 2 && bytes[0] == 0x0f && bytes[1] == 0x05;
  return is_syscall || is_illegal_mark(pc);
}

/// Handles all pending requests at an address where the program has the registers of `c` and the pc c->ip, and then
/// continues there.
void arrived(Thread* t, Context* c) {
  // A handler would return to a gate that the thread has passed: it executes the instruction after it first.
  if (t->past_gate != 0 && awaits_delivery(t) && t->traces_itself == 0 && !must_execute(c->ip)) {
    t->pad |= pad_deliver;
    return begin_step(t, c);
  }
  c->flags &= ~trap_flag;
  t->stepping = not_stepping;
  const bool routes = (t->pad & pad_route) != 0;
  t->pad &= ~static_cast<u64>(pad_stop | pad_route | pad_deliver);
  if (is_asked_out(t)) {
    keep_registers(t, c);  // the thread that stops it may read them
    step_aside_in_handler(t, c);
  }
  if (routes) route_pending(t);
  if (t->forced_sigsegv != 0) {
    t->forced_sigsegv = 0;
    return force_sigsegv(t, c, 0);
  }
  int signal = 0;
  u8 info[128];
  if (next_signal(t, signal, info)) return deliver(t, c, signal, info);
  if (t->restores_mask != 0) {
    t->mask = t->saved_mask;
    t->restores_mask = 0;
  }
  c->mask = t->mask & ~engine_signals;
  return enter_from(t, c);
}

/// Makes a thread that was on its way back to the program check for pending requests again.
bool begin_leaving_again(Context* c) {
  if (c->ip >= reinterpret_cast<u64>(resume_begin) && c->ip < reinterpret_cast<u64>(resume_end)) {
    c->ip = reinterpret_cast<u64>(resume_program);
    return true;
  }
  if (c->ip >= reinterpret_cast<u64>(model_leave_begin) && c->ip < reinterpret_cast<u64>(model_leave_end)) {
    c->ip = reinterpret_cast<u64>(model_leave_begin);
    return true;
  }
  if (c->ip >= reinterpret_cast<u64>(lookup_leave_begin) && c->ip < reinterpret_cast<u64>(lookup_leave_end)) {
    c->ip = reinterpret_cast<u64>(lookup_leave_begin);
    return true;
  }
  return false;
}

/// A request is pending, and the thread has returned from the model with all registers of generated code. Continues to
/// the next address where the program's state is exact.
void at_model_pad(Thread* t, Context* c) {
  c->ip = model_thread(t)->back;
  CacheLocation location;
  if (locate(c->ip, location) && location.exact) {
    c->ip = restore_guest_state(t, c, location);
    return arrived(t, c);
  }
  t->stepping = to_boundary;
  c->flags |= trap_flag;
}

/// Handles a request that is pending in t->pad: continues to the next address where the program's state is exact. A
/// system call that has not begun does not begin.
void come_out(Thread* t, Context* c) {
  const u64 rip = c->ip;
  if (in_generated_code(rip)) {
    t->stepping = to_boundary;
    c->flags |= trap_flag;
  } else if (begin_leaving_again(c)) {
  } else if (rip >= reinterpret_cast<u64>(syscall_begin) && rip <= reinterpret_cast<u64>(syscall_instruction)) {
    // Not begun, or interrupted and reset by the kernel for a restart: only then rcx is the address after it.
    const bool begun = rip == reinterpret_cast<u64>(syscall_instruction) && c->reg(rcx) == rip + 2;
    c->reg(rcx) = begun ? 1 : 0;
    c->ip = reinterpret_cast<u64>(syscall_abort);
  }
}

/// Another thread waits for this one to leave the engine, at the next address where its state is exact.
void asked_out(Thread* t, Context* c, bool leaves) {
  const bool is_inside = __atomic_load_n(&t->where, __ATOMIC_SEQ_CST) == inside;
  // The request is out of date, or a signal brings the thread there anyway.
  if ((t->pad & pad_deliver) || (!leaves && (!is_inside || !(is_asked_out(t) || countdowns_are_changed(t))))) return;
  if (!is_inside) {
    // A thread that leaves repeats its system call natively from the beginning.
    t->pad |= pad_stop;
    t->woken_in_vain |= woken_to_leave;
    return come_out(t, c);
  }
  CacheLocation location;
  if (locate(c->ip, location) && (location.exact || compares(location))) {
    c->ip = restore_guest_state(t, c, location);
    return arrived(t, c);
  }
  t->pad |= pad_stop;
  come_out(t, c);
}

/// Whether a program leaves because the engine's memory takes a part of a limit.
bool needs_memory_of_engine(u32 partial) {
  constexpr u32 reasons = channel::partial_mappings | channel::partial_locked_memory | channel::partial_limited_memory |
                          channel::partial_own_addresses;
  return (partial & reasons) != 0;
}

/// Leaves the engine: installs the program's handlers in the kernel and continues this thread at its pc.
void leave_from(Thread* t, Context* c) {
  restore_actions(t);
  unwatch_all();
  move_pending_to_kernel(t);
  if (t->signal != 0) send_to_self(static_cast<int>(t->signal), t->info);
  c->ip = t->pc;
  c->mask = t->mask;
  c->stack = t->alt;
  // Without other threads that need the engine's memory, only this handler's own is left.
  const bool releases = needs_memory_of_engine(process_record(t).partial) && is_only_thread(t);
  if (releases) release_arenas();  // takes a lock, which needs the GS base
  set_gs(0);
  note_left(t);
  stop_for_tracer(t);
  if (releases) {
    unreserve_all_but(reinterpret_cast<u64>(t), counters_at);
    unmap_records();
  }
}

void at_pad(Thread* t, Context* c) {
  const u64 why = t->pad;
  c->ip = t->pc;
  if (t->resumes_past_gate != 0) t->past_gate = 1;
  t->pad = why & pad_route;  // handled on arrival
  if (why & pad_leave) return leave_from(t, c);
  if (is_asked_out(t)) step_aside_in_handler(t, c);
  if (awaits_delivery(t) || (why & pad_route) || !(why & pad_step) || (t->traces_itself != 0 && must_execute(t->pc)))
    return arrived(t, c);
  begin_step(t, c);
}

/// Raises the program's own fault or trap. A failed return from a handler sets no new trap: the kernel then shows the
/// last one, which may be the engine's.
void raise_trap(Thread* t, Context* c, int signal, u8* info) {
  constexpr u64 overflow = 4, bound = 5, general_protection = 13, page_fault = 14;
  constexpr s32 by_kernel = 0x80;  // SI_KERNEL
  const bool none = signal == sigsegv && at<s32>(reinterpret_cast<u64>(info) + 8) == by_kernel && c->trap != overflow &&
                    c->trap != bound && c->trap != general_protection;
  // The kernel records an address for page faults only.
  if (!none) t->last_trap = {c->trap, c->error, c->trap == page_fault ? c->cr2 : t->last_trap.address};
  raise(t, c, signal, info);
}

/// Raises the trap after an instruction of a program that has set the trap flag; `c` may still have it set.
void trap_after(Thread* t, Context* c, u8* info) {
  t->traces_itself = (c->flags & trap_flag) != 0;
  *reinterpret_cast<u64*>(info + 16) = c->ip;
  raise_trap(t, c, sigtrap, info);
}

/// Continues with the next instruction alone; the trap after it is the program's.
void begin_tracing(Thread* t, Context* c) {
  t->traces_itself = 1;
  t->pad |= pad_step;
  enter_from(t, c);
}

/// Changes a location in the `nop` after a popf, or after that `nop`, to that of the next instruction, with the
/// registers as at the popf. Returns false for other locations.
bool leads_from_popf(CacheLocation& s) {
  constexpr u32 nop_bytes = 1;
  for (u32 i = s.index + 1; i-- > 0;) {
    u8 bytes[16];
    Instruction in;
    const u64 pc = s.trace->pc + static_cast<u64>(static_cast<s64>(s.trace->places[i].pc));
    const u32 n = read_code(pc, bytes, 15);
    if (n == 0 || !decode(pc, bytes, n, in)) return false;
    const u32 nop = s.trace->places[i].offset + in.length;
    if (is_popf(in) && nop + nop_bytes == s.offset) {
      s = {s.trace, &s.trace->places[i + 1], i + 1, nop, false};
      return true;
    }
    if (s.trace->places[i].offset != s.offset) return false;
  }
  return false;
}

/// Handles the trap after the copy of a popf that set the trap flag.
void traces_itself(Thread* t, Context* c) {
  CacheLocation location;
  if (!locate(c->ip, location) || !leads_from_popf(location)) return;  // continue with the flag set
  c->ip = restore_guest_state(t, c, location);
  begin_tracing(t, c);
}

void step_done(Thread* t, Context* c, u8* info) {
  if (t->stepping == one_instruction) {
    t->stepping = not_stepping;
    t->past_gate = 0;
    if (c->cs != 0x33) {
      if (settings().strict != 0) end_strictly(t, channel::partial_foreign_segment);
      mark_partial(t, channel::partial_foreign_segment);
      write_back(t);
      finish_process(t);
      t->pc = c->ip;
      c->flags &= ~trap_flag;
      return leave_from(t, c);
    }
    count_stepped(t, c, true);
    if (t->traces_itself != 0) return trap_after(t, c, info);
    return has_loaded_flags(t) && (c->flags & trap_flag) ? begin_tracing(t, c) : enter_from(t, c);
  }
  CacheLocation location;
  if (!in_generated_code(c->ip)) {
    // Back in the engine, which will find the pending request.
    t->stepping = not_stepping;
    c->flags &= ~trap_flag;
  } else if (locate(c->ip, location) && location.exact) {
    c->ip = restore_guest_state(t, c, location);
    arrived(t, c);
  }
}

bool synchronous(int signal, const u8* info) {
  // BUS_MCEERR_AO and TRAP_PERF are asynchronous.
  constexpr s32 memory_is_failing = 5, of_counter = 6;
  const s32 code = at<s32>(reinterpret_cast<u64>(info) + 8);
  if ((signal == sigbus && code == memory_is_failing) || (signal == sigtrap && code == of_counter)) return false;
  return (engine_signals & bit(signal)) != 0 && code > 0;
}

/// Code that cannot be read may still be executable. At its own address the instruction does what it does natively.
void execute_unread(Thread* t, Context* c) {
  if (t->signal != 0 || is_asked_out(t)) return arrived(t, c);
  begin_step(t, c);
}

void asynchronous(Thread* t, Context* c, int signal, u8* info);

void fault(Thread* t, Context* c, int signal, u8* info) {
  const u64 rip = c->ip;
  CacheLocation location;
  if (t->stepping == one_instruction) {
    count_stepped(t, c, false);
  } else if (locate(rip, location)) {
    c->ip = restore_guest_state(t, c, location);
    if (compares(location)) return execute_unread(t, c);
  } else if (signal == sigtrap) {
    return asynchronous(t, c, signal, info);  // the engine sets none, so another process sent it
  } else {
    end_by_failure("a fault in the engine at", rip, c, info);
  }
  u64* address = reinterpret_cast<u64*>(info + 16);
  if (signal != sigsegv && *address == rip) *address = c->ip;
  t->stepping = not_stepping;
  // Signals that came first are delivered first. The instruction then faults again. A trap comes after its instruction
  // and does not recur.
  if (awaits_delivery(t) && signal != sigtrap) return arrived(t, c);
  raise_trap(t, c, signal, info);
}

/// The kernel could not load the vector registers of a frame that the program returns from. All other registers are as
/// in the frame, and a signal must be delivered before program code runs.
void return_failed(Thread* t, Context* c, u8* info) {
  c->ip = t->pc;
  t->pad &= pad_route;
  raise(t, c, sigsegv, info);
}

/// Handles a write to a page with translated code, which is writable now. If the writing trace itself was discarded,
/// the write is executed alone and the following code is read again, because the write may have changed it.
void written(Thread* t, Context* c) {
  CacheLocation location;
  if (awaits_delivery(t) || !locate(c->ip, location) || location.place->counts_iterations()) return;
  if (!location.trace->dead && !cache_is_damaged()) return;
  c->ip = restore_guest_state(t, c, location);
  allow_faults();
  begin_step(t, c);
}

/// Keeps a signal that was sent until the program's state is exact: in the engine's pending set, or as the one that the
/// kernel has delivered. Returns false if the thread need not come to such an address.
bool note(Thread* t, int signal, u8* info) {
  const bool blocked = (t->mask & bit(signal)) != 0;
  const bool ignored = !blocked && is_ignored(t->actions->of[signal], signal);
  if (!(engine_signals & bit(signal))) {
    if (ignored) return false;
    copy(t->info, info, sizeof t->info);
    t->signal = static_cast<u32>(signal);
  } else if (is_routed(info)) {
    t->woken_in_vain |= woken_for_another;  // unless it is deliverable now
    if (blocked) t->pad |= pad_route;
  } else if (ignored) {
    t->woken_in_vain |= woken_by_ignored;
    forget_queued_to_thread(t, signal);
  } else if (add_pending(t, signal, info) && blocked) {
    t->pad |= pad_route;
  }
  if (awaits_delivery(t)) t->pad |= pad_deliver;
  return (t->pad & (pad_route | pad_deliver)) != 0;
}

void asynchronous(Thread* t, Context* c, int signal, u8* info) {
  const bool waits = awaits_delivery(t);
  if (!note(t, signal, info)) return;
  const u64 rip = c->ip;
  allow_faults();
  CacheLocation location;
  if (!waits && t->stepping == one_instruction && !in_engine(rip)) {
    count_stepped(t, c, false);
    return arrived(t, c);
  }
  if (!waits && locate(rip, location) && (location.exact || compares(location))) {
    c->ip = restore_guest_state(t, c, location);
    return arrived(t, c);
  }
  if (t->pad & pad_deliver) c->mask = ~engine_signals;
  come_out(t, c);
}

extern "C" void on_signal(int signal, u8* info, Context* c) {
  Thread* t = current();
  const u64 rip = c->ip;
  const bool looks_like_fault = reveal(signal, info);
  const s32 code = looks_like_fault ? 0 : at<s32>(reinterpret_cast<u64>(info) + 8);
  if ((signal == sigsegv || signal == sigbus) && code > 0) {
    if (rip == reinterpret_cast<u64>(safe_copy_instruction)) {
      // Only for a write: code is read while holding the locks that this takes.
      if ((c->error & 2) && unwatch_page(*reinterpret_cast<u64*>(info + 16))) return;
      c->ip = reinterpret_cast<u64>(safe_copy_end);
      return;
    }
    if (signal == sigbus && repair_store(*reinterpret_cast<u64*>(info + 16))) return;
    if (rip >= reinterpret_cast<u64>(safe_compare) && rip < reinterpret_cast<u64>(safe_compare_differs)) {
      c->ip = reinterpret_cast<u64>(safe_compare_differs);
      return;
    }
    if (signal == sigsegv && code == 2 && (c->error & 2) && unwatch_page(*reinterpret_cast<u64*>(info + 16)))
      return written(t, c);
  }
  const bool from_model = rip == reinterpret_cast<u64>(model_pad) + 1;
  if (signal == sigtrap && (from_model || rip == reinterpret_cast<u64>(landing_pad) + 1)) {
    // A SIGTRAP that was sent first replaces the int3's own.
    if (code <= 0 || !synchronous(signal, info)) note(t, signal, info);
    allow_faults();
    return from_model ? at_model_pad(t, c) : at_pad(t, c);
  }
  const bool leaves = signal == request_signal && is_leave_request(t, info);
  const bool requested = leaves || (signal == request_signal && is_request(info));
  if (code <= 0 && !requested) return asynchronous(t, c, signal, info);
  allow_faults();
  if (signal == sigtrap && code == 2) {
    if (t->stepping != not_stepping) return step_done(t, c, info);
    return traces_itself(t, c);
  }
  if (signal == sigsegv && rip == reinterpret_cast<u64>(landing_pad)) return return_failed(t, c, info);
  c->ip = give_up_reading(t, rip);
  if (requested) return asked_out(t, c, leaves);
  if (synchronous(signal, info)) return fault(t, c, signal, info);

  asynchronous(t, c, signal, info);
}

// The kernel enters with the stack as after a call, and leaves the program's alignment check (AC) set. The engine's
// handlers use no vector registers. The ID and nested task flags are kept, because no frame restores them.
asm(R"(
.text
.globl signal_entry
.hidden signal_entry
signal_entry:
  pushfq
  andl $0x204000, (%rsp)
  orl $2, (%rsp)
  popfq
  sub $8, %rsp
  call on_signal
  add $8, %rsp
  ret
)");

}  // namespace

namespace {

/// Continues natively in a thread after another one did. The handlers are the program's, so by a plain jump.
[[noreturn]] void leave_after_first(Thread* t) {
  kernel(SYS_sigaltstack, reinterpret_cast<u64>(&t->alt), 0);
  const u64 mask = t->mask;
  kernel(SYS_rt_sigprocmask, 2, reinterpret_cast<u64>(&mask), 0, 8);
  note_left(t);
  set_gs(0);
  resume_natively(t);
}

}  // namespace

void leave(Thread* t, channel::Partial why) {
  if (settings().strict != 0 && why != channel::partial_none && !leaving()) end_strictly(t, why);
  mark_partial(t, why);
  // The first thread has made the counts of this one final. Thousands of them need not wait for one another.
  if (leaving() && counting_has_ended(t)) leave_after_first(t);
  give_up_writing();
  take_turn(t);  // no thread asks others to leave any more: the program's handlers replace the engine's soon
  const bool holds_all = needs_memory_of_engine(why) && !leaving() && hold_others(t);
  const bool first = begin_leaving();
  if (first) {
    write_back(t);
    pmu_events_of_native(t);
    end_lifting_with_memory();
  }
  finish_process(t);  // the counts up to here are final
  if (holds_all) unmap_counters_of_others(t);
  close_own_descriptors();
  t->where = outside;
  give_turn(t);
  if (!first) leave_after_first(t);
  if (holds_all) release_blocks_of_others(t);
  t->pad = pad_leave;
  resume_program();
}

void signals_after_fork(Thread* t) {
  stops_after_fork(t);
  pending_after_fork(t);
  t->signal = t->forced_sigsegv = 0;
  t->pad = 0;
  unblock(t);
}

}  // namespace tally::engine::guest
