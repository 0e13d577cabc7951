/// The interrupted state that the kernel passes to a signal handler.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine {

/// The kernel's struct ucontext on x86-64.
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

inline constexpr u64 trap_flag = 0x100, direction_flag = 0x400, resume_flag = 0x10000, alignment_flag = 0x40000,
                     id_flag = 0x200000, nested_task_flag = 0x4000;
/// Flags that rt_sigreturn takes from the frame; all others are unchanged (FIX_EFLAGS of the kernel).
inline constexpr u64 returned_flags = 0xcd5 | trap_flag | resume_flag | alignment_flag;
inline constexpr int sigill = 4, sigtrap = 5, sigbus = 7, sigkill = 9, sigsegv = 11, sigstop = 19;

}  // namespace tally::engine
