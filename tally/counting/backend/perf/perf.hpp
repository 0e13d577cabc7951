// The way to count with the processor's PMU, through the kernel (perf_event_open). The program runs natively.
#pragma once

#include <memory>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/machine/machine.hpp"

namespace tally::backend::perf {

/// What it is used for.
enum class Use {
  pmu,            ///< where the machine's PMU cannot be used, orders of its events are refused
  by_name,        ///< and where the kernel opens no counter for an event of its own, those, too
  kernel_events,  ///< as `pmu`; but of attachments, and of a part of the time, the kernel's own events are counted, and
                  ///< the others are absent with the reason
};

/// The backend "perf" for this machine.
std::unique_ptr<Backend> make(const linux::Machine& machine, Use use = Use::pmu);

/// Why this machine's PMU is not to be counted with: each of its PMUs counts a loop that is known. Empty where it may.
/// Cost: some microseconds.
std::string why_not(const linux::Machine& machine);

}  // namespace tally::backend::perf
