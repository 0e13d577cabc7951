// `tally stat --repeatable`: equal work has equal counts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

std::string native_output(Words words) {
  words.insert(words.begin(), {"stat", "--backend", "none", "--repeatable", "-o", "/dev/null", "--"});
  return tally(words).out;
}

TEST(Repeatable, sets_what_it_documents_and_leaves_the_rest) {
  const std::string environment = native_output({"/usr/bin/env", "-S", "sh -c env"});
  for (const char* setting : {"GLIBC_TUNABLES=glibc.pthread.rseq=0\n", "PYTHONHASHSEED=0\n", "PERL_HASH_SEED=0\n",
                              "PERL_PERTURB_KEYS=0\n", "PERL_RAND_SEED=0\n", "QT_HASH_SEED=0\n"}) {
    EXPECT_NE(environment.find(setting), std::string::npos) << setting << environment;
  }
  EXPECT_NE(environment.find("\nPATH="), std::string::npos);
  EXPECT_EQ(native_output({"/bin/cat", "/proc/self/personality"}), "00040000\n");
}

TEST(Repeatable, applies_to_the_program_only) {
  EXPECT_EQ(tally({"stat", "--backend", "none", "-o", "/dev/null", "--", "/bin/cat", "/proc/self/personality"}).out,
            "00000000\n");
}

TEST(FixedEnvironment, has_its_own_variables_and_those_that_are_kept) {
  const auto environment = [](const std::string& value, const Words& more = {}) {
    Words words{"stat", "--backend", "none", "--environment", value, "-o", "/dev/null"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "/usr/bin/env"});
    return tally(words);
  };
  ::setenv("TALLY_TEST_KEPT", "a", 1);
  ::setenv("TALLY_TEST_OTHER", "b", 1);
  const std::string fixed = "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/nonexistent\nLC_ALL=C\nTZ=UTC0\nTERM=dumb\n";
  EXPECT_EQ(environment("fixed").out, fixed);
  EXPECT_EQ(environment("fixed,TALLY_TEST_KEPT,TALLY_TEST_MISSING").out, fixed + "TALLY_TEST_KEPT=a\n");
  ::setenv("TERM", "vt100", 1);
  EXPECT_EQ(environment("fixed,TERM").out,
            "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/nonexistent\nLC_ALL=C\nTZ=UTC0\nTERM=vt100\n");
  EXPECT_NE(environment("own").out.find("TALLY_TEST_OTHER=b\n"), std::string::npos);
  EXPECT_NE(environment("fixed", {"--repeatable"}).out.find("PYTHONHASHSEED=0\n"), std::string::npos);
  for (const char* const wrong : {"clean", "fixed,", "fixed,A=b", ""}) {
    const Finished refused = environment(wrong);
    EXPECT_EQ(refused.code(), 2) << wrong;
    EXPECT_EQ(refused.out, "") << wrong;
  }
}

TEST(FixedEnvironment, is_named_in_the_last_line) {
  const Finished run = tally({"stat", "--backend", "none", "--environment", "fixed,HOME", "--", "/bin/true"});
  EXPECT_NE(run.err.find("environment fixed,HOME"), std::string::npos) << run.err;
}

