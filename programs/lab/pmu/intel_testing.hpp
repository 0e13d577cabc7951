// Helpers for the tests of the emulated PMU.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "programs/lab/pmu/intel_pmu.hpp"

namespace tally::pmu::emulated {

inline const Profile& profile_named(std::string_view name) {
  const Profile* profile = profile_of(name);
  if (!profile) ADD_FAILURE() << "no profile " << name;
  return profile ? *profile : profiles().front();
}

/// A PMU with shortcuts for tests.
struct Bench : IntelPmu {
  explicit Bench(std::string_view name = "haswell-v3", Behaviour behaviour = {})
      : IntelPmu(profile_named(name), behaviour) {}
  explicit Bench(const Profile& profile) : IntelPmu(profile) {}

  /// Writes without an instruction: set-up that must not be counted.
  void set(std::uint32_t index, std::uint64_t value) {
    const Answer answer = write(index, value);
    EXPECT_TRUE(answer) << std::hex << index << ": " << answer.fault.value_or("");
  }
  std::uint64_t get(std::uint32_t index) const {
    const Answer answer = read(index);
    EXPECT_TRUE(answer) << std::hex << index << ": " << answer.fault.value_or("");
    return answer.value;
  }
  void run(std::uint64_t instructions, int cpl = 0, Work work = one_instruction()) {
    for (std::uint64_t i = 0; i < instructions; ++i) retire(work, cpl);
  }
  /// Sets the LVT, so that PMIs are delivered.
  void set_vector(std::uint32_t value) { apic().set_perfmon_vector(value); }
};

// IA32_PERFEVTSELn: instructions, with USR, OS, EN; the second also with INT.
inline constexpr std::uint64_t instructions_always = 0x4300C0;
inline constexpr std::uint64_t instructions_interrupting = 0x5300C0;
inline constexpr std::uint64_t largest = 0xFFFF'FFFF'FFFF;

}  // namespace tally::pmu::emulated
