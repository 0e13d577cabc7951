// Right backends pass, with and without noise, and wrong ones are caught: each mutant is one way in which counters have
// been wrong, or could be, and the goal that must name it.
#include "tally/verify/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tally/verify/judge.hpp"
#include "tally/verify/noise.hpp"
#include "tally/verify/program.hpp"
#include "tally/verify/published.hpp"
#include "tally/verify/remarks.hpp"
#include "tally/verify/scripted_testing.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Verdict;

result::Verify verified(backend::Backend& backend, bool quick = true) {
  auto signals = linux::Signals::watch();
  EXPECT_TRUE(signals);
  Options options;
  options.quick = quick;
  options.events = all_events();
  auto result = verify(backend, options, *signals);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

std::string failures(const result::Verify& result) {
  std::string text;
  for (const result::Check& check : result.checks) {
    if (check.verdict == Verdict::fail) text += check.goal + " " + check.event + ": " + check.why + "\n";
  }
  return text;
}

bool fails(const result::Verify& result, const std::string& goal) {
  return std::any_of(result.checks.begin(), result.checks.end(), [&goal](const result::Check& check) {
    return check.goal == goal && check.verdict == Verdict::fail;
  });
}

result::EventGrade grade(const result::Verify& result, const std::string& event) {
  const auto found = std::find_if(result.events.begin(), result.events.end(),
                                  [&event](const auto& one) { return one.event == event; });
  EXPECT_NE(found, result.events.end()) << event;
  return found == result.events.end() ? result::EventGrade::absent : found->grade;
}

TEST(RightBackend, is_exact) {
  Scripted backend;
  const result::Verify result = verified(backend, false);
  EXPECT_EQ(verdict(result), Verdict::pass) << failures(result);
  for (const Known& event : known_events()) {
    EXPECT_EQ(grade(result, name_of(event.id)), result::EventGrade::exact) << name_of(event.id);
  }
  EXPECT_EQ(grade(result, "cycles:u"), result::EventGrade::speculative);
}

TEST(RightBackend, passes_with_the_noise_of_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Scripted backend;
    Noisy noisy(backend,
                {.seed = seed, .interrupts = 0.25 * static_cast<double>(seed % 9), .each = seed % 5 == 0 ? 2 : 1});
    const result::Verify result = verified(noisy);
    ASSERT_EQ(verdict(result), Verdict::pass) << seed << "\n" << failures(result);
    ASSERT_EQ(grade(result, "instructions:u"), result::EventGrade::correctable) << seed;
    ASSERT_EQ(grade(result, "conditional-branches:u"), result::EventGrade::exact) << seed;
  }
}

TEST(Noise, is_the_same_for_the_same_seed) {
  const auto measured = [](std::uint64_t seed) {
    Scripted backend;
    Noisy noisy(backend, {.seed = seed, .interrupts = 2});
    std::vector<std::optional<std::int64_t>> values;
    for (const result::Check& check : verified(noisy).checks) values.push_back(check.measured);
    return values;
  };
  EXPECT_EQ(measured(7), measured(7));
  EXPECT_NE(measured(7), measured(8));
}

TEST(Noise, reads_its_parameters) {
  EXPECT_EQ(*parse_noise("seed=9,irq=1.5,fault=2"), (Noise{9, 1.5, 2}));
  EXPECT_EQ(*parse_noise("seed=9"), (Noise{.seed = 9}));
  EXPECT_FALSE(parse_noise("seed"));
  EXPECT_FALSE(parse_noise("irq=-1"));
  EXPECT_FALSE(parse_noise("weather=bad"));
}

// The guest's emulated processor has these two events and nothing else that is known.
TEST(RightBackend, with_instructions_and_cycles_alone_passes_with_reasons) {
  Scripted backend;
  backend.has = [](Id id) { return id == Id::instructions || id == Id::cycles; };
  backend.trust = Trust::counted;
  const result::Verify result = verified(backend);
  EXPECT_EQ(verdict(result), Verdict::pass) << failures(result);
  EXPECT_EQ(grade(result, "instructions:u"), result::EventGrade::exact);
  EXPECT_EQ(grade(result, "branches:u"), result::EventGrade::absent);
  for (const result::Check& check : result.checks) {
    EXPECT_EQ(check.verdict == Verdict::pass, check.why.empty()) << check.goal;
  }
}

