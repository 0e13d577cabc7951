#include "tally/core/base/version.hpp"
#include "tally/counting/measure/measure_stat.hpp"

namespace tally::measure {

result::Environment environment(const linux::HostMachine& machine) {
  result::Environment environment;
  environment.cpu = machine.cpu;
  environment.architecture = machine.architecture;
  environment.kernel = machine.kernel;
  environment.microcode = machine.microcode;
  environment.hypervisor = machine.hypervisor;
  environment.perf_event_paranoid = machine.perf_event_paranoid;
  environment.governor = machine.governor;
  environment.pmus = machine.pmus;
  environment.tally_version = version();
  return environment;
}

}  // namespace tally::measure
