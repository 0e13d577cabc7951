#include "tally/linux/machine/execute_cpuid.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tally::linux {

std::optional<CpuidRegisters> cpuid([[maybe_unused]] std::uint32_t leaf, [[maybe_unused]] std::uint32_t subleaf) {
#if defined(__x86_64__)
  CpuidRegisters registers;
  __cpuid_count(leaf, subleaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  return registers;
#else
  return std::nullopt;
#endif
}

std::uint64_t enabled_state() {
#if defined(__x86_64__)
  constexpr std::uint32_t system_uses_xsave = 1u << 27;
  if ((cpuid(1).value_or(CpuidRegisters{}).ecx & system_uses_xsave) == 0) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
#else
  return 0;
#endif
}

}  // namespace tally::linux
