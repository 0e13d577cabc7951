#include "programs/doctor/countable.hpp"

#include <fmt/format.h>

#include "programs/doctor/diagnose.hpp"
#include "tally/counting/backend/backend.hpp"

namespace tally::doctor {
namespace {

constexpr const char* by_kernel = "perf_event, run natively";
constexpr const char* by_wait4 = "wait4, run natively";

CountableEvents exact_events(const Facts& facts, bool by_pmu) {
  CountableEvents row{"instructions, branches, loads, stores", Trust::absent, {}, {}};
  if (facts.trial.instructions) {
    return {row.what, Trust::exact, by_pmu ? "engine, with --backend engine" : "engine, user mode", {}};
  }
  row.reason = facts.survey.machine.architecture == "x86_64" ? facts.trial.problem : "the engine is for x86-64";
  return row;
}

CountableEvents migrations(const Facts& facts) {
  if (facts.probes.software.os_errno == 0) return {"cpu-migrations", Trust::counted, by_kernel, {}};
  return {"cpu-migrations",
          Trust::absent,
          {},
          fmt::format("the kernel refuses to count it ({})", errno_name(facts.probes.software.os_errno))};
}

CountableEvents in_the_kernel(const Facts& facts, bool by_pmu) {
  CountableEvents row{"anything in the kernel", Trust::absent, {}, "needs a PMU"};
  if (!by_pmu) return row;
  if (facts.probes.with_kernel.os_errno == 0) return {row.what, Trust::counted, by_kernel, {}};
  row.reason = fmt::format("the kernel refuses to count it ({})", errno_name(facts.probes.with_kernel.os_errno));
  return row;
}

CountableEvents ticks(const Facts& facts) {
  if (!facts.processor) return {"tsc", Trust::absent, {}, "only x86 has this counter"};
  if (facts.processor->invariant_time_stamp) return {"tsc", Trust::counted, "tsc", {}};
  return {"tsc", Trust::partial, "tsc", "it may change its rate (no invariant TSC)"};
}

CountableEvents estimated_cycles(const Facts& facts) {
  CountableEvents row{
      "core-cycles-estimate", Trust::absent, {}, "tally cannot measure the frequency of this architecture"};
  if (!facts.trial.instructions) row.reason = "the engine does not run here";
  if (facts.trial.instructions && facts.frequency)
    return {row.what, Trust::estimated, "time × frequency of a native run: --native", {}};
  return row;
}

}  // namespace

std::vector<CountableEvents> countable(const Facts& facts, bool by_pmu) {
  const linux::Probes& probes = facts.probes;
  // The clocks are the same with and without kernel mode.
  const bool clocks = probes.software.os_errno == 0 || probes.software_user.os_errno == 0;
  std::vector<CountableEvents> rows;
  if (by_pmu) rows.push_back({"instructions, cycles, what the PMU has", Trust::counted, by_kernel, {}});
  rows.push_back(exact_events(facts, by_pmu));
  rows.push_back(
      {"page-faults, context-switches", Trust::counted, probes.software.os_errno == 0 ? by_kernel : by_wait4, {}});
  rows.push_back(migrations(facts));
  rows.push_back({"task-clock, cpu-clock", Trust::counted, clocks ? by_kernel : by_wait4, {}});
  rows.push_back({"user_time, system_time, peak-memory", Trust::counted, by_wait4, {}});
  rows.push_back(ticks(facts));
  if (!by_pmu && facts.trial.instructions) {
    rows.push_back({"cycles, cache and branch misses", Trust::modelled, "engine, with a machine: --model", {}});
  } else if (!by_pmu) {
    rows.push_back({"cycles, cache and branch misses", Trust::absent, {}, "needs a PMU"});
  }
  if (!by_pmu) rows.push_back(estimated_cycles(facts));
  rows.push_back(in_the_kernel(facts, by_pmu));
  return rows;
}

}  // namespace tally::doctor
