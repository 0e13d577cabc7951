#include <fmt/format.h>

#include "tally/backend/backend.hpp"
#include "tally/doctor/diagnose.hpp"

namespace tally::doctor {
namespace {

using result::Countable;

constexpr const char* by_kernel = "perf_event, run natively";
constexpr const char* by_wait4 = "wait4, run natively";

Countable exact_events(const Facts& facts) {
  Countable row{"instructions, branches, loads, stores", Trust::absent, {}, {}};
  if (facts.trial.instructions) return {row.what, Trust::exact, "simulated PMU, user mode", {}};
  row.reason = facts.survey.machine.architecture == "x86_64"
                   ? facts.trial.problem
                   : "the simulated PMU is for x86-64, and this version uses no other";
  return row;
}

Countable migrations(const Facts& facts) {
  if (facts.probes.software.os_errno == 0) return {"cpu-migrations", Trust::counted, by_kernel, {}};
  return {"cpu-migrations",
          Trust::absent,
          {},
          fmt::format("the kernel refuses to count it ({})", errno_name(facts.probes.software.os_errno))};
}

Countable ticks(const Facts& facts) {
  if (!facts.processor) return {"tsc", Trust::absent, {}, "only x86 has this counter"};
  if (facts.processor->invariant_time_stamp) return {"tsc", Trust::counted, "tsc", {}};
  return {"tsc", Trust::partial, "tsc", "it may change its rate (no invariant TSC)"};
}

}  // namespace

std::vector<Countable> countable(const Facts& facts) {
  const linux::Probes& probes = facts.probes;
  event::Event cycles;
  cycles.id = event::Id::cycles;
  // The clocks tell the same with and without the kernel's part.
  const bool clocks = probes.software.os_errno == 0 || probes.software_user.os_errno == 0;
  return {
      exact_events(facts),
      {"page-faults, context-switches", Trust::counted, probes.software.os_errno == 0 ? by_kernel : by_wait4, {}},
      migrations(facts),
      {"task-clock, cpu-clock", Trust::counted, clocks ? by_kernel : by_wait4, {}},
      {"user_time, system_time, peak-memory", Trust::counted, by_wait4, {}},
      ticks(facts),
      {"cycles, cache and branch misses", Trust::absent, {}, backend::why_it_needs_a_pmu(cycles)},
      {"anything in the kernel", Trust::absent, {}, "it needs a PMU: this version uses none yet"},
  };
}

}  // namespace tally::doctor
