// Advice after a measurement that came out worse than it could.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally::memory {

/// How and where a run was started.
struct Circumstances {
  bool processor_named = false;  ///< with --cpu
  std::size_t processors = 1;    ///< that the process may run on
  int mappings = 5;
  std::int64_t budget_seconds = 55;
};

/// Options for a more thorough run than this one, such as "--mappings 10 --time-budget 180".
std::string suggested_options(const Circumstances& run);

/// What to do next about a contended run, in one line. `cause`: why most of its points were flagged (CurvePoint::why);
/// may be empty.
std::string advice(std::string_view cause, const Circumstances& run);

}  // namespace tally::memory
