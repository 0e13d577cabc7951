// Start of the engine in a program that the kernel has just executed, and the functions that libZydis imports.
#include <elf.h>

#include "tally/engine/clock.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/address_space_limits.hpp"
#include "tally/engine/guest/descriptors.hpp"
#include "tally/engine/guest/failing.hpp"
#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/initial_stack.hpp"
#include "tally/engine/guest/output_buffers.hpp"
#include "tally/engine/guest/placement.hpp"
#include "tally/engine/guest/pmu_processes.hpp"
#include "tally/engine/guest/presented_cpu.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/persist/persistent_cache.hpp"
#include "tally/engine/sharing.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/watching.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default")))

// The command sets the program's pc to this entry at the end of its execve:
// rdi = the program's first instruction, rsi = its stack pointer, rdx = the first inherited descriptor,
// rcx and r8 = numbers of the translation files, kept and added.
// All other registers of a new program are 0. The image is mapped read-only and executable; its data become writable
// before anything is written.
asm(R"(
.text
.globl engine_entry
.type engine_entry, @function
engine_entry:
  mov %rdi, %r12
  mov %rsi, %r13
  mov %rdx, %r14
  mov %rcx, %r15
  mov %r8, %rbp
  mov $0x7ea000000000, %rax
  mov 0x18(%rax), %rdi       # ImageHeader::writable_offset
  mov 0x10(%rax), %rsi       # ImageHeader::bytes
  sub %rdi, %rsi
  add %rax, %rdi
  mov $3, %edx
  mov $10, %eax
  syscall
  lea first_stack_end(%rip), %rsp
  mov %r12, %rdi
  mov %r13, %rsi
  mov %r14d, %edx
  mov %r15, %rcx
  mov %rbp, %r8
  call engine_start
  ud2
.section .lbss,"aw",@nobits
.balign 64
.skip 65536
first_stack_end:
.skip 64
.text
)");

namespace tally::engine::guest {
static_assert(offsetof(ImageHeader, writable_offset) == 0x18 && offsetof(ImageHeader, bytes) == 0x10);

namespace {

const char* base_name(const char* path) {
  const char* name = path;
  for (; *path != 0; path++)
    if (*path == '/') name = path + 1;
  return name;
}

bool started;
u64 first_pc, first_sp;
u32 first_fd;  // the first inherited descriptor

/// Starts the program natively before any of its code has run. The command reports that its record is missing.
[[noreturn]] void start_natively() {
  for (u32 i = 0; i < channel::inherited_count; i++) kernel(SYS_close, first_fd + i);
  set_gs(0);
  end_lifting_natively();
  forget_first_thread();
  asm volatile(
      "mov %0, %%rsp\n push $0x202\n popfq\n mov %1, %%r11\n push %%r11\n"
      "xor %%eax, %%eax\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%ebx, %%ebx\n xor %%ebp, %%ebp\n xor %%esi, "
      "%%esi\n"
      "xor %%edi, %%edi\n xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n"
      "xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n xor %%r14d, %%r14d\n xor %%r15d, %%r15d\n ret" ::"r"(first_sp),
      "r"(first_pc));
  __builtin_unreachable();
}

[[noreturn]] void go(Thread* t) {
  dispatch(t);
  resume_program();
}

}  // namespace

}  // namespace tally::engine::guest

namespace tally::engine {

void die(const char* what, u64 value) {
  if (!guest::started) guest::start_natively();
  static bool dying;
  if (__atomic_exchange_n(&dying, true, __ATOMIC_RELAXED)) kernel(SYS_exit_group, 125);
  guest::end_by_failure(what, value, nullptr, nullptr);
}

}  // namespace tally::engine

