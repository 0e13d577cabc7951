// Every limit of getrlimit(2), and the properties of prctl(2) that a program, a container or a service manager sets.
#include <unistd.h>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Setting {
  const char* name;
  const char* reason = nullptr;  ///< what the result names; null: it is exact
};
std::ostream& operator<<(std::ostream& stream, const Setting& one) { return stream << one.name; }

class SettingsTest : public testing::TestWithParam<Setting> {};

TEST_P(SettingsTest, is_as_natively) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/settings_dynamic", GetParam().name};
  const Outcome native = run_native(command);
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  if (GetParam().reason == nullptr) return expect_exact(counted);
  EXPECT_FALSE(counted.exact);
  EXPECT_NE(counted.problem.find(GetParam().reason), std::string::npos) << counted.problem;
}

const auto setting_name = [](const auto& one) { return std::string(one.param.name); };

INSTANTIATE_TEST_SUITE_P(Limits, SettingsTest,
                         testing::Values(Setting{"as"}, Setting{"core"}, Setting{"cpu"}, Setting{"data"},
                                         Setting{"fsize"}, Setting{"locks"}, Setting{"memlock", "RLIMIT_MEMLOCK"},
                                         Setting{"msgqueue"}, Setting{"nice"}, Setting{"nofile"}, Setting{"nproc"},
                                         Setting{"rss"}, Setting{"rtprio"}, Setting{"rttime"}, Setting{"sigpending"},
                                         Setting{"stack"}, Setting{"threads_at_limit"}),
                         setting_name);

INSTANTIATE_TEST_SUITE_P(Properties, SettingsTest,
                         testing::Values(Setting{"pdeathsig"}, Setting{"death_signal"}, Setting{"dumpable"},
                                         Setting{"keepcaps"}, Setting{"timing"}, Setting{"capbset"},
                                         Setting{"securebits"}, Setting{"timerslack"}, Setting{"perf_events"},
                                         Setting{"mce_kill"}, Setting{"ptracer"}, Setting{"subreaper"},
                                         Setting{"no_new_privs"}, Setting{"thp"}, Setting{"speculation"},
                                         Setting{"io_flusher"}, Setting{"mdwe", "PR_SET_MDWE"}, Setting{"memory_merge"},
                                         Setting{"name"}, Setting{"tsc"}, Setting{"seccomp"},
                                         Setting{"strict_mode", "seccomp"}, Setting{"unknown"}),
                         setting_name);

// The program cannot exceed a limit that it did not set itself. The engine counts towards it, and makes room.
TEST(Limits, from_outside_are_named_when_the_program_needs_the_memory_of_the_engine) {
  const auto megabytes = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return std::stoi(outcome.out.substr(std::string("break: ").size()));
  };
  const std::string program = std::string(LIBC_PROGRAMS) + "/settings_static break";
  for (const std::string limit : {"ulimit -v 2200000; ", "ulimit -v 4000000; ", "ulimit -d 1500000; "}) {
    SCOPED_TRACE(limit);
    Command command;
    command.words = {"/bin/sh", "-c", limit + program};
    const int native = megabytes(run_native(command));
    command.words = {"/bin/sh", "-c", limit + TALLY + " stat --backend engine -e instructions -- " + program};
    const Outcome counted = run_native(command);
    EXPECT_NEAR(megabytes(counted), native, 8);
    EXPECT_NE(counted.err.find("RLIMIT_AS or RLIMIT_DATA"), std::string::npos) << counted.err;
  }
}

// A limit that the shell sets holds for the programs that it executes, also if they run natively.
TEST(Limits, hold_for_programs_that_are_executed) {
  const std::string program = std::string(LIBC_PROGRAMS) + "/settings_static";
  const std::string limits = "ulimit -v 200000; ulimit -d 100000; ulimit -v; ulimit -d; ";
  Command command;
  command.words = {"/bin/sh", "-c", limits + program + " break"};
  const Outcome native = run_native(command);
  Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  expect_exact(counted);
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a program that has another user's rights";
  const Scratch scratch;
  const std::string other = scratch.file("program");
  command.words[2] = "cp " + program + " " + other + " && chown 65534 " + other + " && chmod 4755 " + other + " && " +
                     limits + other + " break";
  counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_FALSE(counted.exact);
}

}  // namespace
}  // namespace tally::engine_test
