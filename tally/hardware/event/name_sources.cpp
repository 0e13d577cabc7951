#include "tally/hardware/event/name_sources.hpp"

#include <algorithm>

#include "tally/linux/machine/execute_cpuid.hpp"

namespace tally::event {

const pfm::Pmu* own_pmu(const Sources& sources) {
  if (sources.own_pmu) return pfm::find_pmu(*sources.own_pmu);
  const auto& all = pfm::pmus();
  const auto found = std::find_if(all.begin(), all.end(), [](const pfm::Pmu& pmu) { return pmu.present; });
  return found == all.end() ? nullptr : &*found;
}

Family own_family(const Sources& sources) {
  if (const pfm::Pmu* own = own_pmu(sources)) return own->family;
  if (sources.own_family) return *sources.own_family;
  constexpr std::uint32_t auth = 0x68747541;  // "Auth"enticAMD
  constexpr std::uint32_t hygo = 0x6F677948;  // "Hygo"nGenuine: Zen under another name
  const auto vendor = linux::cpuid(0);
  const auto version = linux::cpuid(1);
  if (!vendor || !version || (vendor->ebx != auth && vendor->ebx != hygo)) return Family::none;
  const std::uint32_t family = (version->eax >> 8 & 0xF) + (version->eax >> 20 & 0xFF);
  return family >= 0x17 ? Family::amd_zen : Family::amd;
}

}  // namespace tally::event