namespace tally::engine::guest {

extern "C" __attribute__((visibility("hidden"), used)) void engine_start(u64 pc, u64 sp, u32 first, u64 kept,
                                                                         u64 added) {
  first_pc = pc;
  first_sp = sp;
  first_fd = first;
  // The stack that the kernel prepared: count, arguments, 0, environment, 0, auxiliary vector.
  u64* p = reinterpret_cast<u64*>(sp);
  p += 1 + *p + 1;
  const u64* const environment = p;
  while (*p != 0) p++;
  const u64 environment_bytes =
      p == environment ? 0 : p[-1] + length(reinterpret_cast<const char*>(p[-1])) + 1 - *environment;
  u64 capabilities = 0, entry = pc, random = 0;
  const char* name = "";
  u64* const auxiliary = ++p;
  for (; *p != AT_NULL; p += 2) {
    if (p[0] == AT_HWCAP2) capabilities = p[1];
    if (p[0] == AT_ENTRY) entry = p[1];
    if (p[0] == AT_SYSINFO_EHDR) clock_init(p[1]);
    if (p[0] == AT_BASE) linker_init(p[1]);
    if (p[0] == AT_RANDOM) random = p[1];
    if (p[0] == AT_EXECFN) name = reinterpret_cast<const char*>(p[1]);
  }
  fsgsbase_allowed = (capabilities & 2) != 0;
  begin_without_thread();
  Thread* t = first_thread(first);
  set_gs(reinterpret_cast<u64>(t));
  presented_cpu_init(auxiliary);
  if (settings().hides_vdso != 0)
    for (p = auxiliary; *p != AT_NULL; p += 2)
      if (*p == AT_SYSINFO_EHDR) *p = AT_IGNORE;
  placement_init();
  limits_init();
  keep_descriptors_over_exec(false);
  channel::Process& process = process_record(t);
  const char* base = base_name(name);
  for (u32 i = 0; i < sizeof process.name - 1 && base[i] != 0; i++) process.name[i] = base[i];
  u64 none = 0;
  __atomic_compare_exchange_n(&records().header().environment_bytes, &none, environment_bytes, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  const s64 persona = kernel(SYS_personality, 0xffffffff);
  kernel_may_write = may_write;
  code_init();
  reading_executes((static_cast<u64>(persona) & 0x0400000 /* READ_IMPLIES_EXEC */) != 0);
  cache_init();
  decoder_init();
  persistent_cache_init(kept, added, entry);
  keep_start_from_core();
  if (arena_for(pc) == nullptr) {
    if (arenas_are_forbidden()) __atomic_add_fetch(&records().header().forbidden, 1, __ATOMIC_RELAXED);
    start_natively();
  }
  signals_init(t);
  if (random_is_fixed() && random != 0) fill_random(reinterpret_cast<void*>(random), 16);
  t->pc = pc;
  t->gpr[rsp] = settings().repeatable != 0 ? settle_initial_stack(sp) : sp;
  t->flags = 0x202;
  started = true;
  pmu_events_of_program(t);
  if (marks_on()) learn_marks(t);
  on_engine_stack(t, go);
}

}  // namespace tally::engine::guest

// All functions that libZydis imports, and those that the compiler calls.
EXPORTED void* memcpy(void* to, const void* from, size_t n) {
  tally::engine::copy(to, from, n);
  return to;
}
EXPORTED void* memset(void* to, int c, size_t n) {
  // libZydis clears its structures with it, a few hundred bytes at a time.
  const unsigned long word = static_cast<unsigned char>(c) * 0x0101010101010101ul;
  char* p = static_cast<char*>(to);
  for (; n >= 8; n -= 8, p += 8) __builtin_memcpy(p, &word, 8);
  for (; n > 0; n--) *p++ = static_cast<char>(c);
  return to;
}
EXPORTED size_t strlen(const char* s) { return tally::engine::length(s); }
EXPORTED void __stack_chk_fail() { tally::engine::die("a stack of the decoder is damaged", 0); }
EXPORTED void __assert_fail(const char* what, const char*, unsigned line, const char*) {
  tally::engine::die(what, line);
}