#if TALLY_HAS_ENGINE
std::string repeated_output(const Words& program, const Words& options = {"--repeatable"}) {
  Words words{"stat", "-q", "--backend", "engine", "-e", "instructions", "-o", "/dev/null"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  const Finished run = tally(words);
  EXPECT_EQ(run.code(), 0) << run.err;
  return run.out;
}

TEST(RepeatableMachine, has_one_processor_and_a_fixed_memory) {
  EXPECT_EQ(repeated_output({"/usr/bin/nproc"}), "1\n");
  EXPECT_EQ(repeated_output({"/usr/bin/getconf", "_NPROCESSORS_ONLN"}), "1\n");
  EXPECT_EQ(repeated_output({"/usr/bin/getconf", "_NPROCESSORS_CONF"}), "1\n");
  EXPECT_EQ(repeated_output({"/usr/bin/getconf", "_PHYS_PAGES"}), "1048576\n");
  EXPECT_EQ(repeated_output({"/bin/cat", "/sys/devices/system/cpu/online"}), "0\n");
  EXPECT_EQ(repeated_output({"/bin/grep", "-c", "^processor", "/proc/cpuinfo"}), "1\n");
  EXPECT_EQ(repeated_output({"/bin/grep", "MemTotal", "/proc/meminfo"}), "MemTotal:        4194304 kB\n");
}

TEST(RepeatableMachine, is_the_cpu_model) {
  const std::string info = repeated_output({"/bin/cat", "/proc/cpuinfo"}, {"--repeatable", "--cpu-model", "x86-64-v2"});
  EXPECT_NE(info.find("model name\t: x86-64-v2 (tally)\n"), std::string::npos) << info;
  EXPECT_NE(info.find(" sse4_2"), std::string::npos) << info;
  EXPECT_EQ(info.find(" avx"), std::string::npos) << info;
}

TEST(RepeatableMachine, belongs_to_the_option_and_to_reading) {
  EXPECT_EQ(repeated_output({"/bin/cat", "/proc/cpuinfo"}, {}).substr(0, 12), "processor\t: ");
  EXPECT_NE(repeated_output({"/bin/grep", "MemTotal", "/proc/meminfo"}, {}), "MemTotal:        4194304 kB\n");
}

TEST(RepeatableMachine, finds_libraries_without_a_search) {
  const std::string listed = repeated_output({"/sbin/ldconfig", "-p"});
  EXPECT_EQ(listed.find("libc.so.6 (libc6,x86-64)"), std::string::npos) << listed;
  EXPECT_NE(repeated_output({"/sbin/ldconfig", "-p"}, {}).find("libc.so.6 (libc6,x86-64)"), std::string::npos);
}
#endif

struct Case {
  const char* name;
  Words words;               ///< IN is the path of a text file
  bool reads_clock = false;  ///< just after a full second the vdso executes some instructions more
};

std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.name; }

class Repeated : public testing::TestWithParam<Case> {};

// Programs that use no time, randomness, process IDs or addresses.
TEST_P(Repeated, counts_are_equal_in_every_run) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "this build has no engine";
#endif
  Words program = GetParam().words;
  if (access(program[0].c_str(), X_OK) != 0) GTEST_SKIP() << program[0] << " is not installed";
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "line " + std::to_string(i * 7919 % 4001) + " of a text\n";
  const TemporaryFile input("text", text);
  for (std::string& word : program) {
    if (const auto at = word.find("IN"); at != std::string::npos) word.replace(at, 2, input.path());
  }
  const TemporaryFile file("result.json");
  Words words{"stat",     "--backend", "engine", "--repeatable",
              "-r",       "5",         "-e",     "instructions,branches,conditional-taken,loads,stores",
              "--format", "json",      "-o",     file.path(),
              "--"};
  words.insert(words.end(), program.begin(), program.end());
  EXPECT_EQ(tally(words).code(), 0);
  const json result = json::parse(file.content().value_or("no file"));
  ASSERT_EQ(result["runs"].size(), 5u);
  for (const json& event : result["events"]) {
    EXPECT_EQ(event["trust"], "exact") << event;
    const auto equal = std::count(event["runs"].begin(), event["runs"].end(), event["value"]);
    EXPECT_GE(equal, GetParam().reads_clock ? 3 : 5) << event["name"] << event["runs"];
    EXPECT_GT(event["min"], 1000);
  }
}

INSTANTIATE_TEST_SUITE_P(
    cli, Repeated,
    testing::Values(Case{"bzip2", {"/usr/bin/bzip2", "-c", "IN"}}, Case{"gzip", {"/usr/bin/gzip", "-nc", "IN"}},
                    Case{"sort", {"/usr/bin/sort", "--parallel=1", "IN"}},
                    Case{"sed", {"/usr/bin/sed", "s/a/b/", "IN"}},
                    Case{"shell", {"/bin/sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); done"}},
                    Case{"sqlite3", {"/usr/bin/sqlite3", ":memory:", "select sum(length(hex(zeroblob(99))));"}},
                    Case{"perl", {"/usr/bin/perl", "-ne", "$n{$_}++ for split; END { print keys %n }", "IN"}},
                    Case{"python3", {"/usr/bin/python3", "-S", "-c", "print({str(i) for i in range(300)})"}, true}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tally::test
