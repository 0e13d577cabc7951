// The engine's own failures: never mistaken for the program's, and reported with the counts up to then.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Case {
  const char* name;
  const char* number;  ///< a channel::Failure
  const char* why;
  bool in_child = false;
};

class FailureTest : public testing::TestWithParam<Case> {};

TEST_P(FailureTest, ends_with_125_and_a_report) {
  const Scratch scratch;
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/fails_dynamic", GetParam().number};
  if (GetParam().in_child) command.words.emplace_back("child");
  command.environment.push_back("TALLY_ENGINE_TEST=fail");
  command.environment.push_back("TMPDIR=" + scratch.path());
  const Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.code, 125) << counted.outcome.err;
  EXPECT_EQ(counted.outcome.out, GetParam().in_child ? "begun\nthe child's exit code is 125\n" : "begun\n");
  EXPECT_FALSE(counted.exact);
  EXPECT_GT(counted.counts.instructions, 10'000u);
  EXPECT_NE(counted.problem.find("the engine failed in it"), std::string::npos) << counted.problem;
  EXPECT_EQ(counted.problem.find("killed"), std::string::npos) << counted.problem;
  std::string report;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    if (entry.path().filename().string().starts_with("tally-engine-failure-")) report = read_file(entry.path());
  EXPECT_NE(report.find("fails_dynamic"), std::string::npos) << report;
  EXPECT_NE(report.find(GetParam().why), std::string::npos) << report;
}

INSTANTIATE_TEST_SUITE_P(engine, FailureTest,
                         testing::Values(Case{"fault", "0", "its registers"},
                                         Case{"check", "1", "a failure that was asked for"},
                                         Case{"fault_without_handlers", "2", "signal 11"},
                                         Case{"in_a_child", "0", "its registers", true}),
                         [](const auto& one) { return std::string(one.param.name); });

/// `tally run` has no result that could contain it.
TEST(Failure, is_reported_by_tally_run) {
  const Scratch scratch;
  Command command;
  command.words = {TALLY, "run", "--", std::string(LIBC_PROGRAMS) + "/fails_dynamic", "0"};
  command.environment.push_back("TALLY_ENGINE_TEST=fail");
  command.environment.push_back("TMPDIR=" + scratch.path());
  const Outcome outcome = run_native(command);
  EXPECT_EQ(outcome.code, 125);
  EXPECT_NE(outcome.err.find("the engine of tally failed in fails_dynamic"), std::string::npos) << outcome.err;
}

/// A profile that cannot show that it is partial is not written; an earlier file stays.
TEST(Failure, leaves_no_profile_that_looks_whole) {
  for (const std::string format : {"bolt", "lcov", "folded", "json"}) {
    const Scratch scratch;
    scratch.write("profile", "earlier");
    Command command;
    command.words = {TALLY,
                     "profile",
                     "-q",
                     "--format",
                     format,
                     "-o",
                     scratch.path() + "/profile",
                     "--",
                     std::string(LIBC_PROGRAMS) + "/fails_dynamic",
                     "0"};
    command.environment.push_back("TALLY_ENGINE_TEST=fail");
    command.environment.push_back("TMPDIR=" + scratch.path());
    const Outcome outcome = run_native(command);
    EXPECT_EQ(outcome.code, 125) << outcome.err;
    const bool shows_trust = format == "json";
    EXPECT_EQ(read_file(scratch.path() + "/profile") == "earlier", !shows_trust) << format;
    EXPECT_EQ(outcome.err.find("cannot show that a profile is incomplete") == std::string::npos, shows_trust)
        << outcome.err;
  }
}

TEST(Failure, is_named_for_a_profile_of_a_killed_program) {
  Command command;
  command.words = {TALLY, "profile", "-q", "--format", "folded", "-o", "/dev/null", "--", "sh", "-c", "kill -9 $$"};
  const Outcome outcome = run_native(command);
  EXPECT_EQ(outcome.code, 137);
  EXPECT_NE(outcome.err.find("killed by SIGKILL: the profile ends there"), std::string::npos) << outcome.err;
}

