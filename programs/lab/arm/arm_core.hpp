// The PMU of an Arm core for the lab's machine: Arm's PMUv3 or Apple's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "programs/lab/computer.hpp"
#include "programs/lab/pmu/answer.hpp"
#include "programs/lab/pmu/arm_profile.hpp"

namespace tally::lab::arm {

/// What one instruction did.
struct RetiredInstruction {
  std::uint64_t cycles = 1;
  std::uint64_t accesses = 0;  ///< to memory
  std::uint64_t misses = 0;    ///< accesses that missed in the line-tag cache
  bool is_branch = false, is_conditional = false, is_call = false, is_return = false, is_indirect = false;
  bool is_taken = false;
  bool is_mispredicted = false;  ///< the direction of a conditional branch, or the target of an indirect one
  bool is_load = false, is_store = false, is_vector = false, is_integer = false, is_barrier = false;
  bool is_atomic = false;  ///< an atomic access, or a store exclusive that succeeded
  bool is_failed_exclusive = false;
};

/// The interrupt that the PMU requests.
enum class Line { none, irq, fiq };

class Core {
 public:
  explicit Core(const pmu::emulated::ArmProfile& profile);
  virtual ~Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const pmu::emulated::ArmProfile& profile() const { return profile_; }
  /// Execute MRS and MSR for a register number at exception level `level`.
  virtual pmu::emulated::Answer read(std::uint64_t number, int level) const = 0;
  virtual pmu::emulated::Answer write(std::uint64_t number, std::uint64_t value, int level) = 0;
  virtual void retire(const RetiredInstruction& done, int level) = 0;
  /// ISB.
  virtual void synchronize() {}
  virtual Line line() const = 0;
  /// Returns the overflow flags by counter; bit 31 is PMUv3's cycle counter.
  virtual std::uint64_t overflows() const = 0;
  virtual std::string counter_name(int bit) const = 0;
  virtual std::vector<CounterState> counters() const = 0;
  /// Whether the lab models this event.
  virtual bool models(std::uint32_t event) const = 0;
  /// Returns why the lab does not model an event, as a sentence. Empty: no particular reason.
  virtual std::string_view why_absent(std::uint32_t) const { return {}; }
  /// Whether the register with this number is a counter.
  bool is_counter(std::uint64_t number) const;
  /// Returns the register's entry in the table; nothing if this core does not have it.
  std::optional<pmu::RegisterInstance> place_of(std::uint64_t number) const;

 private:
  const pmu::emulated::ArmProfile& profile_;
  std::map<std::uint64_t, pmu::RegisterInstance> places_;  // by number
};

/// `strict`: Apple's control registers take effect at an ISB, and reading them before returns garbage.
std::unique_ptr<Core> make_core(const pmu::emulated::ArmProfile& profile, bool strict);

}  // namespace tally::lab::arm
