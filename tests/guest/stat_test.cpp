// `tally stat` with a PMU, and programs with known answers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Words = test::Words;

constexpr std::int64_t many_calls = 1000;

// On an emulated processor a count is the known one. Real processors usually add one for a page fault and an interrupt.
void expect_instructions(const Counted& result, const std::string& name, std::uint64_t n, const char* event) {
  const auto known_count = static_cast<std::int64_t>(known(name, n).counts.instructions);
  const std::int64_t value = result.value(event);
  EXPECT_GE(value, known_count) << name << " of " << n;
  EXPECT_LE(value, known_count + (is_guest() ? 0 : 2000)) << name << " of " << n;
}

std::int64_t instructions_of(const std::string& name, std::uint64_t n) {
  return static_cast<std::int64_t>(known(name, n).counts.instructions);
}

TEST(Stat, known_programs_are_counted_to_the_instruction) {
  TALLY_NEEDS_PMU();
  for (const auto& [name, n] : known_programs()) {
    const Counted result = counted({"-e", "instructions"}, {known(name, n).path});
    expect_instructions(result, name, n, "instructions:u");
    EXPECT_EQ(result.rows.at("instructions:u").trust, "counted");
    EXPECT_EQ(result.backend, "perf");
    EXPECT_EQ(result.messages, "") << "there must be no message";
  }
}

// A software event can lead a group as well as a PMU's event; the kernel then moves the leader to the PMU.
TEST(Stat, a_group_is_counted_together) {
  TALLY_NEEDS_PMU();
  for (const char* group :
       {"{instructions,cycles,page-faults}", "{page-faults,instructions,cycles}",
        "{page-faults,task-clock,cycles,instructions}", "{task-clock,page-faults},{instructions,cycles}",
        "{page-faults,instructions},{task-clock,cycles}"}) {
    const Counted result = counted({"-e", group}, {known("countdown", 1000000).path});
    expect_instructions(result, "countdown", 1000000, "instructions:u");
    EXPECT_GT(result.value("cycles:u"), 0) << group;
    EXPECT_GT(result.value("page-faults"), 0) << group;
    EXPECT_LT(result.value("page-faults"), 1000) << group;
    for (const auto& [name, row] : result.rows) EXPECT_EQ(row.trust, "counted") << group << " " << name;
  }
}

TEST(Stat, cycles_are_exact_where_the_machine_is_emulated) {
  TALLY_NEEDS_PMU();
  if (!is_guest()) GTEST_SKIP() << "on real processors the number of cycles varies";
  const Counted result = counted({"-e", "instructions,cycles"}, {known("countdown", 1000000).path});
  EXPECT_EQ(result.value("cycles:u"), result.value("instructions:u"));
}

TEST(Stat, user_mode_and_kernel_are_distinguished) {
  TALLY_NEEDS_PMU();
  const Words events{"-e", "instructions,instructions:k,instructions:uk"};
  const Counted one = counted(events, {known("system_calls", 1).path});
  const Counted many = counted(events, {known("system_calls", 1000).path});
  expect_instructions(many, "system_calls", 1000, "instructions:u");
  EXPECT_GT(many.value("instructions:k"), one.value("instructions:k") + 50 * many_calls)
      << "fifty for each system call";
  EXPECT_GE(many.value("instructions:uk"), many.value("instructions:u") + 50 * many_calls);
}

TEST(Stat, a_tree_of_processes_is_counted_completely) {
  TALLY_NEEDS_PMU();
  const auto of = [](const std::string& script) {
    return counted({"-e", "instructions"}, {"sh", "-c", script}).value("instructions:u");
  };
  const std::string loop = known("countdown", 1000000).path;
  const std::int64_t one = of(loop + "; :");
  const std::int64_t two = of(loop + "; " + loop + "; :");
  // In addition a fork and a wait of the shell.
  EXPECT_GE(two - one, instructions_of("countdown", 1000000));
  EXPECT_LT(two - one, instructions_of("countdown", 1000000) + 100000);
}

TEST(Stat, the_same_as_perf_counts) {
  TALLY_NEEDS_PMU();
  for (const Words& command : {Words{known("touch", 1000).path}, Words{known("system_calls", 1000).path}}) {
    const auto theirs = counted_by_perf("instructions:u,cycles:u,page-faults", {}, command);
    if (theirs.empty()) GTEST_SKIP() << "there is no perf to compare with";
    const Counted ours = counted({"-e", "instructions,cycles,page-faults"}, command);
    EXPECT_NEAR(static_cast<double>(ours.value("instructions:u")), static_cast<double>(theirs.at("instructions:u")),
                is_guest() ? 0 : 2000);
    if (is_guest()) {
      EXPECT_EQ(ours.value("cycles:u"), theirs.at("cycles:u"));
    }
    // The stack's address decides whether the kernel touches one more page of it.
    EXPECT_NEAR(static_cast<double>(ours.value("page-faults")), static_cast<double>(theirs.at("page-faults")), 3);
  }
}

