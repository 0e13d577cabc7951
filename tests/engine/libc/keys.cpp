// Memory protection keys (pkeys(7)), used as is allowed natively: the argument selects the case.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ucontext.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::uint32_t read_keys() {
  std::uint32_t a, d;
  asm volatile("rdpkru" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}
void write_keys(std::uint32_t denied) { asm volatile("wrpkru" ::"a"(denied), "c"(0), "d"(0) : "memory"); }

/// int f(int n): adds up to n in a loop.
void* code() {
  static const unsigned char loop[] = {0x31, 0xc0, 0xff, 0xc0, 0x39, 0xf8, 0x75, 0xfa, 0xc3};
  void* const at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(at, loop, sizeof loop);
  return at;
}

int call(void* at, int n) { return reinterpret_cast<int (*)(int)>(at)(n); }

int execute_only() {
  void* const at = code();
  mprotect(at, 4096, PROT_EXEC);
  return call(at, 100000);
}

int execute_with_denied_key() {
  void* const at = code();
  pkey_mprotect(at, 4096, PROT_READ | PROT_EXEC, pkey_alloc(0, PKEY_DISABLE_ACCESS));
  return call(at, 100000);
}

/// Denies and allows memory of another key, again and again.
int change_often() {
  const int key = pkey_alloc(0, 0);
  auto* const at = static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  pkey_mprotect(at, 4096, PROT_READ | PROT_WRITE, key);
  const std::uint32_t open = read_keys(), closed = open | 3u << 2 * key;
  for (int i = 0; i < 10000; ++i) {
    write_keys(open);
    ++*at;
    write_keys(closed);
  }
  write_keys(open);
  return *at;
}

/// The offset of the register in an area of XSAVE; 0 without it.
unsigned place_of_register() {
  unsigned a = 13, b = 0, c = 9, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return b;
}

constexpr std::uint64_t only_keys = std::uint64_t{1} << 9, header_at = 512;

struct alignas(64) Area {
  unsigned char bytes[8192] = {};

  void set(std::uint64_t components, std::uint32_t denied) {
    std::memcpy(bytes + header_at, &components, sizeof components);
    std::memcpy(bytes + place_of_register(), &denied, sizeof denied);
  }
};

void restore(const Area& area, std::uint64_t components) {
  asm volatile("xrstor %0" ::"m"(area), "a"(static_cast<unsigned>(components)),
               "d"(static_cast<unsigned>(components >> 32))
               : "memory");
}

/// Restores the register from memory, with all other state and alone, and leaves it unchanged.
int restore_often() {
  static Area all, one;
  asm volatile("xsave %0" : "=m"(all) : "a"(-1), "d"(-1) : "memory");
  int sum = 0;
  for (int i = 0; i < 1000; ++i) {
    restore(all, ~std::uint64_t{0});
    one.set(only_keys, static_cast<std::uint32_t>(i) << 2);
    restore(one, only_keys);
    sum += static_cast<int>(read_keys() >> 2);
    one.set(only_keys, 3);
    restore(one, 4);  // other components only
    one.set(0, 3);
    restore(one, only_keys);  // the initial value
    sum += static_cast<int>(read_keys());
  }
  return sum;
}

/// As without_key_0(), by xrstor.
int without_key_0_by_restoring(std::uint32_t denied) {
  static Area area;
  const std::uint32_t open = read_keys();
  area.set(only_keys, open | denied);
  std::uint64_t sum = 0;
  asm volatile(
      "mov %[open], %%r8d\n"
      "mov $512, %%eax\n"
      "xor %%ecx, %%ecx\n"
      "xor %%edx, %%edx\n"
      "mov $-3, %%r9\n"
      "xrstor 24(%[area], %%r9, 8)\n"
      "mov $1000, %%ebx\n"
      "xor %%r14d, %%r14d\n"
      "1: add %%rbx, %%r14\n"
      "dec %%ebx\n"
      "jnz 1b\n"
      "mov %%r8d, %%eax\n"
      "wrpkru\n"
      "mov %%r14, %[sum]\n"
      : [sum] "=r"(sum)
      : [open] "r"(open), [area] "r"(&area)
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r14", "memory", "cc");
  return static_cast<int>(sum);
}

std::uint32_t denied_after_handler;

void deny_in_frame(int, siginfo_t*, void* context) {
  auto* const state = reinterpret_cast<unsigned char*>(static_cast<ucontext_t*>(context)->uc_mcontext.fpregs);
  std::uint64_t components = 0;
  std::uint32_t denied = 0;
  std::memcpy(&components, state + header_at, sizeof components);
  std::memcpy(&denied, state + place_of_register(), sizeof denied);
  components |= only_keys;
  denied |= denied_after_handler;
  std::memcpy(state + header_at, &components, sizeof components);
  std::memcpy(state + place_of_register(), &denied, sizeof denied);
}

/// One system call, and no memory of key 0 from then on.
int without_key_0_after(long number, long first, long second) {
  const std::uint32_t open = read_keys();
  std::uint64_t sum = 0;
  asm volatile(
      "mov %[open], %%r8d\n"
      "syscall\n"
      "mov $1000, %%ebx\n"
      "xor %%r14d, %%r14d\n"
      "1: add %%rbx, %%r14\n"
      "dec %%ebx\n"
      "jnz 1b\n"
      "mov %%r8d, %%eax\n"
      "xor %%ecx, %%ecx\n"
      "xor %%edx, %%edx\n"
      "wrpkru\n"
      "mov %%r14, %[sum]\n"
      : [sum] "=r"(sum), "+a"(number)
      : [open] "r"(open), "D"(first), "S"(second)
      : "rbx", "rcx", "rdx", "r8", "r11", "r14", "memory", "cc");
  return static_cast<int>(sum);
}

/// By the frame of a handler: `denied` for key 0, or for another one.
int return_with(std::uint32_t denied) {
  denied_after_handler = denied;
  struct sigaction action {};
  action.sa_sigaction = deny_in_frame;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  return without_key_0_after(SYS_kill, getpid(), SIGUSR1);
}

volatile int handled;

/// Allows itself its stack first: a handler begins with the initial value of the register.
[[gnu::naked]] void handler_on_denied_stack(int) {
  asm("xor %%eax, %%eax\n"
      "xor %%ecx, %%ecx\n"
      "xor %%edx, %%edx\n"
      "wrpkru\n"
      "incl %0\n"
      "ret\n" ::"m"(handled));
}

/// Handlers whose stack has a key of its own.
int handle_on_stack_with_key() {
  constexpr std::size_t bytes = 65536;
  void* const stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pkey_mprotect(stack, bytes, PROT_READ | PROT_WRITE, pkey_alloc(0, 0));
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = bytes;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = handler_on_denied_stack;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 10; ++i) raise(SIGUSR1);
  return handled;
}

