// What an instruction did, as far as counters see it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tally::pmu::emulated {

/// What counters may count.
enum class Signal : std::uint8_t {
  nothing,  ///< an event that the emulated processor does not have
  instructions,
  core_cycles,
  reference_cycles,  ///< made of core cycles by the ratio of the clocks
  slots,             ///< four a cycle
  llc_references,
  llc_misses,
  branches,
  mispredicts,
  conditional_branches,
  calls,
  returns,
  taken_branches,
  far_branches,
  loads,
  stores,
  count
};

inline constexpr std::size_t signal_count = static_cast<std::size_t>(Signal::count);

/// How often each happened in one instruction, or in a stretch of them.
struct Work {
  std::array<std::uint64_t, signal_count> times{};

  std::uint64_t& operator[](Signal signal) { return times[static_cast<std::size_t>(signal)]; }
  std::uint64_t operator[](Signal signal) const { return times[static_cast<std::size_t>(signal)]; }
};

/// One instruction of so many cycles, and nothing else.
inline Work one_instruction(std::uint64_t cycles = 1) {
  Work work;
  work[Signal::instructions] = 1;
  work[Signal::core_cycles] = cycles;
  return work;
}

/// What an event code counts here: the architectural events and the kinds of C4H and D0H.
Signal signal_of(std::uint8_t event, std::uint8_t umask);

/// Where CPUID.0AH:EBX announces an architectural event; nothing where the event is not one of them.
std::optional<int> announced_at(std::uint8_t event, std::uint8_t umask);

}  // namespace tally::pmu::emulated
