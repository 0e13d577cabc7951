// The program's system calls. The handlers here are for those that affect the engine; most others pass to the kernel.
#include "tally/engine/guest/syscalls.hpp"

#include <fcntl.h>

#include "tally/engine/channel/count_request.hpp"
#include "tally/engine/clock.hpp"
#include "tally/engine/guest/address_space_limits.hpp"
#include "tally/engine/guest/confining.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/counted_waits.hpp"
#include "tally/engine/guest/delivery.hpp"
#include "tally/engine/guest/denied_keys.hpp"
#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/descriptors.hpp"
#include "tally/engine/guest/engine_requests.hpp"
#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/giving_way.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/leaving.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/pmu_elsewhere.hpp"
#include "tally/engine/guest/pmu_events.hpp"
#include "tally/engine/guest/pmu_file_calls.hpp"
#include "tally/engine/guest/pmu_mappings.hpp"
#include "tally/engine/guest/pmu_processes.hpp"
#include "tally/engine/guest/pmu_side_records.hpp"
#include "tally/engine/guest/pmu_wakeups.hpp"
#include "tally/engine/guest/presented_machine.hpp"
#include "tally/engine/guest/presented_maps.hpp"
#include "tally/engine/guest/presented_pmu_files.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/guest/rights.hpp"
#include "tally/engine/guest/source_calls.hpp"
#include "tally/engine/guest/syscall_table.hpp"
#include "tally/engine/guest/timer_signals.hpp"
#include "tally/engine/guest/tracing.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/persist/translation_store.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/review.hpp"

