// The backend that runs the program natively, without counters of the processor, and reports the kernel's values.
#pragma once

#include <memory>

#include "tally/counting/backend/backend.hpp"

namespace tally::backend::none {

/// Which orders the backend accepts.
enum class Use {
  always,    ///< all: the user named it, or no other backend is left
  if_enough  ///< orders of which it counts every event
};

/// Creates the backend "none".
std::unique_ptr<Backend> make(Use use = Use::always);

}  // namespace tally::backend::none