struct StrictCase {
  const char *name, *code, *why;
  bool needs_root = false;
  const char* options = "";  ///< of gcc, which makes ./built of `source`
};

/// Starts at 64-bit code unless `start32` is the start. Prints by 32-bit system calls.
constexpr const char* source = R"(
  .globl _start, start32, execute
_start:
  ljmp *selected
execute:
  mov $11, %eax
  mov $echo, %ebx
  mov $words, %ecx
  xor %edx, %edx
  int $0x80
  .code32
start32:
  mov $4, %eax
  mov $1, %ebx
  mov $text, %ecx
  mov $10, %edx
  int $0x80
  mov $1, %eax
  xor %ebx, %ebx
  int $0x80
  .data
selected: .long start32
  .word 0x23
words: .long echo, text, 0
echo: .asciz "/bin/echo"
text: .ascii "continued"
end: .byte NEWLINE, 0
)";

class StrictTest : public testing::TestWithParam<StrictCase> {};

TEST_P(StrictTest, ends_what_would_continue_natively) {
  if (GetParam().needs_root && geteuid() != 0) GTEST_SKIP() << "only root can create a program of another user";
  const Scratch scratch;
  Command command;
  command.directory = scratch.path();
  if (*GetParam().options != '\0') {
    scratch.write("built.S", source);
    command.words = {
        "/bin/sh", "-c",
        std::string("gcc -nostdlib -static -no-pie ") + GetParam().options + " -o built built.S && ./built"};
    if (run_native(command).out != "continued\n") GTEST_SKIP() << "gcc or the kernel does not support 32-bit code here";
  }
  for (const char* const options : {"", "--strict"}) {
    command.words = {TALLY, "run",
                     "--",  "/usr/bin/perl",
                     "-e",  std::string("$| = 1; print \"begun\\n\"; ") + GetParam().code + "; print \"continued\\n\""};
    const bool is_strict = *options != '\0';
    if (is_strict) command.words.insert(command.words.begin() + 2, options);
    const Outcome outcome = run_native(command);
    EXPECT_EQ(outcome.code, is_strict ? 125 : 0) << outcome.err;
    EXPECT_EQ(outcome.out, is_strict ? "begun\n" : "begun\ncontinued\n");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), is_strict ? 1 : 0) << outcome.err;
    EXPECT_EQ(outcome.err.find(GetParam().why) != std::string::npos, is_strict) << outcome.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    engine, StrictTest,
    testing::Values(
        StrictCase{"dispatch", "syscall(157, 59, 1, 1, 0x7fffffffffff, 0)", "it intercepts its own system calls"},
        StrictCase{"other_rights",
                   "system(\"cp /bin/echo other; chown nobody other; chmod 4755 other\"); "
                   "exec(\"./other\", \"continued\")",
                   "it executes other, which would run natively", true},
        StrictCase{"a_32_bit_program", "exec(\"./built\")", "built would run natively: it is a 32-bit program", false,
                   "-DNEWLINE=10 -Wl,--entry=start32 -m32"},
        StrictCase{"a_far_jump", "exec(\"./built\")", "it switched to another code segment", false, "-DNEWLINE=10"},
        StrictCase{"an_old_execve", "exec(\"./built\")", "it made 32-bit system calls", false,
                   "-DNEWLINE=0 -Wl,--entry=execute"}),
    [](const auto& one) { return std::string(one.param.name); });

/// More processes than there are records: the program continues, and no count is lost.
TEST(ProcessLimit, loses_no_count) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/fails_dynamic", "forks", "60"};
  // The environment always has the same length, because the dynamic linker walks through it.
  command.environment.push_back("TALLY_ENGINE_TEST=unlimited=8");
  const Counted all = run_counted(command);
  command.environment.back() = "TALLY_ENGINE_TEST=processes=8";
  const Counted few = run_counted(command);
  EXPECT_EQ(few.outcome, all.outcome);
  EXPECT_EQ(few.outcome.code, 0) << few.outcome.err;
  expect_exact(few);
  EXPECT_EQ(few.counts, all.counts) << describe(few.counts) << describe(all.counts);
}

}  // namespace
}  // namespace tally::engine_test
