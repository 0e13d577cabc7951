/// What the engine keeps for each thread of the program: the registers while the engine runs, the counters.
///
/// The GS base points at it whenever program code runs, so generated code reaches everything in it by a fixed
/// displacement and threads need no locks.
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::engine {

/// Numbers of the general registers as the instruction encoding has them.
enum Register : u8 { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, no_register = 0xff };

/// struct sigaction as the kernel has it.
struct Action {
  u64 handler, flags, restorer, mask;
};

/// The program's signal actions, as it set them; shared by threads that share them natively.
struct Actions {
  Action of[65];
};

/// struct sigaltstack as the kernel has it.
struct AltStack {
  u64 base;
  u32 flags, pad;
  u64 bytes;
};

/// A fault or trap of the program's, as the kernel remembers it for each thread.
struct Trap {
  u64 number, error, address;
};

/// What Thread::link says where it is not the number of an exit.
enum Link : u64 { no_link = 0, by_jump = 1 /* an indirect one */, first_link = 2 };

/// What the next `int3` of the landing pad means.
enum Pad : u64 { pad_deliver = 1, pad_step = 2, pad_stop = 4, pad_leave = 8, pad_route = 16 };

/// Signals that interrupted a system call and are not delivered: another thread took it, or the program ignores it.
enum Woken : u32 { woken_for_another = 1, woken_by_ignored = 2, woken_to_leave = 4 };

struct Thread {
  u64 gpr[16];      // 0x00: the program's registers while the engine runs
  u64 flags;        // 0x80
  u64 pc;           // 0x88: where the program goes on
  u64 resume;       // 0x90: cache address that stands for pc
  u64 spill[2];     // 0x98, 0xa0: of generated code, never live at a boundary
  u64 stack;        // 0xa8: the engine's own
  u64 link;         // 0xb0: exit by which the engine was entered, or one of Link
  u64 pad;          // 0xb8: bits of Pad: what must happen before program code runs on
  Thread* self;     // 0xc0
  u64 kernel_seen;  // 0xc8: rcx as the kernel leaves it: tells a restarted system call from one not begun
  u64 borrowed[2];  // 0xd0, 0xd8: rcx and r11 where generated code needs them: side by side, which is cheaper to store
  s64 countdown[channel::window_trigger_limit];  // 0xe0: until a window ends: see translate/countdown.hpp
  s64 sums[channel::window_sum_limit];           // 0x100: of events of windows, as counters say them
  u8 popcount[256];                              // 0x120: bits set in a byte, without touching the flags
  u32 lock_id;                                   // 0x220: by which locks name it

  Thread *next, *before;  // all threads of the address space
  u64 mask;               // the program's signal mask in force; the kernel's lacks the signals that the engine needs
  u64 saved_mask;         // what it was before a system call replaced it for its time
  u64 waits_for;          // signals that a system call is waiting for, though they are blocked
  u64 held;               // pending signals that the kernel cannot keep: see pending.hpp
  u64 queued;             // signals on their way to it, and not to its process, that do not say so
  u64 temporary_mask;     // argument of a system call that replaces the mask for its time
  u64 temporary_pair[3];  // the same, as pselect6 and io_uring_enter have it
  u8 info[128];           // siginfo of `signal`
  u8 held_info[5][128];   // siginfo of the held ones
  u32 restores_mask;      // the next handler returns to saved_mask
  u32 forced_sigsegv;     // a frame could not be read: the program is to have the kernel's SIGSEGV
  u32 woken_in_vain;      // bits of Woken: by signals that are not delivered to it
  u32 signal;             // one that the kernel has delivered and the program has not had yet, 0 = none
  u32 stepping;           // the trap flag is set to reach a boundary or to run one instruction
  u32 traces_itself;      // the program has set the trap flag: SIGTRAP after each instruction
  AltStack alt;           // the program's own; the kernel has the engine's
  Trap last_trap;         // as signal frames show it until there is another one
  Actions* actions;
  u32 index;    // of its channel::Thread
  u32 process;  // index of its channel::Process
  u32 where;    // a Where
  u32 vfork_child;
  u32 clears_actions;  // it begins without the program's handlers
  u32 pooled;
  u32 generation;               // cache_generation() when its jump table was last emptied
  s64 tid, tgid;                // 0 = not known yet; tgid 0 = of no meaning to others
  u32 first_descriptor;         // of the engine's, where its table of descriptors is its own; 0 = it is the process's
  u32 maker;                    // process record of who made its pid namespace; 0 = it begins none
  u32 maker_outside;            // the number of that process outside: see sharing.hpp
  u64 in_functions;             // how many marked functions it is in
  u32 past_gate;                // it has passed the gate of the trace at its pc
  u32 in_steps;                 // it runs by traces of one instruction each: see translate/countdown.hpp
  u32 past_check;               // it goes on after the check of the one at its pc
  u32 in_call;                  // its registers are those of a system call that the kernel may be at
  u32 reads_code;               // a ReadsCode
  u32 collected;                // area of what it counted before, with a log of code; 0 = none yet
  u64 cleared_at_end;           // what the kernel sets when it starts, or clears when it ends
  u64 robust_list;              // what set_robust_list told it
  u64 vectors_in_frame;         // where it stops in a handler: the frame's XSAVE area; 0 = the processor has them
  alignas(16) u8 vectors[512];  // fxsave area, for the decoder
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
  o_popcount = 0x120,
};
static_assert(offsetof(Thread, flags) == o_flags && offsetof(Thread, pc) == o_pc &&
              offsetof(Thread, resume) == o_resume);
static_assert(offsetof(Thread, spill) == o_spill1 && offsetof(Thread, stack) == o_stack &&
              offsetof(Thread, link) == o_link);
static_assert(offsetof(Thread, borrowed) == o_borrowed_rcx);
static_assert(offsetof(Thread, pad) == o_pad && offsetof(Thread, self) == o_self &&
              offsetof(Thread, countdown) == o_countdown && offsetof(Thread, sums) == o_sums &&
              offsetof(Thread, popcount) == o_popcount && offsetof(Thread, lock_id) == lock_id_at);

/// The block of address space that a thread has: offsets from the GS base.
enum ThreadLayout : u32 {
  jump_table_at = 0x10000,    // 64 Ki cache addresses, by the low 16 bits of the program's
  stack_at = 0x90000,         // the engine's stack
  signal_stack_at = 0xb0000,  // the engine's alternate signal stack
  actions_at = 0xd0000,       // signal actions of a vfork child
  counters_at = 0x100000,     // mapped from the channel: one per segment
  steps_table_at = counters_at + channel::segment_limit * 8,  // the same as the jump table, for threads in steps
};
inline constexpr u32 jump_table_entries = 65536;
inline constexpr u64 stack_bytes = 0x20000;
inline constexpr u64 counters_bytes = u64{channel::segment_limit} * 8;
inline constexpr u64 thread_bytes = steps_table_at + jump_table_entries * 8;

/// What a system call returns that is to be begun again, after a signal's handler.
inline constexpr s64 restart_counts = -512;

inline Thread* current() {
  Thread* t;
  asm volatile("mov %%gs:%c1, %0" : "=r"(t) : "i"(o_self));
  return t;
}
inline u64* jump_table(Thread* t) { return reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + jump_table_at); }
inline u64* steps_table(Thread* t) { return reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + steps_table_at); }
/// Where an indirect jump of thread `t` to program address `pc` goes in the cache.
inline u64& jump_slot(Thread* t, u64 pc, bool in_steps = false) {
  return (in_steps ? steps_table(t) : jump_table(t))[pc & (jump_table_entries - 1)];
}
inline Actions* own_actions(Thread* t) { return reinterpret_cast<Actions*>(reinterpret_cast<u64>(t) + actions_at); }
inline u64* counters(Thread* t) { return reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + counters_at); }

/// Whether rdfsbase and its like may be used: CPUID and AT_HWCAP2 bit 1 say so. Set once at the start.
extern bool fsgsbase_allowed;

}  // namespace tally::engine
