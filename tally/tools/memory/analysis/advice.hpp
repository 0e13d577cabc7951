// What to do about a measurement that came out worse than it could.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally::memory {

/// How a run was started, and where.
struct Circumstances {
  bool processor_named = false;  ///< by --cpu
  std::size_t processors = 1;    ///< that the process may run on
  int mappings = 5;
  std::int64_t budget_seconds = 55;
};

/// The options that look more closely than this run did: "--mappings 10 --time-budget 180".
std::string suggested_options(const Circumstances& run);

/// What to do next about a contended run, in one line. `cause`: what most of its points were flagged for
/// (CurvePoint::why); may be empty.
std::string advice(std::string_view cause, const Circumstances& run);

}  // namespace tally::memory
