// The workload table of architectures without programs.
#include "programs/workload/image.hpp"
#include "programs/workload/table.hpp"

namespace tally::workload {

std::span<const Workload> table() { return {}; }

std::string why_not(const Workload& workload, const Parameters&) {
  return "this build of tally has no " + std::string(workload.name);
}

std::string image(const Workload&, const Parameters&) { return {}; }

}  // namespace tally::workload
