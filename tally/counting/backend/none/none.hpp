// The way to count without counters of the processor: the program runs natively, the kernel's figures are all there is.
#pragma once

#include <memory>

#include "tally/counting/backend/backend.hpp"

namespace tally::backend::none {

/// What becomes of the kernel's own counters (perf_event_open).
enum class Use {
  always,    ///< the user named this backend, or no other is left
  if_enough  ///< only for orders of which it counts everything
};

/// The backend "none".
std::unique_ptr<Backend> make(Use use = Use::always);

}  // namespace tally::backend::none
