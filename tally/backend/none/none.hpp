// The way to count without counters of the processor: the program runs natively, the kernel's figures are all there is.
#pragma once

#include <memory>

#include "tally/backend/backend.hpp"

namespace tally::backend::none {

/// What becomes of the kernel's own counters (perf_event_open).
enum class Counters {
  where_allowed,  ///< they are used where the kernel lets, else its bookkeeping (wait4)
  required,       ///< the user asked for them by name; the caller has seen to it that they open
};

/// The backend "none", or "perf" where the counters are required.
std::unique_ptr<Backend> make(Counters counters = Counters::where_allowed);

}  // namespace tally::backend::none
