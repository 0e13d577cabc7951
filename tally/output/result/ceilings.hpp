// The highest rates of a machine: bandwidth of the levels of its memory, and floating-point operations.
#pragma once

#include <string>
#include <vector>

namespace tally::result {

/// One rate, with a number of processors that work at the same time.
struct Ceiling {
  std::string of;             ///< a level of the memory: "L1", "L2", "L3", "DRAM"; or a precision: "single", "bf16"
  int bits = 0;               ///< of a precision: the width of the instructions' registers, 0 for scalar instructions
  int processors = 1;         ///< that worked together
  double per_second = 0;      ///< bytes or floating-point operations, which a tenth of the measurements exceeded
  double spread_percent = 0;  ///< of it: by how much a tenth of the measurements, each of a millisecond, fell below it
  bool operator==(const Ceiling&) const = default;
};

/// The measured ceilings of a machine.
struct Ceilings {
  std::string date{};  ///< "2026-11-29"
  /// Bandwidth of the bytes that instructions load and store: the first level first, memory last.
  std::vector<Ceiling> bandwidths{};
  /// Rates of independent multiply-adds, or of multiplications and additions if the processor has none: by precision,
  /// then by rising width.
  std::vector<Ceiling> peaks{};
  double rejected_percent = 0;  ///< of the measurements: others used the processor meanwhile
  bool operator==(const Ceilings&) const = default;
};

}  // namespace tally::result
