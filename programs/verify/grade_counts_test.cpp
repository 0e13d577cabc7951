// Tests of right backends with and without noise, of programs of the user's own, of remarks and published grades. Wrong
// backends are in mutants_test.cpp.
#include "programs/verify/grade_counts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <algorithm>
#include <set>
#include <utility>

#include "programs/verify/counter_noise.hpp"
#include "programs/verify/judge.hpp"
#include "programs/verify/published.hpp"
#include "programs/verify/verified_testing.hpp"
#include "programs/verify/verify_program.hpp"
#include "tally/tools/verification/verification_remarks.hpp"

namespace tally::verify {
namespace {

TEST(RightBackend, is_exact) {
  Scripted backend;
  const result::Verify result = verified(backend, false);
  EXPECT_EQ(verdict(result), Verdict::pass) << failures(result);
  for (const KnownEvent& event : known_events()) {
    EXPECT_EQ(grade(result, name_of(event.id)), result::EventGrade::exact) << name_of(event.id);
  }
  EXPECT_EQ(grade(result, "cycles:u"), result::EventGrade::speculative);
}

TEST(RightBackend, passes_with_noise_of_100_seeds) {
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

// Kolmogorov-Smirnov: the largest distance between the distributions is below the 1 % critical value.
TEST(Noise, skid_has_the_documented_distribution) {
  Scripted backend;
  Noisy noisy(backend, {.seed = 3, .skid = true});
  auto signals = linux::Signals::watch();
  auto bench = Bench::open(noisy, *signals);
  ASSERT_TRUE(bench);
  event::Event event;
  event.id = Id::instructions;
  event.asked = "instructions";
  Bench::Setup setup;
  setup.window = backend::WindowTrigger{event, 10'000};
  const auto ran = bench->run({workload::find("countdown"), {.n = 5'000'000}}, {event}, setup);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_FALSE(ran->windows_are_exact);
  std::vector<double> late;
  for (const std::int64_t length : ran->window_lengths) late.push_back(static_cast<double>(length) - 10'000);
  ASSERT_GT(late.size(), 900U);
  std::sort(late.begin(), late.end());
  EXPECT_GE(late.front(), 5);
  EXPECT_LE(late.back(), 205);
  EXPECT_NEAR(late[late.size() / 2], 77, 10);
  const double n = static_cast<double>(late.size());
  double distance = 0;
  for (std::size_t i = 0; i < late.size(); ++i) {
    const double expected = std::pow((late[i] - 5) / 200, 1 / 1.474);
    distance = std::max(distance, std::abs(expected - (static_cast<double>(i) + 0.5) / n));
  }
  EXPECT_LT(distance, 2.23 / std::sqrt(n)) << "by chance in one of 10,000 runs (Kolmogorov and Smirnov)";
  const result::Verify result = verified(noisy);
  EXPECT_EQ(verdict(result), Verdict::pass) << failures(result);
  for (const result::Check& check : result.checks) {
    if (check.goal == "G18") {
      EXPECT_GT(check.measured, 150) << "in 99 of 100";
    }
  }
}

TEST(Noise, parses_its_parameters) {
  EXPECT_EQ(*parse_noise("skid=hpctool"), (Noise{.skid = true}));
  EXPECT_FALSE(parse_noise("skid=5"));
  EXPECT_EQ(*parse_noise("seed=9,irq=1.5,fault=2"), (Noise{9, 1.5, 2}));
  EXPECT_EQ(*parse_noise("seed=9"), (Noise{.seed = 9}));
  EXPECT_FALSE(parse_noise("seed"));
  EXPECT_FALSE(parse_noise("irq=-1"));
  EXPECT_FALSE(parse_noise("weather=bad"));
}

// The guest's emulated processor has only these two known events.
TEST(RightBackend, with_instructions_and_cycles_only_passes_with_reasons) {
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

TEST(RightBackend, is_inconclusive_without_context_switches) {
  Scripted backend;
  backend.switches = 3;
  const result::Verify result = verified(backend);
  const auto filter = std::find_if(result.checks.begin(), result.checks.end(),
                                   [](const result::Check& check) { return check.goal == "G16"; });
  ASSERT_NE(filter, result.checks.end());
  EXPECT_EQ(filter->verdict, Verdict::inconclusive);
}

TEST(RightBackend, that_multiplexes_is_within_tolerance) {
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
  stat.events.push_back({{event, split_event_name(event), Unit::events, count}, {}});
  return stat;
}

TEST(Remarks, report_what_faults_added_if_significant) {
  result::Verify verify;
  verify.backend = "perf";
  verify.events = {{{"branches", Mode::user}, result::EventGrade::correctable, "", "cpu", 1, 0, std::nullopt, 9, ""}};
  Count count = tally::counted(1'000'979, CountSource::pmu("cpu"));
  result::Stat stat = counted("branches:u", count);
  EXPECT_TRUE(remarks(verify, stat).empty()) << "page faults were not counted";
  stat.events.push_back({{"page-faults", {"page-faults"}, Unit::events, tally::counted(979, Source::kernel)}, {}});
  EXPECT_EQ(
      remarks(verify, stat),
      std::vector<std::string>{"this processor counts 1 of branches:u too many for each page fault: about 979 here "
                               "(--corrections subtracts them)"});
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

TEST(Remarks, require_the_same_processor_and_microcode) {
  result::Verify verify;
  verify.backend = "perf";
  verify.environment.cpu = "A";
  verify.environment.microcode = "1";
  result::Environment environment = verify.environment;
  EXPECT_TRUE(is_of(verify, "perf", environment));
  EXPECT_FALSE(is_of(verify, "engine", environment));
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
  events[0] = {{"instructions", Mode::user}, result::EventGrade::correctable, "", "", {}, {}, {}, 1, ""};
  events[1] = {{"conditional-branches", Mode::user}, result::EventGrade::unusable, "", "", {}, {}, {}, 1, ""};
  events[2] = {{"cycles", Mode::user}, result::EventGrade::speculative, "", "", {}, {}, {}, 1, ""};
  compare(events, *haswell);
  EXPECT_EQ(events[0].published, "as published of Haswell");
  EXPECT_EQ(events[1].published, "worse than published of Haswell (exact)");
  EXPECT_EQ(events[2].published, "");
}

// A program of the user's own, counted by the engine and by a PMU, both scripted.
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

const result::ComparedEvent& row(const result::Verify& result, const std::string& event) {
  return *std::find_if(result.compared.begin(), result.compared.end(),
                       [&event](const result::ComparedEvent& one) { return one.event == event; });
}

TEST(Program, a_right_pmu_agrees_after_correction) {
  Scripted pmu;
  pmu.trust = Trust::counted;
  pmu.count = [](const MutantInput& at, Count& count) {
    if (!at.is(Id::instructions)) return;
    *count.value += 979 + 3 + 20;
    count.correction = Correction{*count.value - 982, 1, 979, 3};
  };
  const result::Verify result = compared_by(pmu);
  EXPECT_EQ(verdict(result), Verdict::pass);
  const result::ComparedEvent& instructions = row(result, "instructions:u");
  EXPECT_EQ(instructions.exact, 2'000'005);
  EXPECT_EQ(instructions.other, 2'001'007);
  EXPECT_EQ(instructions.by_faults, 979);
  EXPECT_EQ(instructions.by_interrupts, 3);
  EXPECT_EQ(instructions.left, 20);
  EXPECT_EQ(row(result, "loads:u").verdict, Verdict::inconclusive);
}

TEST(Program, a_wrong_pmu_is_detected) {
  Scripted pmu;
  pmu.trust = Trust::counted;
  pmu.value = [](const MutantInput& at, std::int64_t& value) {
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

TEST(Program, differences_of_threads_are_inconclusive) {
  Scripted stepper;
  stepper.value = [](const MutantInput& at, std::int64_t& value) { value += at.is(Id::instructions) ? 100 : 0; };
  const auto why = [&stepper] { return row(compared_by(stepper), "instructions:u").why; };
  EXPECT_EQ(why(), "100 are left over");
  stepper.outcome = [](const Trial&, backend::Outcome& outcome) {
    outcome.processes.resize(1);
    outcome.processes.front().threads.resize(2);
  };
  EXPECT_EQ(verdict(compared_by(stepper)), Verdict::pass);
  EXPECT_EQ(why(), "100 are left over, but how its threads wait differs between runs");
}

TEST(Program, events_missing_on_the_pmu_are_inconclusive) {
  Scripted pmu;
  pmu.has = [](Id id) { return id == Id::instructions; };
  const result::Verify result = compared_by(pmu);
  EXPECT_EQ(verdict(result), Verdict::pass);
  EXPECT_EQ(row(result, "branches:u").verdict, Verdict::inconclusive);
  EXPECT_EQ(row(result, "branches:u").why, "not counted: scripted: not here");
}

}  // namespace
}  // namespace tally::verify
