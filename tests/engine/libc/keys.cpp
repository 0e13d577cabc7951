// Memory protection keys (pkeys(7)), used as natively is allowed: the argument says how.
#include <sys/mman.h>
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

void* faulted;
void skip(int, siginfo_t*, void* context) {
  auto* const c = static_cast<ucontext_t*>(context);
  faulted = reinterpret_cast<void*>(c->uc_mcontext.gregs[REG_RIP]);
  c->uc_mcontext.gregs[REG_RIP] += 3;
}

/// Where there are no keys; and with an operand that it must not have.
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
  if (std::strcmp(how, "fault") == 0) result = fault();
  std::printf("%d\n", result);
}
