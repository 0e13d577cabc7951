// A PMU that does not exist: a secret map of events over what payloads really did, with the vices of real ones. Pure:
// the same seed gives the same counts.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/output/result/discover.hpp"
#include "tally/tools/discover/target.hpp"

namespace tally::discover {

/// One event of the map.
struct Planted {
  std::uint64_t code = 0;
  std::vector<result::Term> terms;  ///< what it counts; empty: nothing that payloads do
  double per_ms = 0;                ///< at a constant rate: a clock's, where `clock`, else now and then (Poisson)
  bool clock = false;
  double per_interrupt = 0;   ///< as well: 1 is the erratum that many processors have
  std::vector<int> counters;  ///< where it counts
};

/// How the map and the machine are made.
struct Planting {
  std::uint64_t seed = 1;
  int counters = 8;
  double interrupts_per_s = 200;
  bool nothing = false;  ///< only dead events and noise: whoever claims something is wrong
};

/// A random map over these codes: about a third are dead, a third count one thing each.
std::vector<Planted> plant(const std::vector<std::uint64_t>& codes, const Planting& planting);

/// What a payload really does: of each coordinate so many for each copy, and so many once.
struct Truth {
  result::Composition each{}, once{};
};

/// Vices for tests.
struct Vices {
  int wrong_counter = -1;         ///< this counter says two thirds
  int width = 48;                 ///< bits of a counter
  double running = 1;             ///< multiplexed
  bool rewritten = false;         ///< somebody else writes to the PMU in every run
  double fixed_instructions = 1;  ///< what the fixed counter says of an instruction
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
