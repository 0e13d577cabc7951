#include "tally/engine/guest/confining.hpp"

#include "tally/engine/guest/process_calls.hpp"

namespace tally::engine::guest {
namespace {

enum : u32 { strict_mode = 0, filter_mode = 1 };        // operations of seccomp(2)
enum : u32 { for_all_threads = 1, with_listener = 8 };  // its flags
enum : u64 { prctl_strict = 1, prctl_filter = 2 };      // the prctl(2) numbers of these operations
enum : s64 { not_there = -EFAULT, no_descriptor_left = -EMFILE };
enum : u64 { set_dispatch_option = 59, dispatch_off = 0 };

/// A call that a child process makes to find out the kernel's result.
struct Trial {
  s64 number;
  u64 arguments[5];
  bool without_descriptors;  // forbid new descriptors
  s64 answer = 0;            // of the kernel; 0 if the call could not be made
};

/// The limit applies to the child only, because the child is a process of its own.
bool forbid_descriptors() {
  constexpr u64 descriptors = 7;
  const u64 none[2] = {0, 0};
  return kernel(SYS_prlimit64, 0, descriptors, reinterpret_cast<u64>(none), 0) == 0;
}

extern "C" [[noreturn, gnu::used]] void engine_try(Trial* trial) {
  const u64* a = trial->arguments;
  if (!trial->without_descriptors || forbid_descriptors())
    trial->answer = kernel(trial->number, a[0], a[1], a[2], a[3], a[4]);
  for (;;) kernel(SYS_exit, 0);
}

/// Starts a process in this memory, on this stack. It runs engine_try() while this thread waits.
s64 begin_trial(Trial& trial) {
  constexpr u64 shares = 0x100 | 0x200 | 0x400 | 0x4000;  // CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_VFORK; no signal
  s64 child;
  register u64 r10 asm("r10") = 0;
  register u64 r8 asm("r8") = 0;
  asm volatile(
      "syscall\n"
      "  test %%rax, %%rax\n"
      "  jnz 1f\n"
      "  sub $128, %%rsp\n"
      "  and $-16, %%rsp\n"
      "  mov %[trial], %%rdi\n"
      "  call engine_try\n"
      "1:"
      : "=a"(child)
      : "a"(SYS_clone), "D"(shares), "S"(0), "d"(0), "r"(r10), "r"(r8), [trial] "b"(&trial)
      : "rcx", "r11", "memory");
  return child;
}

/// Returns the error that the kernel would return for this call; 0 if it would accept the call or if that is not known.
s64 answer_to(Trial trial) {
  const u64 all = ~0ull;
  u64 before = 0;
  kernel(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, reinterpret_cast<u64>(&all), reinterpret_cast<u64>(&before), 8);
  const s64 child = begin_trial(trial);
  if (!failed(child)) kernel(SYS_wait4, static_cast<u64>(child), 0, 0x40000000 /* __WALL */, 0);
  kernel(SYS_rt_sigprocmask, 2, reinterpret_cast<u64>(&before), 0, 8);
  return failed(child) || !failed(trial.answer) ? 0 : trial.answer;
}

/// The kernel checks a filter completely before it fails to allocate a listener descriptor, and then does not install
/// it.
s64 answer_to_filter(u32 flags, u64 program) {
  if (kernel(SYS_seccomp, filter_mode, with_listener, 0) != not_there) return 0;  // Linux before 5.0
  Trial trial{SYS_seccomp, {filter_mode, (flags & ~u32{for_all_threads}) | with_listener, program}, true};
  const s64 r = answer_to(trial);
  return r == no_descriptor_left ? 0 : r;
}

}  // namespace

s64 set_filter(Thread* t, u32 operation, u32 flags, u64 arguments) {
  if (operation == strict_mode) {
    if (flags != 0 || arguments != 0) return run(t);
    if (const s64 r = answer_to({SYS_seccomp, {strict_mode}, false}); r != 0) return r;
  } else if (operation == filter_mode) {
    // The kernel does not support these flags, or not this combination.
    if (kernel(SYS_seccomp, filter_mode, flags, 0) != not_there) return run(t);
    if (const s64 r = answer_to_filter(flags, arguments); r != 0) return r;
  } else {
    return run(t);  // a query
  }
  continue_natively(t, channel::partial_confined);
}

s64 set_filter_by_prctl(Thread* t, u64 mode, u64 program) {
  switch (mode) {
    case prctl_strict: return set_filter(t, strict_mode, 0, 0);
    case prctl_filter: return set_filter(t, filter_mode, 0, program);
    default: return run(t);
  }
}

s64 set_dispatch(Thread* t, u64 mode, u64 start, u64 bytes, u64 selector) {
  static const u8 all_pass = 0;
  const bool no_address = static_cast<s64>(selector) < 0;
  if (mode == dispatch_off || no_address) return run(t);
  const s64 r =
      answer_to({SYS_prctl, {set_dispatch_option, mode, start, bytes, reinterpret_cast<u64>(&all_pass)}, false});
  if (r != 0) return r;
  continue_natively(t, channel::partial_dispatched);
}

}  // namespace tally::engine::guest