/// Key 0 is freed, and allocated again without the right to write.
int allocate_again() {
  if (pkey_free(0) != 0) return 0;
  return without_key_0_after(SYS_pkey_alloc, 0, PKEY_DISABLE_WRITE);
}

/// While memory of key 0 is denied, `denied` being 1 for all and 2 for writes: registers only.
int without_key_0(std::uint32_t denied) {
  const std::uint32_t open = read_keys();
  std::uint64_t sum = 0;
  asm volatile(
      "mov %[open], %%r8d\n"
      "mov %%r8d, %%eax\n"
      "or %[denied], %%eax\n"
      "xor %%ecx, %%ecx\n"
      "xor %%edx, %%edx\n"
      "wrpkru\n"
      "mov $1000, %%ebx\n"
      "xor %%r14d, %%r14d\n"
      "1: add %%rbx, %%r14\n"
      "dec %%ebx\n"
      "jnz 1b\n"
      "mov %%r8d, %%eax\n"
      "wrpkru\n"
      "mov %%r14, %[sum]\n"
      : [sum] "=r"(sum)
      : [open] "r"(open), [denied] "r"(denied)
      : "rax", "rbx", "rcx", "rdx", "r8", "r14", "memory", "cc");
  return static_cast<int>(sum);
}

/// Asks for a key, as programs do to find out whether keys are supported; key 0 stays allocated.
int ask() {
  const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  return key != 0 ? 1 : 0;
}

void* faulted;
void skip(int, siginfo_t*, void* context) {
  auto* const c = static_cast<ucontext_t*>(context);
  faulted = reinterpret_cast<void*>(c->uc_mcontext.gregs[REG_RIP]);
  c->uc_mcontext.gregs[REG_RIP] += 3;
}

/// Without keys; and with an operand that it must not have.
int fault() {
  struct sigaction action {};
  action.sa_sigaction = skip;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
  sigaction(SIGSEGV, &action, nullptr);
  void* expected = nullptr;
  asm volatile(
      "lea 1f(%%rip), %0\n"
      "mov $3, %%eax\n"
      "mov $1, %%ecx\n"
      "xor %%edx, %%edx\n"
      "1: wrpkru\n"
      : "=&r"(expected)::"rax", "rcx", "rdx", "memory");
  return faulted == expected ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const char* const how = words[1];
  int result = 0;
  if (std::strcmp(how, "execute-only") == 0) result = execute_only();
  if (std::strcmp(how, "denied-code") == 0) result = execute_with_denied_key();
  if (std::strcmp(how, "change") == 0) result = change_often();
  if (std::strcmp(how, "deny-all") == 0) result = without_key_0(1);
  if (std::strcmp(how, "deny-writes") == 0) result = without_key_0(2);
  if (std::strcmp(how, "restore") == 0) result = restore_often();
  if (std::strcmp(how, "restore-none") == 0) result = without_key_0_by_restoring(1);
  if (std::strcmp(how, "restore-read-only") == 0) result = without_key_0_by_restoring(2);
  if (std::strcmp(how, "return") == 0) result = return_with(0xc);
  if (std::strcmp(how, "return-none") == 0) result = return_with(1);
  if (std::strcmp(how, "return-read-only") == 0) result = return_with(2);
  if (std::strcmp(how, "stack") == 0) result = handle_on_stack_with_key();
  if (std::strcmp(how, "allocate") == 0) result = allocate_again();
  if (std::strcmp(how, "ask") == 0) result = ask();
  if (std::strcmp(how, "fault") == 0) result = fault();
  std::printf("%d\n", result);
}