namespace tally::engine::guest {
namespace {

/// Whether a descriptor argument of the call is an engine descriptor.
bool names_own_descriptor(const Thread* t, Descriptors descriptors) {
  static const Register argument[] = {rdi, rsi, rdx, r10, r8};
  u32 bits = static_cast<u32>(descriptors) & ~static_cast<u32>(Descriptors::makes);
  for (u32 i = 0; bits != 0; i++, bits >>= 1)
    if ((bits & 1) && is_own_descriptor(t->gpr[argument[i]])) return true;
  return false;
}

/// Makes a call that no Linux up to 6.18 has. If a later one has it, its effects are unknown.
s64 make_unknown(Thread* t) {
  const s64 r = run(t);
  if (r != -ENOSYS) mark_partial(t, channel::partial_unknown_call);
  return r;
}

s64 call(Thread* t, u32 number) {
  if (number >= system_call_limit) return make_unknown(t);
  const SystemCall& known = system_call_of(number);
  if (known.descriptors != Descriptors::none && names_own_descriptor(t, known.descriptors)) return -EBADF;
  switch (known.verdict) {
    case Verdict::passes: return run(t);
    case Verdict::looked_at:
    case Verdict::natively: return known.handler(t);
    case Verdict::refused: return -known.error;
    case Verdict::unknown: break;
  }
  return make_unknown(t);
}

}  // namespace

namespace calls {

// --- processes and threads ------------------------------------------------------------------------------------------

s64 end_thread(Thread* t) { return emulate_exit(t, t->gpr[rdi]); }
s64 end_process(Thread* t) { emulate_exit_group(t, t->gpr[rdi]); }
s64 fork(Thread* t) { return emulate_clone(t, 17, 0, 0, 0, 0); }
s64 vfork(Thread* t) { return emulate_clone(t, 0x4111, 0, 0, 0, 0); }
s64 clone(Thread* t) {
  const u64* g = t->gpr;
  return emulate_clone(t, g[rdi], g[rsi], g[rdx], g[r10], g[r8]);
}
s64 clone3(Thread* t) { return emulate_clone3(t, t->gpr[rdi], t->gpr[rsi]); }
s64 execute(Thread* t) { return emulate_exec(t); }
s64 read_parent(Thread* t) { return emulate_getppid(t); }

// --- signals --------------------------------------------------------------------------------------------------------

s64 set_action(Thread* t) {
  const u64* g = t->gpr;
  return emulate_sigaction(t, g[rdi], g[rsi], g[rdx], g[r10]);
}
s64 set_mask(Thread* t) {
  const u64* g = t->gpr;
  return emulate_sigprocmask(t, g[rdi], g[rsi], g[rdx], g[r10]);
}
s64 set_signal_stack(Thread* t) { return emulate_sigaltstack(t, t->gpr[rdi], t->gpr[rsi]); }
s64 leave_handler(Thread* t) { return emulate_sigreturn(t); }
s64 wait_for_descriptors(Thread* t) {
  return wait_for_events(t, [](Thread* o) { return run(o); });
}
s64 wait_with_first(Thread* t) { return run_with_mask(t, rdi, t->gpr[rsi]); }
s64 wait_with_fourth(Thread* t) {
  return wait_for_events(t, [](Thread* o) { return run_with_mask(o, r10, o->gpr[r8]); });
}
s64 wait_with_fifth(Thread* t) {
  return wait_for_events(t, [](Thread* o) { return run_with_mask(o, r8, o->gpr[r9]); });
}
s64 wait_with_pair(Thread* t) {
  return wait_for_events(t, [](Thread* o) { return run_with_mask_pair(o, r9); });
}
s64 read_pending(Thread* t) { return emulate_sigpending(t, t->gpr[rdi], t->gpr[rsi]); }
s64 wait_for_signal(Thread* t) { return emulate_sigtimedwait(t, t->gpr[rdi], t->gpr[rsi], t->gpr[r10]); }
s64 read_at_or_into_many(Thread* t) {
  if (const s64 n = read_pmu_event(t); n != not_of_pmu) return n;
  if (const s64 n = read_presented_maps(t); n != not_a_list) return n;
  return with_fixed_read(t, run(t));
}
s64 read_bytes(Thread* t) {
  if (const s64 n = read_pmu_event(t); n != not_of_pmu) return n;
  if (const s64 n = read_presented_maps(t); n != not_a_list) return n;
  return with_fixed_read(t, emulate_read(t, t->gpr[rsi]));
}
s64 get_random(Thread* t) {
  const s64 r = run(t);
  return random_is_fixed() ? with_fixed_bytes(r, t->gpr[rdi]) : r;
}
s64 make_signal_descriptor(Thread* t) { return emulate_signalfd(t, t->gpr[rsi], t->gpr[rdx]); }
s64 change_timer(Thread* t) {
  TimerSignals taken;
  take_back(t, t->gpr[rdi], taken);
  const s64 r = run(t);
  put_back(t, taken, !failed(r));
  if (!failed(r)) forget_overruns(t->gpr[rdi]);
  return r;
}
s64 ask_overruns(Thread* t) {
  const s64 r = run(t);
  return failed(r) ? r : last_overruns(t->gpr[rdi], r);
}
s64 queue_to_thread(Thread* t) {
  const u64 tid = t->gpr[rsi], signal = t->gpr[rdx];
  if (signal - 1 < 64 && (engine_signals & bit(static_cast<int>(signal))))
    note_queued_to_thread(tid, static_cast<int>(signal));
  return send_with_info(t, r10, tid, signal);
}
s64 signal_by_descriptor(Thread* t) { return send_by_descriptor(t); }
s64 queue_to_process(Thread* t) { return send_with_info(t, rdx, t->gpr[rdi], t->gpr[rsi]); }

// --- memory and files -----------------------------------------------------------------------------------------------

/// The code of a mapped file may contain region marks.
constexpr u64 executable = 4;
s64 map(Thread* t) {
  constexpr u64 anonymous = 0x20;
  if (const s64 at = t->gpr[r10] & anonymous ? not_of_pmu : map_pmu_event(t); at != not_of_pmu) return at;
  const s64 r = emulate_mapping(t);
  if (!failed(r))
    record_mappings(t, static_cast<u64>(r), static_cast<u64>(r) + t->gpr[rsi], (t->gpr[rdx] & executable) != 0);
  if (marks_on() && !failed(r) && t->vfork_child == 0 && (t->gpr[rdx] & executable) && !(t->gpr[r10] & anonymous))
    learn_marks(t);
  return r;
}
s64 change_mapping(Thread* t) {
  const u64 number = t->gpr[rax], at = t->gpr[rdi], end = at + t->gpr[rsi];
  if (const s64 refused = pmu_memory_refuses(number, at, end - at, t->gpr[rdx]); refused != 0) return refused;
  const s64 r = number != SYS_shmat && names_own_memory(t) ? run_for_unmapped(t) : emulate_mapping(t);
  if (!failed(r) && number == SYS_munmap) pmu_memory_unmapped(at, end - at);
  if (!failed(r) && number == SYS_mremap) pmu_memory_moved(at, static_cast<u64>(r));
  if (!failed(r) && (number == SYS_mprotect || number == SYS_pkey_mprotect))
    record_mappings(t, at, end, (t->gpr[rdx] & executable) != 0);
  return r;
}
s64 move_break(Thread* t) { return emulate_break(t); }
s64 use_range(Thread* t) { return emulate_on_range(t); }
s64 advise(Thread* t) { return emulate_madvise(t); }
s64 lock_all(Thread* t) { return emulate_mlockall(t); }
s64 make_change_seen(Thread* t) { return emulate_membarrier(t); }
s64 write_unseen(Thread* t) {
  return emulate_unseen_writes(t, [](Thread* o) { return run(o); });
}
s64 make_ring(Thread* t) {
  numbers_are_changed_by_rings();
  return write_unseen(t);
}
s64 enter_ring(Thread* t) { return emulate_unseen_writes(t, run_with_mask_of_ring); }
s64 serve_faults(Thread* t) { return emulate_userfaultfd(t); }

s64 open_file(Thread* t) {
  constexpr u64 as_creat = 01 | 0100 | 01000;  // O_WRONLY, O_CREAT, O_TRUNC
  const u64* g = t->gpr;
  u64 flags = as_creat;
  if (g[rax] == SYS_open) flags = g[rsi];
  if (g[rax] == SYS_openat) flags = g[rdx];
  // The flags are the first member of the structure. If it is not accessible, the kernel reports that.
  if (g[rax] == 437 /* openat2 */ && get(&flags, g[rdx], sizeof flags) != 0) flags = 0;
  const PmuPath path(t);
  const s64 presented = open_presented_file(t, flags);
  if (presented != no_file) return presented;
  const s64 r = emulate_open(t, flags);
  if (!failed(r)) note_opened_file(static_cast<u64>(r), flags);
  return r;
}
s64 written_to_first(Thread* t) { return written_to_event(t, emulate_write(t, t->gpr[rdi])); }
s64 written_to_third(Thread* t) { return emulate_write(t, t->gpr[rdx]); }
s64 written_by_name(Thread* t) { return emulate_write(t, ~u64{0}); }
s64 control_device(Thread* t) {
  constexpr u32 clone_file = 0x40049409, clone_range = 0x4020940d;  // FICLONE, FICLONERANGE
  const u32 request = static_cast<u32>(t->gpr[rsi]);
  if (const s64 r = control_pmu_event(t); r != not_of_pmu) return r;
  return request == clone_file || request == clone_range ? emulate_write(t, t->gpr[rdi]) : emulate_ioctl(t);
}
s64 list(Thread* t) { return list_directory(t, t->gpr[rax]); }
s64 close_many(Thread* t) {
  const u64* g = t->gpr;
  if ((g[rdx] & 2 /* CLOSE_RANGE_UNSHARE */) && !is_last(t)) has_own_numbers(t);
  constexpr u64 only_close_on_exec = 4;
  if (!(g[rdx] & only_close_on_exec)) pmu_events_close(t, g[rdi] & 0xffffffff, g[rsi] & 0xffffffff);
  return close_range_around(g[rdi] & 0xffffffff, g[rsi] & 0xffffffff, g[rdx]);
}
s64 close_descriptor(Thread* t) {
  const u32 event = pmu_event_at(t, t->gpr[rdi]);
  const s64 r = run(t);
  if (r != -EBADF) pmu_event_closed(t, event, t->gpr[rdi]);
  return r;
}
s64 duplicate_descriptor(Thread* t) {
  const s64 r = run(t);
  if (!failed(r)) pmu_event_duplicated(t, static_cast<u64>(r));
  return r;
}
s64 replace_descriptor(Thread* t) {
  if (!free_number(t, t->gpr[rsi])) return -EBADF;
  const u32 replaced = pmu_event_at(t, t->gpr[rsi]);
  const s64 r = run(t);
  if (failed(r)) return r;
  pmu_event_duplicated(t, static_cast<u64>(r));
  pmu_event_closed(t, replaced, t->gpr[rsi]);
  return r;
}
s64 control_descriptor(Thread* t) {
  const u64 command = t->gpr[rsi], lowest = t->gpr[rdx];
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  if (duplicates && !free_number(t, lowest)) return -EBADF;
  if (const s64 r = control_waited(t); r != not_of_pmu) return r;
  s64 r = 0;
  do r = run(t);
  while (duplicates && number_was_skipped(t, lowest, r));
  if (duplicates && !failed(r)) pmu_event_duplicated(t, static_cast<u64>(r));
  return r;
}

/// Makes a call that writes two descriptor numbers to this address.
s64 make_two_at(Thread* t, u64 to) {
  const s64 r = run(t);
  s32 numbers[2] = {};
  if (r == 0 && get(numbers, to, sizeof numbers) == 0)
    (void)numbers_were_short(t, numbers[0] > numbers[1] ? numbers[0] : numbers[1]);
  return r;
}
s64 make_two(Thread* t) { return make_two_at(t, t->gpr[rdi]); }
s64 make_socket_pair(Thread* t) { return make_two_at(t, t->gpr[r10]); }

s64 use_socket(Thread* t) {
  const s64 refused = refuse_socket_call(t);
  return refused != not_of_pmu ? refused : run(t);
}

/// Whether a message of the call has control data, which may be descriptors.
bool has_control_data(const Thread* t) {
  constexpr u64 control_bytes_at = 40, message_bytes = 64;  // in struct msghdr, of struct mmsghdr
  const u64* g = t->gpr;
  const bool many = g[rax] == SYS_sendmmsg || g[rax] == SYS_recvmmsg;
  const u64 n = many ? g[rdx] & 0xffffffff : 1;
  u64 control_bytes = 0;
  for (u64 i = 0; i < n; i++) {
    if (get(&control_bytes, g[rsi] + i * message_bytes + control_bytes_at, sizeof control_bytes) != 0) return false;
    if (control_bytes != 0) return true;
  }
  return false;
}
s64 note_received(s64 r) {
  if (failed(r)) return r;
  note_descriptors_exchanged();
  pmu_events_received();
  return r;
}
s64 receive(Thread* t) {
  const s64 r = use_socket(t);
  if (failed(r) || !has_control_data(t)) return r;
  note_received(r);
  (void)numbers_were_short(t, static_cast<s64>(inherited(channel::inherited_channel)));
  return r;
}
s64 take_descriptor(Thread* t) { return note_received(run(t)); }
s64 send(Thread* t) {
  if (has_control_data(t)) note_descriptors_exchanged();
  return use_socket(t);
}

// --- limits and rights ----------------------------------------------------------------------------------------------

s64 limit(Thread* t) {
  const u64* g = t->gpr;
  return emulate_limit(t, g[rdi], g[rsi], g[rdx], g[r10]);
}
s64 set_limit(Thread* t) { return emulate_limit(t, 0, t->gpr[rdi], t->gpr[rsi], 0); }
s64 get_limit(Thread* t) { return emulate_limit(t, 0, t->gpr[rdi], 0, t->gpr[rsi]); }

/// A process that loses rights must not write translations that more trusted programs will execute.
s64 give_rights_up(Thread* t) {
  if (!keeps_ids(*t)) give_up_writing();
  return run(t);
}
s64 change_groups(Thread* t) { return set_groups(t); }
s64 change_capabilities(Thread* t) { return set_capabilities(t); }

s64 unshare(Thread* t) {
  if (makes_namespace(t->gpr[rdi])) give_up_writing();
  const s64 r = run(t);
  if (!failed(r) && (t->gpr[rdi] & 0x400 /* CLONE_FILES */) && !is_last(t)) has_own_numbers(t);
  return r;
}

s64 change_personality(Thread* t) {
  constexpr u32 only_asks = 0xffffffff, read_implies_exec = 0x0400000;
  const s64 r = run(t);
  const u32 wanted = static_cast<u32>(t->gpr[rdi]);
  if (!failed(r) && wanted != only_asks) reading_executes((wanted & read_implies_exec) != 0);
  return r;
}

// --- tracing, events and control ------------------------------------------------------------------------------------

s64 open_event(Thread* t) {
  constexpr u64 kind_at = 0, breakpoint_at = 52;  // in struct perf_event_attr
  constexpr u32 breakpoint = 5, executes = 4;
  u32 kind = 0, access = 0;
  if (const s64 opened = open_pmu_event(t); opened != not_of_pmu) return opened;
  const s64 r = run(t);
  if (!failed(r) && get(&kind, t->gpr[rdi] + kind_at, 4) == 0 && kind == breakpoint &&
      get(&access, t->gpr[rdi] + breakpoint_at, 4) == 0 && access == executes)
    mark_partial(t, channel::partial_breakpoint);
  return r;
}

s64 trace(Thread* t) {
  // A process that asks to be traced must appear as it is natively. A vfork child is in its parent's memory and is
  // about to call execve.
  if (t->gpr[rdi] == 0 /* PTRACE_TRACEME */ && t->vfork_child == 0) continue_natively(t, channel::partial_ptraced);
  return emulate_ptrace(t);
}

s64 write_to_other(Thread* t) {
  const s64 r = run(t);
  // The other process may have code there that its engine protects. Nothing has been written yet.
  const u64 process = t->gpr[rdi];
  if (r != -EFAULT || process == static_cast<u64>(kernel(SYS_getpid)) || is_in_this_memory(process)) return r;
  make_leave(t, process);
  return run(t);
}

s64 allocate_key(Thread* t) {
  // The call takes the lowest free key and sets the thread's rights for it. Key 0 is the engine's.
  if (t->gpr[rsi] != 0 && !own_key_is_allocated()) continue_natively(t, channel::partial_protection_keys);
  return run(t);
}

s64 control_architecture(Thread* t) {
  enum : u32 { set_gs_base = 0x1001, get_gs_base = 0x1004, ask_for_permission = 0x1023, enable_shadow_stack = 0x5001 };
  constexpr s64 not_supported = -EOPNOTSUPP;
  const u64 argument = t->gpr[rsi], none = 0;
  switch (static_cast<u32>(t->gpr[rdi])) {
    case set_gs_base:
      // 0 is the program's value already; the kernel refuses the other addresses.
      if (argument == 0) return 0;
      if (static_cast<s64>(argument) < 0) return run(t);
      continue_natively(t, channel::partial_gs_base);
    case get_gs_base: return put(argument, &none, sizeof none);
    case ask_for_permission: return ask_for_state(t);
    case enable_shadow_stack: return not_supported;
    default: return run(t);
  }
}

s64 control_process(Thread* t) {
  enum : u32 {
    set_name = 15,
    set_seccomp = 22,
    set_time_stamp = 26,
    disable_events = 31,
    enable_events = 32,
    set_syscall_dispatch = 59,
    deny_executable = 65
  };
  const u64* g = t->gpr;
  const u32 option = static_cast<u32>(g[rdi]);
  if (option == set_seccomp) return set_filter_by_prctl(t, g[rsi], g[rdx]);
  if (option == set_syscall_dispatch) return set_dispatch(t, g[rsi], g[rdx], g[r10], g[r8]);
  if (option == channel::ask_option) return answer(t, g[rsi], g[rdx], g[r10]);
  if (option == deny_executable) return write_unseen(t);
  if (option == set_time_stamp) clock_without_time_stamp();
  if (loses_rights_by(option, g[rsi])) give_up_writing();
  const s64 r = run(t);
  if (option == set_name) {
    name_thread(t);
    record_name(t, false);
  }
  if (!failed(r) && (option == disable_events || option == enable_events))
    pmu_events_switched(t, option == enable_events);
  return r;
}

s64 memory_of_machine(Thread* t) { return get_presented_memory(t); }
s64 names_of_machine(Thread* t) { return get_presented_names(t); }
s64 metadata_of_descriptor(Thread* t) {
  const s64 r = get_presented_metadata(t);
  if (r == 0) describe_event_file(t);
  return r;
}
s64 file_system_of_descriptor(Thread* t) { return file_system_of_event(t, run(t)); }
s64 metadata_of_file(Thread* t) {
  const PmuPath path(t);
  return metadata_of_descriptor(t);
}
s64 resolve_path(Thread* t) {
  const PmuPath path(t);
  return run(t);
}
s64 read_link(Thread* t) {
  const PmuPath path(t);
  return read_link_of_event(t, run(t));
}
s64 get_processors(Thread* t) { return get_presented_affinity(t); }
s64 set_processors(Thread* t) {
  const u32 thread = static_cast<u32>(t->gpr[rdi]);
  const bool is_own = thread == 0 || thread == static_cast<u32>(t->tid);
  if (is_own) pmu_events_before_move(t);
  const s64 r = set_presented_affinity(t);
  if (is_own) pmu_events_after_move(t);
  return r;
}
s64 get_processor(Thread* t) { return get_presented_processor(t); }

s64 confine(Thread* t) {
  const u64* g = t->gpr;
  return set_filter(t, static_cast<u32>(g[rdi]), static_cast<u32>(g[rsi]), g[rdx]);
}

}  // namespace calls

void correct_unbegun(Thread* t) {
  channel::Totals delta;
  delta.field[channel::instructions] = delta.field[channel::far] = -1;
  translate::add_mix_at(delta, t->pc, -1);
  correct(t, t->pc, delta);
}

extern "C" void system_call(Thread* t) {
  u64* g = t->gpr;
  // The kernel reads only the low half.
  g[rax] = static_cast<u64>(static_cast<s64>(static_cast<s32>(g[rax])));
  instrument::countdowns_settle(t);  // the call may switch what is counted down
  const u32 source = count_sources_of_call(t);
  const u32 number = static_cast<u32>(g[rax]);
  const bool counts_for_others = process_record(t).counts_for_others != 0 && may_wait(number);
  if (counts_for_others) count_before_call(t);
  s64 r = clock_is_counted() ? make_call_with_counted_clock(t, number, call) : call(t, number);
  if (makes_descriptor(g[rax]) && numbers_were_short(t, r)) r = call(t, static_cast<u32>(g[rax]));
  if (counts_for_others) continue_after_call(t);
  note_read_of_call(t, source, r);
  if (r == -EINTR && (t->woken_in_vain & woken_to_leave) && !awaits_delivery(t)) {
    t->kernel_seen = 1;
    r = restart_counts;
  }
  if (r == restart_counts) {
    // The call is executed again after the signal's handler. If it had not begun, it has not retired either.
    t->pc -= 2;
    if (t->kernel_seen == 0) correct_unbegun(t);
  } else {
    g[rax] = static_cast<u64>(r);
    g[rcx] = t->pc;
    g[r11] = t->flags;
  }
  if (t->traces_itself != 0) t->pad |= pad_step;
  review_at_times(t);
  dispatch(t);
}

}  // namespace tally::engine::guest
