// A fictitious PMU with a secret map of events over what payloads really do, and with the defects of real PMUs. Pure:
// the same seed gives the same counts.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/discover/target.hpp"
#include "tally/output/result/discovery_result.hpp"

namespace tally::discover {

/// One event of the map.
struct Planted {
  std::uint64_t code = 0;
  std::vector<result::Term> terms;  ///< what it counts; empty: nothing that payloads do
  double per_ms = 0;                ///< rate: constant if `clock`, otherwise random (Poisson)
  bool clock = false;
  double per_interrupt = 0;   ///< in addition: 1 is the erratum of many processors
  std::vector<int> counters;  ///< on which it counts
};

/// Parameters of the map and the machine.
struct Planting {
  std::uint64_t seed = 1;
  int counters = 8;
  double interrupts_per_s = 200;
  bool nothing = false;  ///< only dead events and noise: every claim is wrong
};

/// Returns a random map over these codes: about a third are dead, a third count one thing each.
std::vector<Planted> plant(const std::vector<std::uint64_t>& codes, const Planting& planting);

/// What a payload really does: amounts of each coordinate per copy, and per run.
struct Truth {
  result::Composition each{}, once{};
};

/// Defects for tests.
struct Vices {
  int wrong_counter = -1;         ///< this counter shows two thirds of the count
  int width = 48;                 ///< bits of a counter
  double running = 1;             ///< multiplexed
  bool rewritten = false;         ///< another program writes to the PMU in every run
  double fixed_instructions = 1;  ///< the fixed counter's count per instruction
};

class PlantedTarget final : public Target {
 public:
  PlantedTarget(std::vector<Planted> map, std::vector<Truth> truths, const Planting& planting, Vices vices = {});

  int counters() const override { return planting_.counters; }
  std::size_t at_once() const override { return static_cast<std::size_t>(planting_.counters); }
  Result<void> run(std::uint64_t copies, const std::vector<Slot>& slots, Run& run) override;

 private:
  std::vector<Planted> map_;  // sorted by code
  std::vector<Truth> truths_;
  Planting planting_;
  Vices vices_;
};

}  // namespace tally::discover
