// Reads the GS base, which is 0, by the instruction if the system permits it and by the system call.
#include <asm/prctl.h>

#include "tests/engine/programs/bare.hpp"

namespace {

bool may_read(char** envp) {
  while (*envp != nullptr) ++envp;
  constexpr uint64_t hardware_capabilities_2 = 26, fsgsbase = 2;
  for (const auto* entry = reinterpret_cast<const uint64_t*>(envp + 1); entry[0] != 0; entry += 2)
    if (entry[0] == hardware_capabilities_2) return (entry[1] & fsgsbase) != 0;
  return false;
}

}  // namespace

extern "C" int program(int, char**, char** envp) {
  uint64_t base = 1;
  bare::check(bare::call(__NR_arch_prctl, ARCH_GET_GS, bare::address(&base)) == 0 && base == 0);
  if (!may_read(envp)) return 0;
  uint64_t wide = 1, high = 1, narrow = 1;
  asm volatile("rdgsbase %0" : "=r"(wide));
  asm volatile("movl $-1, %%r13d; rdgsbase %%r13; movq %%r13, %0" : "=r"(high)::"r13");
  asm volatile("rdgsbase %k0" : "+r"(narrow));
  bare::check(wide == 0 && high == 0 && narrow == 0);
  return 0;
}
