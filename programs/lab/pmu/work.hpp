// The work of instructions, as seen by counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tally::pmu::emulated {

/// The signals that counters can count.
enum class Signal : std::uint8_t {
  nothing,  ///< an event that the emulated processor does not have
  instructions,
  core_cycles,
  reference_cycles,  ///< derived from core cycles by the clock ratio
  slots,             ///< four per cycle
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

/// The number of times each signal occurred in one or several instructions.
struct Work {
  std::array<std::uint64_t, signal_count> times{};
  /// Whether the last of the core cycles is the one in which the instruction retires. If not, the cycles end before,
  /// and it retires in the next one, together with instructions that follow.
  bool ends_cycle = true;

  std::uint64_t& operator[](Signal signal) { return times[static_cast<std::size_t>(signal)]; }
  std::uint64_t operator[](Signal signal) const { return times[static_cast<std::size_t>(signal)]; }
};

/// One instruction of `cycles` cycles and no other events.
inline Work one_instruction(std::uint64_t cycles = 1) {
  Work work;
  work[Signal::instructions] = 1;
  work[Signal::core_cycles] = cycles;
  return work;
}

/// The signal of an event code: the architectural events and the kinds of C4H and D0H.
Signal signal_of(std::uint8_t event, std::uint8_t umask);

/// Whether the signal belongs to instructions that retire, so that PEBS can record it.
bool is_precise(Signal signal);

/// The bit of CPUID.0AH:EBX for an architectural event; nullopt for other events.
std::optional<int> announced_at(std::uint8_t event, std::uint8_t umask);

}  // namespace tally::pmu::emulated
