// The backend that counts with the processor's PMU through the kernel (perf_event_open). The program runs natively.
#pragma once

#include <memory>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/machine/host_machine.hpp"

namespace tally::backend::perf {

/// What the backend is used for.
enum class Use {
  pmu,            ///< refuse orders with PMU events if the machine's PMU cannot be used
  by_name,        ///< also refuse the kernel's own events if the kernel opens no counter for them
  kernel_events,  ///< as `pmu`; for attachments and parts of the run, count the kernel's own events, and report the
                  ///< others as absent with the reason
};

/// Creates the backend "perf" for this machine.
std::unique_ptr<Backend> make(const linux::HostMachine& machine, Use use = Use::pmu);

/// Returns why this machine's PMU is not reliable; empty if it is. Each of its PMUs counts a loop whose counts are
/// known. Cost: some microseconds.
std::string why_not(const linux::HostMachine& machine);

}  // namespace tally::backend::perf
