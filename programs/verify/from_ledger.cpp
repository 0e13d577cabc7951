// Goals that compare counts of whole programs with their known answers.
#include <fmt/format.h>

#include "programs/verify/goals.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Check;
using result::Verdict;

bool begins(const Trial& trial, std::string_view with) { return trial.workload->name.starts_with(with); }
bool is_warm(const Trial& trial) { return trial.workload->name.ends_with("_warm"); }
bool is_rep(const Trial& trial) { return begins(trial, "rep_") && !is_warm(trial); }
bool is_named(const Trial& trial, std::string_view name) { return trial.workload->name == name; }
bool is_factorial(const Trial& trial) { return begins(trial, "fact"); }

// Loops over memory if the architecture has string instructions, otherwise loops that use registers only.
bool is_loop(const Trial& trial) {
  if (begins(trial, "loop_")) return !is_warm(trial);
  return !has("loop_lodsb") && (is_factorial(trial) || is_named(trial, "countdown"));
}
bool is_cold(const Trial& trial) { return is_loop(trial) || is_rep(trial) || is_named(trial, "touch"); }
bool has_branches_by_kind(const Trial& trial) {
  return begins(trial, "branches_") || is_named(trial, "calls") || is_named(trial, "loops") || is_factorial(trial);
}

struct Goal {
  const char* id;
  const char* what;
  Id event;
  bool (*which)(const Trial&);
  Allowance allowance;
};

constexpr Goal goals[] = {
    {"G1", "conditional branches of loops", Id::conditional_branches, is_loop, Allowance::none},
    {"G2", "REP is not a conditional branch", Id::conditional_branches, is_rep, Allowance::none},
    {"G4", "instructions as they are read", Id::instructions, is_cold, Allowance::raw},
    {"G5", "instructions of loops, corrected", Id::instructions, is_loop, Allowance::corrected},
    {"G6", "a REP is one instruction, corrected", Id::instructions, is_rep, Allowance::corrected},
    {"G7", "instructions, pages mapped before", Id::instructions, is_warm, Allowance::warm},
    {"G10", "loads, one for each element", Id::loads, [](const Trial&) { return true; }, Allowance::none},
    {"G10", "stores, one for each element", Id::stores, [](const Trial&) { return true; }, Allowance::none},
    {"G12", "factorial loops of 3, 4 and 5 instructions", Id::instructions, is_factorial, Allowance::corrected},
    {"G14", "instructions of a matrix product", Id::instructions,
     [](const Trial& trial) { return is_named(trial, "matmul"); }, Allowance::corrected},
    {"G14", "branches of a matrix product", Id::conditional_branches,
     [](const Trial& trial) { return is_named(trial, "matmul"); }, Allowance::none},
    {"T2", "what system calls do is not counted", Id::instructions,
     [](const Trial& trial) { return is_named(trial, "system_calls"); }, Allowance::corrected},
};

constexpr Id kinds[] = {Id::branches,       Id::conditional_branches, Id::conditional_taken, Id::conditional_not_taken,
                        Id::branches_taken, Id::near_branches_taken,  Id::direct_jumps,      Id::indirect_jumps,
                        Id::calls,          Id::direct_calls,         Id::indirect_calls,    Id::returns,
                        Id::far_branches};

// All branches except far ones are exact on processors where all branches are not (G. Zhou and P. Irelan of Intel, note
// on deterministic branches), because the kernel's returns are far.
Check near_branches(const Ledger& ledger) {
  const auto all = ledger.place(Id::branches);
  const auto far = ledger.place(Id::far_branches);
  if (!all || !far) return judge(ledger, "G3", "all branches, corrected", Id::branches, is_cold, Allowance::corrected);
  Check check = check_of("G3", "all branches but far ones", "branches:u - far-branches:u");
  check.tolerance = "±0";
  check.reason = "the kernel's returns are far branches, and so in both counts";
  std::string unjudged;
  for (const Series& series : ledger.series) {
    if (!is_cold(series.trial)) continue;
    const workload::Counts known = series.trial.known();
    const auto expected = static_cast<std::int64_t>(known.branches() - known.far);
    for (const Ran& ran : series.runs) {
      const Count near = ran.counts[*all] - ran.counts[*far];
      if (const std::string why = why_not_judged(near); !why.empty()) {
        unjudged = why;
        continue;
      }
      ++check.runs;
      if (*near.value != expected) ++check.off;
      if (check.measured && *near.value == expected) continue;
      check.program = series.trial.label();
      check.expected = expected;
      check.measured = *near.value;
    }
  }
  if (check.runs == 0) {
    // Without a count of far branches, judge all branches.
    Check other = judge(ledger, "G3", "all branches, corrected", Id::branches, is_cold, Allowance::corrected);
    if (other.why.empty() && other.verdict == Verdict::inconclusive) other.why = unjudged;
    return other;
  }
  if (check.off == 0) return concluded(check, Verdict::pass, "");
  return concluded(check, Verdict::fail, fmt::format("{} of {} runs are off", check.off, check.runs));
}

}  // namespace

std::vector<Check> from_ledger(const Scene& scene) {
  std::vector<Check> checks;
  for (const Goal& goal : goals) {
    checks.push_back(judge(scene.ledger, goal.id, goal.what, goal.event, goal.which, goal.allowance));
    if (std::string_view(goal.id) == "G2") checks.push_back(near_branches(scene.ledger));
  }
  for (const Id kind : kinds) {
    checks.push_back(
        judge(scene.ledger, "T1", "branches of each kind", kind, has_branches_by_kind, Allowance::corrected));
  }
  return checks;
}

std::vector<Check> inheritance(const Scene& scene) {
  std::vector<Check> checks;
  for (const char* program : {"threads", "forks", "execs"}) {
    const auto which = [program](const Trial& trial) { return is_named(trial, program); };
    const std::string what = std::string(program) + " are counted with the program";
    Check check = judge(scene.ledger, "G23", what, Id::conditional_branches, which, Allowance::none);
    // If a PMU lacks the event, compare instructions, with what each start may add.
    if (check.runs == 0) check = judge(scene.ledger, "G23", what, Id::instructions, which, Allowance::corrected);
    checks.push_back(check);
  }
  return checks;
}

}  // namespace tally::verify
