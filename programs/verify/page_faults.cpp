// Compares the kernel's count of page faults with the pages that programs touch.
#include <fmt/format.h>

#include "programs/verify/goals.hpp"
#include "tally/core/base/text.hpp"

namespace tally::verify {

using result::Check;
using result::Verdict;

Result<std::vector<Check>> page_faults(const Scene& scene) {
  event::Event faults;
  faults.id = event::Id::user_page_faults;
  faults.asked = event::definition(faults.id).name;
  Check check = check_of("T6", "page faults are those of the pages that are touched", name_of(faults.id));
  check.tolerance = "±0";
  check.reason = "each page of 4 KiB is new to the program once; read first and written later, twice";
  bool fewer = false;
  for (const workload::Workload& workload : workload::all()) {
    if (!workload.page_faults || workload.name == "region") continue;
    const Trial trial{&workload, workload.usual};
    const auto ran = scene.bench.run(trial, {faults});
    if (!ran) return fail(ran.error());
    if (scene.bench.interrupted()) break;
    const Count& count = ran->counts.front();
    if (const std::string why = why_not_judged(count); !why.empty()) {
      return std::vector{concluded(check, Verdict::inconclusive, why)};
    }
    const auto expected = static_cast<std::int64_t>(workload.page_faults(trial.parameters));
    ++check.runs;
    const bool off = *count.value != expected;
    if (off) ++check.off;
    if (*count.value < expected) fewer = true;
    if (!off && check.measured) continue;
    check.program = trial.label();
    check.expected = expected;
    check.measured = *count.value;
  }
  if (check.runs == 0) return std::vector{concluded(check, Verdict::inconclusive, "no program for it was counted")};
  if (check.off == 0) return std::vector{concluded(check, Verdict::pass, "")};
  if (fewer) {
    return std::vector{concluded(check, Verdict::inconclusive,
                                 fmt::format("{} of {} programs took fewer: the kernel maps several pages at once here",
                                             check.off, check.runs))};
  }
  return std::vector{concluded(check, Verdict::fail, fmt::format("{} of {} programs are off", check.off, check.runs))};
}

}  // namespace tally::verify
