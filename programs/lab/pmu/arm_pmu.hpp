// Emulates Arm's PMUv3 (AArch64). Source: Arm Architecture Reference Manual (DDI 0487), "The Performance Monitors
// Extension". Pure, like IntelPmu.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "programs/lab/pmu/answer.hpp"
#include "programs/register/pmu/model.hpp"

namespace tally::pmu::emulated {

/// Work of a core: the number of times each common event happened, by its number.
using ArmWork = std::map<std::uint16_t, std::uint64_t>;

/// The common events that the model handles specially.
enum ArmEvent : std::uint16_t {
  sw_increment = 0x00,
  instructions_retired = 0x08,
  cpu_cycles = 0x11,
  memory_accesses = 0x13,
  chain = 0x1E,
};

struct ArmBehaviour {
  int counters = 6;            ///< PMCR_EL0.N
  bool long_counters = false;  ///< FEAT_PMUv3p5: 64-bit event counters, PMCR_EL0.LP
};

class ArmPmu {
 public:
  /// The reset value of registers that the architecture leaves unknown after reset.
  static constexpr std::uint64_t poison = 0xDEAD'BEEF;

  explicit ArmPmu(ArmBehaviour behaviour = {});

  /// MRS and MSR of a system register by number (system_register()), at exception level `level`: 0 or 1.
  Answer read(std::uint64_t number, int level = 1) const;
  Answer write(std::uint64_t number, std::uint64_t value, int level = 1);

  /// Counts the work of a core at exception level `level`.
  void retire(const ArmWork& work, int level);

  /// The overflow flags: bit n of counter n, bit 31 of the cycle counter.
  std::uint64_t overflowed() const { return overflowed_; }

  /// The interrupt line: level-triggered.
  bool has_interrupt() const;

 private:
  static constexpr int most = 31;
  static constexpr int cycle_counter = 31;

  std::uint64_t mask() const { return low_ones(behaviour_.counters) | 1ULL << cycle_counter; }
  bool is_there(int counter) const { return counter >= 0 && counter < behaviour_.counters; }
  bool is_enabled(int counter) const;
  bool counts_at(std::uint64_t filter, int level) const;
  void add(int counter, std::uint64_t times);
  void add_cycles(std::uint64_t cycles);
  void write_control(std::uint64_t value);
  bool user_may(std::uint64_t number, bool writes) const;
  std::uint64_t type_mask() const;
  std::uint64_t read_type(int counter) const;
  void write_type(int counter, std::uint64_t value);
  std::uint64_t read_count(int counter) const;
  void write_count(int counter, std::uint64_t value);

  ArmBehaviour behaviour_;
  std::uint64_t control_ = 0;
  std::uint64_t enabled_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t interrupts_ = 0;
  std::uint64_t user_ = 0;
  std::uint64_t selected_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint64_t cycles_rest_ = 0;  // the remainder of the divider by 64
  std::uint64_t cycles_filter_ = 0;
  std::array<std::uint64_t, most> counts_{};
  std::array<std::uint64_t, most> types_{};
};

}  // namespace tally::pmu::emulated
