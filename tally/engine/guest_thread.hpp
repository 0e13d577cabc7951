/// The engine's data for each thread of the program: its registers while the engine runs, and its counters.
///
/// The GS base points to it whenever program code runs. So generated code reaches everything in it with a fixed
/// displacement, and threads need no locks.
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::engine {

/// General registers, numbered as in instruction encodings.
enum Register : u8 { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, no_register = 0xff };

/// The kernel's struct sigaction.
struct Action {
  u64 handler, flags, restorer, mask;
};

/// The signal actions that the program set. Threads that share them natively share this object.
struct Actions {
  Action of[65];
};

/// The kernel's struct sigaltstack.
struct AltStack {
  u64 base;
  u32 flags, pad;
  u64 bytes;
};

/// The last fault or trap of the program in a thread, as the kernel records it.
struct Trap {
  u64 number, error, address;
};

/// Values of Thread::link that are not the number of an exit.
enum Link : u64 { no_link = 0, by_jump = 1 /* an indirect one */, first_link = 2 };

/// Meaning of the next `int3` at the landing pad.
enum Pad : u64 { pad_deliver = 1, pad_step = 2, pad_stop = 4, pad_leave = 8, pad_route = 16 };

/// Why a thread has the trap flag set: a value of Thread::stepping.
enum Stepping : u32 { not_stepping, to_boundary, one_instruction };

/// Why a signal that interrupted a system call is not delivered: another thread took it, or the program ignores it.
enum Woken : u32 { woken_for_another = 1, woken_by_ignored = 2, woken_to_leave = 4 };

/// The hash of a thread's path (channel::path_step), and the hash before the last branch.
struct PathHash {
  u64 now, before;
};

/// An instruction that a thread executes at its own address, with what it needs to count its accesses.
struct SteppedInstruction {
  u8 bytes[16];
  u32 available;  // number of valid bytes; 0 = they could not be read
  u64 counter;    // RCX before it
  u64 elements;   // a gather's or scatter's mask before it, one bit for each element
};

struct Thread {
  u64 gpr[16];      // 0x00: the program's registers while the engine runs
  u64 flags;        // 0x80
  u64 pc;           // 0x88: program address at which the thread continues
  u64 resume;       // 0x90: cache address that corresponds to pc
  u64 spill[2];     // 0x98, 0xa0: for generated code, not live between instructions of the program
  u64 stack;        // 0xa8: the engine's stack
  u64 link;         // 0xb0: the exit that entered the engine, or a Link
  u64 pad;          // 0xb8: bits of Pad: what to do before program code continues
  Thread* self;     // 0xc0
  u64 kernel_seen;  // 0xc8: rcx as the kernel leaves it: distinguishes a restarted system call from a new one
  u64 borrowed[2];  // 0xd0, 0xd8: rcx and r11 while generated code uses them; adjacent, which is cheaper to store
  s64 countdown[channel::window_trigger_limit];  // 0xe0: see translate/countdown_code.hpp
  union {
    s64 sums[channel::window_sum_limit];  // 0x100: sums of window events, from the counters
    PathHash path;                        // 0x100: with Windows::paths, which needs no sums
  };
  u8 popcount[256];  // 0x120: bits set in a byte, for use without changing flags
  u32 lock_id;       // 0x220: the number that locks store

  Thread *next, *before;  // list of all threads of the address space
  u64 mask;               // the program's current signal mask; the kernel's lacks the signals that the engine needs
  u64 saved_mask;         // the mask to restore after a system call that replaces it temporarily
  u64 waits_for;          // blocked signals that a system call is waiting for
  u64 held;               // pending signals that the kernel cannot keep: see pending.hpp
  u64 queued;             // signals sent to this thread, not its process, whose siginfo does not show it
  u64 temporary_mask;     // argument of a system call that replaces the mask temporarily
  u64 temporary_pair[3];  // the same, in the form of pselect6 and io_uring_enter
  u8 info[128];           // siginfo of `signal`
  u8 held_info[5][128];   // siginfo of the signals in `held`
  u32 restores_mask;      // the next handler returns to saved_mask
  u32 forced_sigsegv;     // a frame could not be read: the program gets the kernel's SIGSEGV
  u32 woken_in_vain;      // bits of Woken: signals that are not delivered to this thread
  u32 signal;             // a signal that the kernel delivered and the program has not received yet, 0 = none
  u32 stepping;           // a Stepping
  SteppedInstruction stepped;
  u32 traces_itself;  // the program has set the trap flag: SIGTRAP after each instruction
  AltStack alt;       // the program's own; the kernel has the engine's
  Trap last_trap;     // shown in signal frames until the next trap
  u64 handled;        // signals whose handlers it has called
  Actions* actions;
  u32 index;    // index of its channel::Thread
  u32 process;  // index of its channel::Process
  u32 where;    // a Where
  u32 vfork_child;
  u32 clears_actions;  // starts without the program's handlers
  u32 pooled;
  u32 generation;               // cache_generation() when its jump table was last emptied
  s64 tid, tgid;                // 0 = not known yet; tgid 0 = has no meaning for other threads
  u32 first_descriptor;         // the engine's first descriptor in the thread's own descriptor table; 0 = it has none
  u32 maker;                    // process record of the parent that created its pid namespace; 0 = it starts none
  u32 maker_outside;            // number of that process outside the namespace: see sharing.hpp
  u64 in_functions;             // number of marked functions that it is executing
  u32 followed;                 // each of its indirect jumps enters the engine
  u32 until_replaced;           // number of searches until one writes its target into the jump table
  u32 past_gate;                // it has passed the gate of the trace at its pc
  u32 resumes_past_gate;        // `resume` leads past that gate
  u32 in_steps;                 // it runs traces of one instruction each: see translate/countdown_code.hpp
  u32 past_check;               // it continues after the check of such a trace at its pc
  u32 in_call;                  // its registers are those of a system call that the kernel may be executing
  u32 reads_code;               // a ReadsCode
  u32 collected;                // area of its earlier counts, if there is a code log; 0 = none yet
  u32 part;                     // channel::CodeCounts::part of what it counts
  u32 collected_part;           // the last one that was not 0
  u32 collected_of_part;        // as `collected`, for that part
  u64 cleared_at_end;           // address that the kernel sets when the thread starts, or clears when it ends
  u64 robust_list;              // the argument of set_robust_list
  u64 clock_ns;                 // with Settings::counts_clock: its time in ns
  u64 processor_ns;             // the part of it that the thread did not wait
  s64 clock_seen;               // the instructions that both include
  u64 shown_ns;                 // the latest processor time that another thread has read
  u64 vectors_in_frame;         // if it stopped in a handler: the frame's XSAVE area; 0 = they are in the processor
  alignas(16) u8 vectors[512];  // fxsave area, for the decoder

  /// Minus the number by which rdpmc selects each of `sums`.
  s64 counter[channel::window_sum_limit];
};

enum ThreadOffset : u32 {
  o_gpr = 0,
  o_flags = 0x80,
  o_pc = 0x88,
  o_resume = 0x90,
  o_spill1 = 0x98,
  o_spill2 = 0xa0,
  o_stack = 0xa8,
  o_link = 0xb0,
  o_pad = 0xb8,
  o_self = 0xc0,
  o_seen = 0xc8,
  o_borrowed_rcx = 0xd0,
  o_borrowed_r11 = 0xd8,
  o_countdown = 0xe0,
  o_sums = 0x100,
  o_path = o_sums,
  o_path_before = o_path + 8,
  o_popcount = 0x120,
};
static_assert(offsetof(Thread, flags) == o_flags && offsetof(Thread, pc) == o_pc &&
              offsetof(Thread, resume) == o_resume);
static_assert(offsetof(Thread, spill) == o_spill1 && offsetof(Thread, stack) == o_stack &&
              offsetof(Thread, link) == o_link);
static_assert(offsetof(Thread, borrowed) == o_borrowed_rcx);
static_assert(offsetof(Thread, pad) == o_pad && offsetof(Thread, self) == o_self &&
              offsetof(Thread, countdown) == o_countdown && offsetof(Thread, sums) == o_sums &&
              offsetof(Thread, path) == o_path && offsetof(Thread, popcount) == o_popcount &&
              offsetof(Thread, lock_id) == lock_id_at);

/// Layout of a thread's block of address space: offsets from the GS base.
enum ThreadLayout : u32 {
  jump_table_at = 0x10000,                                    // 64 Ki cache addresses: see jump_slot()
  stack_at = 0x90000,                                         // the engine's stack
  signal_stack_at = 0xb0000,                                  // the engine's alternate signal stack
  actions_at = 0xd0000,                                       // signal actions of a vfork child
  counters_at = 0x100000,                                     // mapped from the channel: one counter per segment
  steps_table_at = counters_at + channel::segment_limit * 8,  // jump table of threads in steps
};
inline constexpr u32 jump_table_entries = 65536;
inline constexpr u64 stack_bytes = 0x20000;
inline constexpr u64 counters_bytes = u64{channel::segment_limit} * 8;
inline constexpr u64 thread_bytes = steps_table_at + jump_table_entries * 8;

/// Result of a system call that is to be restarted after a signal handler.
inline constexpr s64 restart_counts = -512;

inline Thread* current() {
  Thread* t;
  asm volatile("mov %%gs:%c1, %0" : "=r"(t) : "i"(o_self));
  return t;
}
inline u64* jump_table(Thread* t) { return reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + jump_table_at); }
inline u64* steps_table(Thread* t) { return reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + steps_table_at); }
/// The jump table entry for an indirect jump of thread `t` to program address `pc`. The sum of two parts of the address
/// differs for neighbouring code of any alignment up to 64 KB.
inline u64& jump_slot(Thread* t, u64 pc, bool in_steps = false) {
  return (in_steps ? steps_table(t) : jump_table(t))[(pc + (pc >> 16)) % jump_table_entries];
}
inline Actions* own_actions(Thread* t) { return reinterpret_cast<Actions*>(reinterpret_cast<u64>(t) + actions_at); }
inline u64* counters(Thread* t) { return reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + counters_at); }

/// Whether rdfsbase and related instructions may be used (CPUID and AT_HWCAP2 bit 1). Set once at the start.
extern bool fsgsbase_allowed;

}  // namespace tally::engine
