// Loads and stores as processors count them: instructions on some, micro-operations on others.
#include <fmt/format.h>

#include <cstdlib>

#include "programs/verify/goals.hpp"
#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Check;
using result::Verdict;

// A loop of n single accesses: a processor that counts instructions counts n. Loads were seen to vary within 1 % (9,874
// of 8e7 on a Skylake, in Weaver's published runs).
Result<Check> counted_as_instructions(const Scene& scene, Id id, const Trial& trial, std::int64_t accesses) {
  event::Event event;
  event.id = id;
  event.asked = event::definition(id).name;
  const bool loads = id == Id::retired_loads;
  Check check = check_of("G8", loads ? "loads counted as instructions" : "stores counted as instructions", name_of(id));
  check.tolerance = loads ? "1 %" : "±0";
  check.reason = loads ? "loads were seen to vary so" : "stores were not seen to vary";
  const backend::Outlook outlook = scene.bench.backend().outlook(event);
  if (outlook.trust != Trust::counted) {
    const std::string why =
        outlook.trust == Trust::absent ? "not counted: " + outlook.reason : "counted by a model here, not by a PMU";
    return concluded(check, Verdict::inconclusive, why);
  }
  const auto ran = scene.bench.run(trial, {event});
  if (!ran) return fail(ran.error());
  const Count& count = ran->counts.front();
  if (const std::string why = why_not_judged(count); !why.empty()) return concluded(check, Verdict::inconclusive, why);
  check.program = trial.label();
  check.runs = 1;
  check.expected = accesses;
  check.measured = *count.value;
  const std::int64_t allowed = loads ? accesses / 100 : 0;
  if (std::abs(*count.value - accesses) <= allowed) return concluded(check, Verdict::pass, "");
  check.off = 1;
  return concluded(check, Verdict::inconclusive,
                   fmt::format("{:.2f} for each access: this processor counts micro-operations or dispatches (G9)",
                               static_cast<double>(*count.value) / static_cast<double>(accesses)));
}

}  // namespace

Result<std::vector<Check>> retired_accesses(const Scene& scene) {
  std::vector<Check> checks;
  const Trial load = usual(has("loop_lodsb") ? "loop_lodsb" : "loop_loadb");
  const Trial store = usual(has("loop_stosb") ? "loop_stosb" : "loop_storeb");
  if (!load.workload || !store.workload) return checks;
  for (const auto& [id, trial] : {std::pair{Id::retired_loads, load}, std::pair{Id::retired_stores, store}}) {
    auto check = counted_as_instructions(scene, id, trial, static_cast<std::int64_t>(trial.parameters.n));
    if (!check) return fail(check.error());
    checks.push_back(*std::move(check));
  }
  return checks;
}

}  // namespace tally::verify
