// The list of countable events follows from the probes.
#include <gtest/gtest.h>

#include <cerrno>

#include "programs/doctor/countable.hpp"
#include "programs/doctor/diagnose.hpp"

namespace tally::doctor {
namespace {

CountableEvents row_of(const Facts& facts, bool by_pmu, const std::string& what) {
  for (const CountableEvents& row : countable(facts, by_pmu))
    if (row.what == what) return row;
  ADD_FAILURE() << "there is no row " << what;
  return {};
}

Facts with_engine() {
  Facts facts;
  facts.survey.machine.architecture = "x86_64";
  facts.trial.instructions = 1000;
  return facts;
}

TEST(CountableEvents, has_cycles_of_a_model_only_without_a_pmu) {
  const std::string cycles = "cycles, cache and branch misses";
  EXPECT_EQ(row_of(with_engine(), false, cycles).trust, Trust::modelled);
  EXPECT_EQ(row_of(Facts{}, false, cycles).trust, Trust::absent);
  for (const CountableEvents& row : countable(with_engine(), true)) EXPECT_NE(row.what, cycles);
  EXPECT_EQ(row_of(Facts{}, true, "instructions, cycles, what the PMU has").trust, Trust::counted);
}

TEST(CountableEvents, says_why_the_engine_does_not_count) {
  const std::string exact = "instructions, branches, loads, stores";
  EXPECT_EQ(row_of(with_engine(), false, exact), (CountableEvents{exact, Trust::exact, "engine, user mode", ""}));
  EXPECT_EQ(row_of(with_engine(), true, exact).source, "engine, with --backend engine");
  Facts failed;
  failed.survey.machine.architecture = "x86_64";
  failed.trial.problem = "ptrace is not permitted";
  EXPECT_EQ(row_of(failed, false, exact), (CountableEvents{exact, Trust::absent, "", "ptrace is not permitted"}));
  failed.survey.machine.architecture = "aarch64";
  EXPECT_EQ(row_of(failed, false, exact).reason, "the engine is for x86-64");
}

TEST(CountableEvents, names_the_error_of_the_kernel) {
  Facts facts;
  facts.probes.software.os_errno = EACCES;
  EXPECT_EQ(row_of(facts, false, "cpu-migrations").reason, "the kernel refuses to count it (EACCES)");
  EXPECT_EQ(row_of(facts, false, "page-faults, context-switches").source, "wait4, run natively");
  facts.probes.with_kernel.os_errno = EPERM;
  EXPECT_EQ(row_of(facts, true, "anything in the kernel").reason, "the kernel refuses to count it (EPERM)");
  EXPECT_EQ(row_of(facts, false, "anything in the kernel").reason, "needs a PMU");
}

TEST(CountableEvents, takes_clocks_from_the_kernel_if_either_mode_can_be_counted) {
  Facts facts;
  facts.probes.software.os_errno = EACCES;
  EXPECT_EQ(row_of(facts, false, "task-clock, cpu-clock").source, "perf_event, run natively");
  facts.probes.software_user.os_errno = EACCES;
  EXPECT_EQ(row_of(facts, false, "task-clock, cpu-clock").source, "wait4, run natively");
}

TEST(CountableEvents, trusts_an_invariant_time_stamp_counter) {
  Facts facts;
  EXPECT_EQ(row_of(facts, false, "tsc").trust, Trust::absent);
  facts.processor = pmu::Processor{};
  EXPECT_EQ(row_of(facts, false, "tsc").trust, Trust::partial);
  facts.processor->invariant_time_stamp = true;
  EXPECT_EQ(row_of(facts, false, "tsc").trust, Trust::counted);
}

TEST(ErrnoName, is_the_name_in_the_manual_or_the_number) {
  EXPECT_EQ(errno_name(ENOENT), "ENOENT");
  EXPECT_EQ(errno_name(EACCES), "EACCES");
  EXPECT_EQ(errno_name(EPERM), "EPERM");
  EXPECT_EQ(errno_name(77), "error 77");
}

}  // namespace
}  // namespace tally::doctor
