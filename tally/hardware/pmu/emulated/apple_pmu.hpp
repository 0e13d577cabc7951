// The PMU of Apple's M1 and M2 cores as a machine. Nobody documents it; the rules are those of Linux's driver and of
// the Asahi project's page of system registers. Pure, as IntelPmu is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tally/hardware/pmu/emulated/answer.hpp"
#include "tally/hardware/pmu/model.hpp"

namespace tally::pmu::emulated {

/// What a core did: how often each event happened, by its code. Cycles and instructions are PMC0's and PMC1's.
struct AppleWork {
  std::uint64_t cycles = 1;
  std::uint64_t instructions = 1;
  std::map<std::uint8_t, std::uint64_t> events = {};
};

/// Where chips, and the words about them, differ.
struct AppleBehaviour {
  int overflow_bit = 47;  ///< 63 on the M2
  /// Counters by the newest Linux driver, or as others observed them: events 96H and 9BH.
  bool observed_affinity = true;
  /// A control register that was written reads as `poison` until an ISB.
  bool strict_barriers = false;
};

class ApplePmu {
 public:
  static constexpr std::uint64_t poison = 0xDEAD'0B5E'DEAD'0B5E;

  explicit ApplePmu(AppleBehaviour behaviour = {});

  /// MRS and MSR of a system register, by its number (system_register()), at exception level `level`.
  Answer read(std::uint64_t number, int level = 1) const;
  Answer write(std::uint64_t number, std::uint64_t value, int level = 1);
  /// Writes of control registers take effect.
  void synchronize();

  /// What a core did at exception level `level`, 64-bit state.
  void retire(const AppleWork& work, int level);

  /// Whether the PMU holds its fast interrupt: mode FIQ and IACT.
  bool has_interrupt() const;

  /// Events that a counter was told to count and cannot.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  enum Control : std::size_t { pmcr0, pmcr1, pmcr2, pmcr3, pmcr4, pmesr0, pmesr1, controls };
  static constexpr int counters = 10;

  int control_of(std::uint64_t number) const;
  int counter_of(std::uint64_t number) const;
  bool counts(int counter, int level) const;
  std::uint8_t event_of(int counter) const;
  void choose_events();
  std::uint64_t overflows() const;
  void raise();

  AppleBehaviour behaviour_;
  std::array<std::uint64_t, controls> numbers_{};
  std::array<std::uint64_t, controls> values_{};   // as software wrote them
  std::array<std::uint64_t, controls> visible_{};  // as the counters see them
  std::array<std::uint64_t, counters> counter_numbers_{};
  std::array<std::uint64_t, counters> counts_{};
  std::array<bool, counters> can_count_{};
  std::uint64_t status_number_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace tally::pmu::emulated