// Sets this process's environment, for its lifetime.
class EnvironmentScope {
 public:
  explicit EnvironmentScope(const std::vector<std::string>& variables) {
    for (char** one = environ; *one; ++one) before_.emplace_back(*one);
    replace(variables);
  }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;
  ~EnvironmentScope() { replace(before_); }

 private:
  static void replace(const std::vector<std::string>& variables) {
    clearenv();
    for (const std::string& one : variables) {
      const std::size_t equals = one.find('=');
      setenv(one.substr(0, equals).c_str(), one.substr(equals + 1).c_str(), 1);
    }
  }
  std::vector<std::string> before_;
};

// perf passes its program more variables and a longer PATH than it has itself, and the program reads them all. The
// stack's start is random, and its alignment decides about four instructions more. Without both the counts are the
// same.
TEST(Stat, an_everyday_program_counts_as_with_perf) {
  TALLY_NEEDS_GUEST();
  const Setting addresses("/proc/sys/kernel/randomize_va_space", 0);
  const std::string busybox = "/boot/bin/busybox";
  const Words hash{busybox, "sha256sum", busybox};
  const auto theirs = counted_by_perf("instructions:u", {}, hash);
  if (theirs.empty()) GTEST_SKIP() << "there is no perf to compare with";
  const test::Finished env = test::Running({linux::find_program("perf", linux::search_path()).value_or(""), "stat",
                                            "-o", "/dev/null", "-e", "instructions:u", busybox, "env"})
                                 .finish();
  std::vector<std::string> variables = split(env.out, '\n');
  std::erase(variables, "");
  ASSERT_GT(variables.size(), 3u) << env.err;
  std::int64_t ours = 0;
  {
    const EnvironmentScope as_under_perf(variables);
    ours = counted({"-e", "instructions"}, hash).value("instructions:u");
  }
  EXPECT_GT(ours, 50 * 1000000);
  EXPECT_EQ(ours, theirs.at("instructions:u"));
}

TEST(Stat, an_event_that_the_pmu_lacks_is_absent) {
  TALLY_NEEDS_PMU();
  if (!is_guest()) GTEST_SKIP() << "real processors count it";
  const Counted result = counted({"-e", "instructions,branches,r08,r21"}, {known("countdown", 1000).path});
  EXPECT_FALSE(result.rows.at("branches:u").value);
  EXPECT_NE(result.rows.at("branches:u").reason.find("no such event"), std::string::npos);
  EXPECT_EQ(result.value("r08:u"), instructions_of("countdown", 1000));
  EXPECT_EQ(result.rows.at("r08:u").trust, "counted");
  EXPECT_EQ(result.rows.at("r21:u").trust, "partial") << "it opens, and reads a false 0";
}

TEST(Stat, without_events_what_the_pmu_counts_at_once_is_counted) {
  TALLY_NEEDS_PMU();
  const Counted result = counted({}, {known("countdown", 1000).path});
  EXPECT_EQ(result.code, 0) << result.messages;
  EXPECT_EQ(result.backend, "perf");
  expect_instructions(result, "countdown", 1000, "instructions:u");
  EXPECT_EQ(result.rows.at("cycles:u").trust, "counted");
  EXPECT_GT(result.value("duration_time"), 0);
  for (const auto& [name, row] : result.rows) EXPECT_NE(row.trust, "absent") << name;
}

// libpfm4 has tables for few processors; the guest's usual one is in none.
TEST(Stat, names_by_the_processors_vendor) {
  TALLY_NEEDS_PMU();
  if (!event::own_pmu({})) GTEST_SKIP() << "libpfm4 does not know this processor";
  if (!is_guest()) GTEST_SKIP() << "every vendor has other names";
  const Counted result =
      counted({"-e", "INST_RETIRED,CPU_CYCLES:k,CPU_CYCLES:uk,CPU_CYCLES:u"}, {known("countdown", 1000000).path});
  EXPECT_GE(result.value("INST_RETIRED:u"), instructions_of("countdown", 1000000));
  EXPECT_EQ(result.rows.at("INST_RETIRED:u").trust, "counted") << result.rows.at("INST_RETIRED:u").reason;
  EXPECT_GT(result.value("CPU_CYCLES:k"), 0);
  EXPECT_LT(result.value("CPU_CYCLES:k"), instructions_of("countdown", 1000000));
  EXPECT_GE(result.value("CPU_CYCLES:u"), instructions_of("countdown", 1000000));
  EXPECT_GT(result.value("CPU_CYCLES:uk"), result.value("CPU_CYCLES:u"));
}

TEST(Stat, counts_are_kept_when_the_program_is_killed) {
  TALLY_NEEDS_PMU();
  const Counted result =
      counted({"-e", "instructions"}, {"sh", "-c", known("countdown", 1000000).path + "; kill -9 $$"});
  EXPECT_EQ(result.code, 137);
  EXPECT_GT(result.value("instructions:u"), instructions_of("countdown", 1000000));
}

}  // namespace
}  // namespace tally::hardware_test
