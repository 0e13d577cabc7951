#include "tests/guest/machine.hpp"

#include <cstdlib>

#include "tally/linux/perf_event.hpp"
#include "tally/linux/system.hpp"

namespace tally::hardware_test {

std::string why_no_pmu() {
  const linux::PerfCounter counter = linux::open_counter({linux::perf_type_hardware, 1, true});
  if (counter) return {};
  return "no instructions are counted here (perf_event_open: " + linux::errno_text(counter.os_errno) + ")";
}

Known known(const std::string& name, std::uint64_t n) {
  const workload::Workload* program = workload::find(name);
  return {std::string(WORKLOADS) + "/" + name + "_" + std::to_string(n), program->expected({.n = n})};
}

std::vector<std::pair<std::string, std::uint64_t>> known_programs() {
  return {{"countdown", 1},    {"countdown", 1000},    {"countdown", 1000000},
          {"system_calls", 1}, {"system_calls", 1000}, {"touch", 1000}};
}

bool is_guest() { return std::getenv("TALLY_GUEST") != nullptr; }

}  // namespace tally::hardware_test
