// Emulates the PMU of Apple's M1 and M2 cores. Apple does not document it; the rules are from Linux's driver and the
// Asahi project's page of system registers. Pure, like IntelPmu.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "programs/lab/pmu/answer.hpp"
#include "programs/register/pmu/model.hpp"

namespace tally::pmu::emulated {

/// Work of a core: the number of times each event happened, by its code. PMC0 counts the cycles, PMC1 the instructions.
struct AppleWork {
  std::uint64_t cycles = 1;
  std::uint64_t instructions = 1;
  std::map<std::uint8_t, std::uint64_t> events = {};
};

/// Differences between chips, and between their descriptions.
struct AppleBehaviour {
  int overflow_bit = 47;  ///< 63 on the M2
  /// The counters of events 96H and 9BH: as others observed (true), or by the newest Linux driver (false).
  bool observed_affinity = true;
  /// After a write, a control register reads as `poison` until an ISB.
  bool strict_barriers = false;
};

class ApplePmu {
 public:
  static constexpr std::uint64_t poison = 0xDEAD'0B5E'DEAD'0B5E;

  explicit ApplePmu(AppleBehaviour behaviour = {});

  /// MRS and MSR of a system register by number (system_register()), at exception level `level`.
  Answer read(std::uint64_t number, int level = 1) const;
  Answer write(std::uint64_t number, std::uint64_t value, int level = 1);
  /// An ISB: writes of control registers take effect.
  void synchronize();

  /// Counts the work of a core in 64-bit state at exception level `level`.
  void retire(const AppleWork& work, int level);

  /// Whether the PMU asserts its fast interrupt: mode FIQ and IACT.
  bool has_interrupt() const;

  /// Events that were selected on a counter that cannot count them.
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
