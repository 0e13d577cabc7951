#include "tests/guest/machine.hpp"

#include "tally/linux/perf_event.hpp"
#include "tally/linux/system.hpp"

namespace tally::hardware_test {

std::string why_no_pmu() {
  const linux::PerfCounter counter = linux::open_counter({linux::perf_type_hardware, 1, true, false, -1});
  if (counter) return {};
  return "no instructions are counted here (perf_event_open: " + linux::errno_text(counter.os_errno) + ")";
}

Known known(const std::string& name, std::uint64_t n) {
#if defined(__aarch64__)
  const std::string& own = name;
#else
  const std::string own = name == "countdown" ? "fact3" : name;
#endif
  const workload::Workload* program = workload::find(own);
  return {std::string(WORKLOADS) + "/" + own + "_" + std::to_string(n), program->expected({.n = n})};
}

}  // namespace tally::hardware_test
