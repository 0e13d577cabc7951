// Executes the CPUID instruction of x86 processors.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::linux {

/// Results of CPUID.
struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

/// Executes CPUID for a leaf and sub-leaf; nothing on other architectures. Leaves 0 and 80000000H report the highest
/// leaves; above these the processor often returns the highest one's values. The result is that of the CPU the thread
/// runs on; a hypervisor may have changed it. Cost: no system call, some 100 ns; tens of microseconds in a virtual
/// machine.
std::optional<CpuidRegisters> cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0);

/// Returns the components of the extended state that the kernel has enabled (XCR0); 0 on other architectures, and if
/// the processor has no XSAVE.
std::uint64_t enabled_state();

}  // namespace tally::linux
