// The way to count with the processor's PMU, through the kernel (perf_event_open). The program runs natively.
#pragma once

#include <memory>
#include <string>

#include "tally/backend/backend.hpp"
#include "tally/linux/machine/machine.hpp"

namespace tally::backend::perf {

/// The backend "perf" for this machine.
std::unique_ptr<Backend> make(const linux::Machine& machine);

/// Why this machine's PMU is not to be counted with: each of its PMUs counts a loop that is known. Empty where it may.
/// Cost: some microseconds.
std::string why_not(const linux::Machine& machine);

}  // namespace tally::backend::perf
