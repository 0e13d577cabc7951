#include "tally/backend/backend.hpp"
#include "tally/doctor/diagnose.hpp"

namespace tally::doctor {
namespace {

using result::Countable;

constexpr const char* no_engine_elsewhere = "the simulated PMU is for x86-64, and this version uses no other";

Countable exact_events(const Facts& facts) {
  Countable row{"instructions, branches, loads, stores", Trust::absent, {}, {}};
  if (facts.trial.instructions) return {row.what, Trust::exact, "simulated PMU, user mode", {}};
  row.reason = facts.survey.machine.architecture == "x86_64" ? facts.trial.problem : no_engine_elsewhere;
  return row;
}

}  // namespace

std::vector<Countable> countable(const Facts& facts) {
  event::Event cycles;
  cycles.id = event::Id::cycles;
  return {
      exact_events(facts),
      {"page-faults, context-switches", Trust::counted, "wait4", {}},
      {"user_time, system_time, peak-memory", Trust::counted, "wait4", {}},
      {"duration_time", Trust::counted, "clock", {}},
      {"cycles, cache and branch misses", Trust::absent, {}, backend::why_it_needs_a_pmu(cycles)},
      {"anything in the kernel", Trust::absent, {}, "it needs a PMU: this version uses none yet"},
  };
}

}  // namespace tally::doctor
