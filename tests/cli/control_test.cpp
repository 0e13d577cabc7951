// `tally stat --control`: programs that switch counting on and off, as with `perf stat`.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

/// Runs `tally stat` with these arguments under a shell that opens the pipes as descriptors 8 and 9.
Finished controlled(const Words& arguments, const Words& work = {"100", "20", "100", "3", "100"},
                    const std::string& channel = "fd:8,9") {
  const TemporaryFile folder("pipes");
  std::filesystem::remove(folder.path());
  std::filesystem::create_directories(folder.path());
  Words words{"/bin/sh",
              "-c",
              "cd \"$0\" && mkfifo commands answers && exec 8<>commands 9<>answers && exec \"$@\"",
              folder.path(),
              TALLY_COMMAND,
              "stat",
              "-q",
              "--control",
              channel};
  words = with(with(words, arguments), {"--", CONTROLLED, "8", "9"});
  const Finished finished = Running(with(words, work)).finish();
  std::filesystem::remove_all(folder.path());
  return finished;
}

/// The number of an event in the JSON lines of -j; −1 if it is absent.
double count_of(const std::string& text, const std::string& event) {
  for (const std::string& line : split(trimmed(text), '\n')) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded() || json.at("event") != event) continue;
    const auto value = json.at("counter-value").get<std::string>();
    const bool is_absent = value.starts_with('<');
    EXPECT_EQ(json.at("pcnt-running"), is_absent ? 0.0 : 100.0) << line;
    return is_absent ? -1 : std::stod(value);
  }
  return -1;
}

class Control : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

// The program needs some instructions to send a command and to read the answer.
constexpr double few_instructions = 500;

TEST_F(Control, counts_between_enable_and_disable) {
  for (const char* const channel : {"fd:8,9", "fifo:commands,answers"}) {
    const Finished finished = controlled({"-j", "-D", "-1", "--backend", "engine", "-e", "instructions"},
                                         {"100", "20", "100", "3", "100"}, channel);
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_NEAR(count_of(finished.err, "instructions:u"), 230'000 + few_instructions / 2, few_instructions)
        << finished.err;
    EXPECT_NE(finished.err.find(R"("trust":"exact")"), std::string::npos) << finished.err;
  }
}

TEST_F(Control, without_delay_counts_from_the_start) {
  const Finished finished = controlled({"-j", "--backend", "engine", "-e", "instructions"}, {"20", "0", "100", "3"});
  // "enable" changes nothing.
  EXPECT_GT(count_of(finished.err, "instructions:u"), 230'000) << finished.err;
  EXPECT_LT(count_of(finished.err, "instructions:u"), 230'000 + 1'000'000) << finished.err;
}

TEST_F(Control, that_never_enables_counts_nothing) {
  const Finished finished = controlled({"-j", "-D", "-1", "--backend", "engine", "-e", "instructions"}, {"20"});
  EXPECT_EQ(count_of(finished.err, "instructions:u"), -1) << finished.err;
  EXPECT_NE(finished.err.find("ended before counting began"), std::string::npos) << finished.err;
}

TEST_F(Control, counts_each_process_and_thread) {
  const Finished finished =
      controlled({"--format", "json", "--per-process", "-D", "-1", "--backend", "engine", "-e", "instructions"});
  const auto json = nlohmann::json::parse(finished.err, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << finished.err;
  EXPECT_EQ(json.at("processes").at(0).at("events").at(0).at("value"), json.at("events").at(0).at("value"))
      << finished.err;
}

TEST_F(Control, says_that_models_count_the_whole_run) {
  const Finished finished =
      controlled({"-j", "-D", "-1", "--model", "haswell", "-e", "instructions,L1-dcache-load-misses"});
  EXPECT_NEAR(count_of(finished.err, "instructions:u"), 230'000 + few_instructions / 2, few_instructions)
      << finished.err;
  EXPECT_NE(finished.err.find("covers the whole run"), std::string::npos) << finished.err;
}

TEST_F(Control, switches_the_counters_of_the_kernel) {
  if (tally({"stat", "-q", "--backend", "perf", "-e", "page-faults:u", "--", "true"}).code() != 0)
    GTEST_SKIP() << "the kernel does not allow perf_event_open";
  const Finished finished = controlled({"-j", "-D", "-1", "--backend", "perf", "-e", "page-faults:u,task-clock"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NEAR(count_of(finished.err, "page-faults:u"), 26, 4) << finished.err;
  EXPECT_GT(count_of(finished.err, "task-clock"), 0) << finished.err;
}

TEST_F(Control, names_unknown_commands) {
  const TemporaryFile commands("commands", "enable cycles\nping\n");
  const std::string script =
      "exec 8<\"$1\" && exec \"$0\" stat --control fd:8 --backend engine -e instructions -- true";
  const Finished finished = Running({"/bin/sh", "-c", script, TALLY_COMMAND, commands.path()}).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.err.find("the command 'enable cycles' of --control is unknown"), std::string::npos)
      << finished.err;
}

TEST_F(Control, needs_a_command_and_open_descriptors) {
  EXPECT_EQ(tally({"stat", "--control", "fd:77", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--control", "fifo:/nowhere/pipe", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--control", "fd:0,1,2", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "-D", "-1", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "-a", "--control", "fd:0", "--", "true"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