TEST(RightBackend, is_not_believed_where_no_switch_happened) {
  Scripted backend;
  backend.switches = 3;
  const result::Verify result = verified(backend);
  const auto filter = std::find_if(result.checks.begin(), result.checks.end(),
                                   [](const result::Check& check) { return check.goal == "G16"; });
  ASSERT_NE(filter, result.checks.end());
  EXPECT_EQ(filter->verdict, Verdict::inconclusive);
}

TEST(RightBackend, that_multiplexes_and_scales_is_within_its_tolerance) {
  Scripted backend;
  backend.counters = 4;
  backend.trust = Trust::counted;
  const result::Verify result = verified(backend, false);
  EXPECT_EQ(verdict(result), Verdict::pass) << failures(result);
  const auto turns = std::find_if(result.checks.begin(), result.checks.end(),
                                  [](const result::Check& check) { return check.goal == "G19"; });
  ASSERT_NE(turns, result.checks.end());
  EXPECT_EQ(turns->verdict, Verdict::pass) << turns->why;
}

result::Stat counted(const std::string& event, const Count& count) {
  result::Stat stat;
  stat.backend = "perf";
  stat.events.push_back({{event, event, Unit::events, count}, {}});
  return stat;
}

TEST(Remarks, tell_what_faults_added_where_that_matters) {
  result::Verify verify;
  verify.backend = "perf";
  verify.events = {{"branches:u", result::EventGrade::correctable, "", "cpu", 1, 0, std::nullopt, 9, ""}};
  Count count = tally::counted(1'000'979, "cpu");
  EXPECT_EQ(remarks(verify, counted("branches:u", count)),
            std::vector<std::string>{"this processor counts 1 of branches:u too many for each page fault and interrupt "
                                     "(--corrections counts and shows them)"});
  count.correction = Correction{1'000'000, 1, 979, 0};
  EXPECT_EQ(
      remarks(verify, counted("branches:u", count)),
      std::vector<std::string>{"this processor counts 1 of branches:u too many for each page fault and interrupt: "
                               "979 here"});
  count.value = 100'000'979;
  count.correction = Correction{100'000'000, 1, 979, 0};
  EXPECT_TRUE(remarks(verify, counted("branches:u", count)).empty());
  EXPECT_TRUE(remarks(verify, counted("stores:u", count)).empty());
}

TEST(Remarks, are_of_the_same_processor_with_the_same_microcode) {
  result::Verify verify;
  verify.backend = "perf";
  verify.environment.cpu = "A";
  verify.environment.microcode = "1";
  result::Environment environment = verify.environment;
  EXPECT_TRUE(is_of(verify, "perf", environment));
  EXPECT_FALSE(is_of(verify, "sim", environment));
  environment.microcode = "2";
  EXPECT_FALSE(is_of(verify, "perf", environment));
  verify.noise = "seed=1";
  EXPECT_FALSE(is_of(verify, "perf", verify.environment));
}

TEST(Published, grades_are_compared) {
  const Published* haswell = published_of("hsw");
  ASSERT_NE(haswell, nullptr);
  EXPECT_EQ(haswell->name, "Haswell");
  EXPECT_EQ(published_of("hs"), nullptr);
  std::vector<result::GradedEvent> events(3);
  events[0] = {"instructions:u", result::EventGrade::correctable, "", "", {}, {}, {}, 1, ""};
  events[1] = {"conditional-branches:u", result::EventGrade::unusable, "", "", {}, {}, {}, 1, ""};
  events[2] = {"cycles:u", result::EventGrade::speculative, "", "", {}, {}, {}, 1, ""};
  compare(events, *haswell);
  EXPECT_EQ(events[0].published, "as published of Haswell");
  EXPECT_EQ(events[1].published, "worse than published of Haswell (exact)");
  EXPECT_EQ(events[2].published, "");
}

