#include "tally/linux/machine/cpuid.hpp"

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

}  // namespace tally::linux
