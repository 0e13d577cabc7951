// The CPUID instruction of x86 processors.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::linux {

/// What CPUID leaves in its four registers.
struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

/// Executes CPUID for a leaf and sub-leaf; nothing on other architectures. A leaf above the highest gives what the
/// processor gives for it, often that of the highest: leaves 0 and 80000000H name the highest ones. The answer is that
/// of the processor the thread runs on; a hypervisor may have written it. Cost: no system call, some 100 ns; tens of
/// microseconds in a virtual machine.
std::optional<CpuidRegisters> cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0);

}  // namespace tally::linux