// A program of the user's own, by the engine and by a PMU: both are scripted.
result::Verify compared_by(Scripted& pmu, const std::string& program = "/x/countdown-1000000") {
  auto signals = linux::Signals::watch();
  EXPECT_TRUE(signals);
  Scripted engine;
  ProgramOptions options;
  options.command = {program};
  for (const event::Event& event : all_events()) {
    if (is_known(event)) options.events.push_back(event);
  }
  const auto result = compare_program(engine, pmu, options, *signals);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

const result::Compared& row(const result::Verify& result, const std::string& event) {
  return *std::find_if(result.compared.begin(), result.compared.end(),
                       [&event](const result::Compared& one) { return one.event == event; });
}

TEST(Program, a_right_pmu_agrees_once_faults_and_interrupts_are_taken_off) {
  Scripted pmu;
  pmu.trust = Trust::counted;
  pmu.count = [](const Look& at, Count& count) {
    if (!at.is(Id::instructions)) return;
    *count.value += 979 + 3 + 20;
    count.correction = Correction{*count.value - 982, 1, 979, 3};
  };
  const result::Verify result = compared_by(pmu);
  EXPECT_EQ(verdict(result), Verdict::pass);
  const result::Compared& instructions = row(result, "instructions:u");
  EXPECT_EQ(instructions.exact, 2'000'005);
  EXPECT_EQ(instructions.other, 2'001'007);
  EXPECT_EQ(instructions.by_faults, 979);
  EXPECT_EQ(instructions.by_interrupts, 3);
  EXPECT_EQ(instructions.left, 20);
  EXPECT_EQ(row(result, "loads:u").verdict, Verdict::inconclusive);
}

TEST(Program, a_lying_pmu_shows_itself) {
  Scripted pmu;
  pmu.trust = Trust::counted;
  pmu.value = [](const Look& at, std::int64_t& value) {
    if (at.is(Id::instructions)) value += 2000;
    if (at.is(Id::conditional_branches)) value += 1;
  };
  const result::Verify result = compared_by(pmu);
  EXPECT_EQ(verdict(result), Verdict::fail);
  EXPECT_EQ(row(result, "instructions:u").verdict, Verdict::fail);
  EXPECT_EQ(row(result, "conditional-branches:u").left, 1);
  EXPECT_EQ(row(result, "conditional-branches:u").verdict, Verdict::fail);
  EXPECT_EQ(row(result, "returns:u").verdict, Verdict::pass);
}

TEST(Program, what_the_pmu_has_not_is_inconclusive_with_the_reason) {
  Scripted pmu;
  pmu.has = [](Id id) { return id == Id::instructions; };
  const result::Verify result = compared_by(pmu);
  EXPECT_EQ(verdict(result), Verdict::pass);
  EXPECT_EQ(row(result, "branches:u").verdict, Verdict::inconclusive);
  EXPECT_EQ(row(result, "branches:u").why, "not counted: scripted: not here");
}

struct Mutant {
  const char* name;
  const char* goal;  // that must fail
  void (*spoil)(Scripted& backend);
};

std::ostream& operator<<(std::ostream& stream, const Mutant& mutant) { return stream << mutant.name; }

using V = std::int64_t&;
bool begins(const Look& at, std::string_view with) { return at.program().starts_with(with); }
bool is_warm(const Look& at) { return at.program().ends_with("_warm"); }
std::int64_t n(const Look& at) { return static_cast<std::int64_t>(at.trial.parameters.n); }

// Every lambda spoils one thing; what it does not touch stays right.
#define SPOILS_VALUE(...) [](Scripted& b) { b.value = []([[maybe_unused]] const Look& at, V v) { __VA_ARGS__; }; }

const Mutant mutants[] = {
    {"rep_is_counted_per_iteration", "G6",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "rep_") && !is_warm(at)) v += n(at) - 1)},
    {"off_by_one_in_every_run", "G21", SPOILS_VALUE(if (at.is(Id::instructions)) v += 1)},
    {"filter_is_broken", "G16", SPOILS_VALUE(if (at.request.processor) v += 123456)},
    {"scaling_is_ignored", "G19",
     [](Scripted& b) {
       b.counters = 4;
       b.trust = Trust::counted;
       b.count = [](const Look&, Count& count) {
         if (count.reading) count.value = count.reading->raw;
       };
     }},
    {"sign_extension_is_dropped", "G22", SPOILS_VALUE(if (v >> 31 & 1) v -= std::int64_t{1} << 32)},
    {"wraps_at_32_bits", "G22", SPOILS_VALUE(v &= 0xffffffff)},
    {"saturates_at_31_bits", "G22", SPOILS_VALUE(v = std::min<std::int64_t>(v, 0x7fffffff))},
    {"a_window_is_lost", "T3", [](Scripted& b) {
       b.outcome = [](const Trial&, backend::Outcome& outcome) {
         if (outcome.intervals.size() > 2) outcome.intervals.erase(outcome.intervals.begin() + 1);
       };
     }},
    {"a_window_is_counted_twice", "T3", [](Scripted& b) {
       b.outcome = [](const Trial&, backend::Outcome& outcome) {
         if (!outcome.intervals.empty()) outcome.intervals.push_back(outcome.intervals.back());
       };
     }},
    {"user_and_kernel_are_swapped", "G5", SPOILS_VALUE(if (at.is(Id::instructions) && n(at) != 500)
                                                           v = static_cast<std::int64_t>(300 * at.known.far))},
    {"the_kernel_is_counted_too", "T2",
     SPOILS_VALUE(if (at.is(Id::instructions) && n(at) != 500) v += static_cast<std::int64_t>(250 * at.known.far))},
    {"the_counter_is_stuck_at_0", "G0", SPOILS_VALUE(v = 0)},
    {"the_counter_is_constant", "T5", SPOILS_VALUE(if (at.is(Id::conditional_branches)) v = 500)},
    {"counts_are_halved", "G0", SPOILS_VALUE(v /= 2)},
    {"loads_are_stores", "G10",
     SPOILS_VALUE(if (at.is(Id::loads)) v = static_cast<std::int64_t>(at.known.stores))},
    {"branches_read_instructions", "G3",
     SPOILS_VALUE(if (at.is(Id::branches)) v = static_cast<std::int64_t>(at.known.instructions))},
    {"only_the_first_thread_is_counted", "G23",
     SPOILS_VALUE(if (begins(at, "threads") && at.is(Id::conditional_branches))
                      v = 3 * n(at) + static_cast<std::int64_t>(at.trial.parameters.k))},
    {"a_fork_is_lost", "G23", SPOILS_VALUE(if (begins(at, "forks") && at.is(Id::conditional_branches))
                                               v -= static_cast<std::int64_t>(at.trial.parameters.k) + 1)},
    {"forks_are_counted_twice", "G23", SPOILS_VALUE(if (begins(at, "forks") && at.is(Id::conditional_branches)) v *= 2)},
    {"what_came_before_an_exec_is_lost", "G23",
     SPOILS_VALUE(if (begins(at, "execs") && at.is(Id::conditional_branches)) v = 1)},
    {"the_interrupt_handler_is_counted", "G20",
     SPOILS_VALUE(if (at.is(Id::instructions) && at.run % 7 == 5) v += 3000)},
    {"a_fault_adds_twice_what_is_said", "G5",
     [](Scripted& b) {
       b.trust = Trust::counted;
       b.count = [](const Look& at, Count& count) {
         const auto faults = at.trial.workload->page_faults;
         if (!at.is(Id::instructions) || !faults) return;
         const auto taken = static_cast<std::int64_t>(faults(at.trial.parameters));
         *count.value += 8 * taken;
         count.correction = Correction{*count.value - taken, 1, taken, 0};
       };
     }},
    {"loop_is_no_conditional_branch", "G1",
     SPOILS_VALUE(if (at.is(Id::conditional_branches) && begins(at, "loop_")) v = 0)},
    {"rep_is_a_branch", "G2", SPOILS_VALUE(if (at.is(Id::conditional_branches) && begins(at, "rep_")) v += n(at))},
    {"far_branches_are_missed", "T1", SPOILS_VALUE(if (at.is(Id::far_branches)) v = 0)},
    {"only_taken_branches_are_counted", "G1",
     SPOILS_VALUE(if (at.is(Id::conditional_branches) && n(at) != 500) v = static_cast<std::int64_t>(at.known.taken))},
    {"cmps_is_one_load", "G10",
     SPOILS_VALUE(if (at.is(Id::loads) && at.program().find("cmps") != std::string_view::npos) v /= 2)},
    {"an_interrupted_rep_is_not_counted", "G6",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "rep_") && at.run % 2) v -= 1)},
    {"nops_are_not_counted", "G12",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "fact5_3nops")) v -= 3 * (n(at) - 1))},
    {"direct_and_indirect_calls_are_swapped", "T1",
     SPOILS_VALUE(if (at.is(Id::direct_calls)) v = static_cast<std::int64_t>(at.known.indirect_calls);
                  if (at.is(Id::indirect_calls)) v = static_cast<std::int64_t>(at.known.direct_calls))},
    {"returns_are_indirect_jumps", "T1",
     SPOILS_VALUE(if (at.is(Id::indirect_jumps)) v += static_cast<std::int64_t>(at.known.returns))},
    {"a_tenth_of_a_percent_too_many", "G5", [](Scripted& b) {
       b.trust = Trust::counted;
       b.value = [](const Look& at, V v) {
         if (at.is(Id::instructions)) v += v / 1000;
       };
     }},
    {"branches_vary", "G20", [](Scripted& b) {
       b.trust = Trust::counted;
       b.value = [](const Look& at, V v) {
         if (at.is(Id::conditional_branches) && v > 1000) v += at.run % 3;
       };
     }},
    {"the_value_is_that_of_the_last_program", "G5", [](Scripted& b) {
       b.value = [before = std::int64_t{505}](const Look& at, V v) mutable {
         if (!at.is(Id::instructions)) return;
         const std::int64_t now = v;
         v = std::exchange(before, now);
       };
     }},
    {"the_value_is_negative", "G0", SPOILS_VALUE(v = -v)},
    {"what_is_absent_reads_0", "T5", SPOILS_VALUE(if (at.is(Id::returns)) v = 0)},
    {"a_region_counts_its_second_read", "G11", [](Scripted& b) {
       b.outcome = [](const Trial& trial, backend::Outcome& outcome) {
         if (trial.workload->name == "region") outcome.wait_status = 103 << 8;
       };
     }},
    {"counting_begins_late", "G5", [](Scripted& b) {
       b.trust = Trust::counted;
       b.value = [](const Look& at, V v) {
         if (at.is(Id::instructions) && v > 1000) v -= 1000;
       };
     }},
    {"every_thousandth_iteration_counts_twice", "G12",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "fact")) v += n(at) / 1000)},
    {"what_the_kernel_maps_is_counted", "G7", SPOILS_VALUE(if (at.is(Id::instructions) && is_warm(at)) v += 500)},
    {"an_operand_in_memory_is_an_instruction", "G14",
     SPOILS_VALUE(if (at.is(Id::instructions) && begins(at, "matmul")) v += n(at) * n(at) * n(at))},
    {"the_first_run_is_not_as_the_others", "G20",
     [](Scripted& b) {
       b.value = [seen = std::set<std::string>{}](const Look& at, V v) mutable {
         if (at.is(Id::stores) && seen.insert(at.trial.label()).second) v += 1;
       };
     }},
    {"a_page_fault_in_a_call_is_the_programs", "T6",
     SPOILS_VALUE(if (at.is(Id::user_page_faults) && is_warm(at)) v += 1)},
    {"more_branches_than_instructions", "T4", SPOILS_VALUE(if (at.is(Id::branches)) v = v * 2 + 10)},
};
#undef SPOILS_VALUE

class MutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, is_caught_by_its_name) {
  Scripted backend;
  GetParam().spoil(backend);
  const result::Verify result = verified(backend, false);
  EXPECT_EQ(verdict(result), Verdict::fail);
  EXPECT_TRUE(fails(result, GetParam().goal)) << failures(result);
}

INSTANTIATE_TEST_SUITE_P(verify, MutantTest, testing::ValuesIn(mutants),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tally::verify
