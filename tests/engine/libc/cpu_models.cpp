// What a program learns about its processor, and whether XSAVE writes beyond a buffer of the size that CPUID reports: a
// page without access follows each buffer.
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace {

struct Answer {
  uint32_t a, b, c, d;
};

Answer ask(uint32_t leaf, uint32_t subleaf = 0) {
  Answer r;
  __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
  return r;
}

/// Returns `bytes` zeros that end at most 63 bytes before a page without access.
char* guarded(size_t bytes) {
  const size_t page = 4096, pages = (bytes + page - 1) / page * page;
  char* const start =
      static_cast<char*>(mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(start + pages, page, PROT_NONE);
  return start + (pages - bytes) / 64 * 64;
}

/// The same, at an address whose bits select all components of AVX-512.
char* guarded_selecting(size_t bytes) {
  char* start = guarded(bytes);
  while ((reinterpret_cast<uintptr_t>(start) & 0xc0) != 0xc0) start -= 64;
  return start;
}

/// The selection is in the registers of the address, too; these and RBX keep their values.
bool save_by_selection(size_t bytes) {
  uint64_t marker = 0x123456789abcdef;
  char *address = guarded_selecting(bytes), *const by_rax = address;
  asm volatile("xsave64 (%%rax)" : "+a"(address), "+b"(marker) : "d"(0) : "memory");
  char *address_by_rdx = guarded(bytes), *const by_rdx = address_by_rdx;
  uint64_t selected = ~uint64_t{0};
  asm volatile("xsave64 (%%rdx)" : "+d"(address_by_rdx), "+a"(selected), "+b"(marker)::"memory");
  asm volatile("xrstor64 -8(%%rdx, %%rcx, 8)" : "+d"(address_by_rdx), "+a"(selected) : "c"(uint64_t{1}) : "memory");
  return address == by_rax && address_by_rdx == by_rdx && selected == ~uint64_t{0} && marker == 0x123456789abcdef;
}

uint64_t enabled_components() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

#define MOVE(instruction, area) asm volatile(instruction " (%0)" ::"r"(area), "a"(-1), "d"(-1) : "memory")

void save_and_restore() {
  const Answer whole = ask(0xd), variants = ask(0xd, 1);
  printf("xcr0 %jx bytes %u\n", static_cast<uintmax_t>(enabled_components()), whole.b);
  char* area = guarded(whole.b);
  MOVE("xsave64", area);
  MOVE("xrstor64", area);
  printf("by the selection: %d\n", save_by_selection(whole.b));
  if (variants.a & 1) MOVE("xsaveopt", guarded(whole.b));
  if (variants.a & 2) {
    area = guarded(variants.b);
    MOVE("xsavec", area);
    MOVE("xrstor", area);
  }
}

uint32_t frame_bytes;
uint64_t frame_components;

void handle(int, siginfo_t*, void* context) {
  const char* const state = reinterpret_cast<const char*>(static_cast<ucontext_t*>(context)->uc_mcontext.fpregs);
  memcpy(&frame_bytes, state + 468, sizeof frame_bytes);
  memcpy(&frame_components, state + 472, sizeof frame_components);
}

}  // namespace

int main() {
  char brand[49] = {};
  for (uint32_t i = 0; i < 3; i++) {
    const Answer part = ask(0x80000002 + i);
    memcpy(brand + 16 * i, &part, sizeof part);
  }
  __builtin_cpu_init();
  printf("%s\nsignature %x level %d hypervisor %d\n", brand, ask(1).a,
         __builtin_cpu_supports("avx512vl") ? 4
         : __builtin_cpu_supports("avx2")   ? 3
         : __builtin_cpu_supports("sse4.2") ? 2
                                            : 1,
         ask(1).c >> 31);
  printf("hwcap2 %lx least stack %lu\n", getauxval(AT_HWCAP2), getauxval(51 /* AT_MINSIGSTKSZ */));
  if (ask(1).c >> 27 & 1) save_and_restore();
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  printf("frame %u components %jx\n", frame_bytes, static_cast<uintmax_t>(frame_components));
}
