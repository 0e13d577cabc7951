#include "tally/backend/choose/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/backend/none/none.hpp"
#include "tally/backend/software.hpp"
#include "tally/base/text.hpp"
#if TALLY_HAS_SIM
#include "tally/backend/sim/sim.hpp"
#endif

namespace tally::backend {
namespace {

std::unique_ptr<Backend> make_sim() {
#if TALLY_HAS_SIM
  return sim::make();
#else
  return nullptr;
#endif
}

std::string why_no_pmu(const linux::Machine& machine) {
  if (!machine.pmus.empty()) {
    return fmt::format("this version does not use the PMU of this machine ({})", join(machine.pmus, ", "));
  }
  const bool is_guest = machine.hypervisor.value_or(false);
  return fmt::format("this {} exposes no PMU (no `cpu` in /sys/bus/event_source/devices)", is_guest ? "VM" : "machine");
}

// A program is not run for the sake of events that nobody here counts.
std::optional<Error> nothing_to_count(const std::vector<event::Event>& events) {
  const auto needs = [](const event::Event& event) {
    return event::definition(event.id).kind == event::Kind::microarchitectural;
  };
  if (events.empty() || !std::all_of(events.begin(), events.end(), needs)) return std::nullopt;
  std::vector<std::string> names;
  for (const event::Event& event : events) names.emplace_back(event::definition(event.id).name);
  return Error{Code::cannot_measure, fmt::format("cannot count {}: {}", join(names, ", "), needs_pmu),
               "instructions, branches, loads, stores and more are counted without: `tally stat --help` lists them", 0};
}

Choice choose_by_itself(const std::vector<event::Event>& events, const linux::Machine& machine) {
  if (all_software(events)) return {none::make(), {}};
  if (auto sim = make_sim()) {
    return {std::move(sim),
            {why_no_pmu(machine) + "; counting with the simulated PMU.",
             "Times and page faults include its own; `--backend none` runs the program natively."}};
  }
  return {none::make(),
          {why_no_pmu(machine) + ",",
           "and this tally was built without the simulated PMU: only the kernel's own figures are counted."}};
}

}  // namespace

std::vector<std::string> backend_names() { return {"auto", "perf", "sim", "none"}; }

Result<Choice> choose(const std::string& name, const std::vector<event::Event>& events, const linux::Machine& machine) {
  const auto names = backend_names();
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  if (auto nothing = nothing_to_count(events); known && nothing) return fail(*std::move(nothing));
  if (name == "auto") return choose_by_itself(events, machine);
  if (name == "none") return Choice{none::make(), {}};
  if (name == "sim") {
    if (auto sim = make_sim()) return Choice{std::move(sim), {}};
    return fail(Code::cannot_measure, "the simulated PMU is not part of this tally: it was built without its engine",
                "build with -DTALLY_ENGINE=ON on x86-64, or use `--backend none`");
  }
  if (name == "perf") {
    return fail(
        Code::cannot_measure, "this version cannot count with a PMU through the kernel (perf) yet",
        make_sim() ? "`--backend sim` counts with the simulated PMU" : "`--backend none` runs the program natively");
  }
  const auto near = nearest(name, names);
  return fail(Code::bad_usage, fmt::format("unknown backend '{}'", printable(name)),
              near.empty() ? "the backends are: " + join(names, ", ") : "did you mean " + near.front() + "?");
}

}  // namespace tally::backend
