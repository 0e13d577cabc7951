// `tally stat --rdpmc` and `--trap`: programs that read counters themselves, and programs with HPCTool's markers.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

Finished run(const Words& options, const Words& arguments) {
  Words words{"stat", "--backend", "engine", "-q"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", COUNTERS});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return tally(words);
}

TEST(Rdpmc, TheArticlesSnippetsReadTheArticlesValues) {
  const Finished finished = run({"--rdpmc", "-e", "branches"}, {"article"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(finished.out, "6 8 102\n");
  for (const char* way : {"--block-size", "--hot-from"})
    EXPECT_EQ(run({"--rdpmc", "-e", "branches", way, "1"}, {"article"}).out, "6 8 102\n") << way;
}

// Between the reads of known(10): 10 taken branches and one that is not, a call and two returns, and the check that the
// carry is unchanged.
TEST(Rdpmc, SelectorsAreTheEventsInTheirOrder) {
  const Words options{"--rdpmc", "-e", "calls,instructions,returns,page-faults,conditional-branches,loads,stores"};
  EXPECT_EQ(run(options, {"selector", "0"}).out, "2\n");
  EXPECT_EQ(run(options, {"selector", "1"}).out, "2\n");
  EXPECT_EQ(run(options, {"selector", "2"}).out, "11\n");
  const std::string instructions = run(options, {"selector", "0x40000000"}).out;
  EXPECT_GT(std::atoi(instructions.c_str()), 21 + 10);
  EXPECT_LT(std::atoi(instructions.c_str()), 21 + 25);
}

TEST(Rdpmc, MissingCountersFailAsNatively) {
  const Words options{"--rdpmc", "-e", "calls,loads"};
  for (const char* absent : {"0x2", "0x3", "0x4", "0x40000001", "0x40000002", "0x40000003", "0x80000000"}) {
    const Finished finished = run(options, {"selector", absent});
    EXPECT_EQ(finished.code(), 128 + SIGSEGV) << absent;
    const std::string messages = std::string(") read counter ") + absent + " with rdpmc: it does not exist";
    EXPECT_NE(finished.err.find(messages), std::string::npos) << finished.err;
  }
  EXPECT_EQ(run({"-e", "calls"}, {"selector", "0"}).code(), 128 + SIGSEGV);
}

TEST(Rdpmc, AvailableAndMissingCountersAreReportedBeforehand) {
  const auto messages = [](const char* events) {
    return tally({"stat", "--backend", "engine", "--model", "haswell", "--rdpmc", "-e", events, "--", COUNTERS,
                  "article"})
        .err;
  };
  const std::string plain = messages("calls,instructions,loads");
  EXPECT_NE(plain.find("rdpmc reads counter 0 for calls:u, 1 for loads:u, 0x40000000 for instructions:u; any other "
                       "ends the program by SIGSEGV: there is no 0x40000001 or 0x40000002 (cycles, ref-cycles: not "
                       "among the events that -e names)"),
            std::string::npos)
      << plain;
  EXPECT_EQ(plain.find("with rdpmc: it does not exist"), std::string::npos) << plain;
  EXPECT_NE(
      messages("cycles").find("0x40000001 for cycles:u; any other ends the program by SIGSEGV: there is no 0x40000002"),
      std::string::npos);
  const std::string help = tally({"help", "stat"}).out;
  EXPECT_NE(help.find("any other"), std::string::npos);
}

TEST(Rdpmc, ReadsModelsToo) {
  const Finished finished =
      run({"--rdpmc", "--model", "haswell", "-e", "branch-misses,L1-dcache-load-misses"}, {"selector", "0"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_GE(std::atoi(finished.out.c_str()), 1) << finished.out;   // at least the loop's end
  EXPECT_LE(std::atoi(finished.out.c_str()), 14) << finished.out;  // all branches between the reads
}

// Three cycles a round, from the instructions executed so far, however code was translated; misses and the code around
// it add to them.
TEST(Rdpmc, ReadsCyclesOfTheCoreModel) {
  for (const Words& more :
       {Words{}, Words{"--block-size", "1"}, Words{"--hot-from", "1"}, Words{"--cache-limit", "9"}}) {
    Words options{"--rdpmc", "--model", "haswell", "-e", "instructions,cycles"};
    options.insert(options.end(), more.begin(), more.end());
    const Finished finished = run(options, {"cycles", "100000"});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_NEAR(std::atof(finished.out.c_str()), 300'000, 3'000) << finished.out;
  }
}

// A short part of the code costs another number of cycles than a long one: its rounds overlap with the code around it.
TEST(Rdpmc, ReadsCyclesOfALongLoopAfterAShortOne) {
  const Finished finished =
      run({"--rdpmc", "--model", "haswell", "-e", "instructions,cycles"}, {"cycles", "2", "100000", "3", "1000000"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  long cycles[4]{};
  ASSERT_EQ(std::sscanf(finished.out.c_str(), "%ld\n%ld\n%ld\n%ld", &cycles[0], &cycles[1], &cycles[2], &cycles[3]), 4);
  EXPECT_NEAR(static_cast<double>(cycles[1]), 300'000, 3'000);
  EXPECT_NEAR(static_cast<double>(cycles[3]), 3'000'000, 30'000);
}

// Cycles and misses of a function: of many entries with much between them, most are not read.
TEST(FunctionRegions, HaveCycles) {
  const TemporaryFile file("result.json");
  const Finished finished = tally({"stat", "-q", "--model", "haswell", "-e", "instructions,cycles", "--function",
                                   "known", "--format", "json", "-o", file.path(), "--", COUNTERS, "calls"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const json result = json::parse(file.content().value_or(""), nullptr, false);
  const json& cycles = result["regions"][0]["regions"][0]["events"][1];
  EXPECT_EQ(cycles["trust"], "modelled") << cycles;
  EXPECT_GT(cycles["value"], 0);
  EXPECT_LE(cycles["value"], result["events"][1]["value"]);
}

// The way that regions read a PMU, with the processor's instruction: on pages of the program, with counters of the
// engine.
TEST(UserReads, AreExactOfAnyWidth) {
  const Finished finished = tally(
      {"stat", "-q", "--backend", "engine", "--rdpmc", "-e", "far-branches", "-o", "/dev/null", "--", USER_READS});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(finished.out,
            "200 more instructions\n"
            "above the offset: 1\n"
            "8 bits of 200: 944\n"
            "8 bits of 100: 1100\n"
            "index 0: 0\n"
            "back: 1\n");
}

class Traps : public testing::TestWithParam<const char*> {};

TEST_P(Traps, CountTheCodeBetweenTwoOfThem) {
  for (const Words& more : {Words{}, Words{"--block-size", "1"}, Words{"--hot-from", "1"}}) {
    const TemporaryFile file("result.json");
    Words options{"--trap", GetParam(), "-e", "instructions,calls,far-branches", "--format", "json", "-o", file.path()};
    options.insert(options.end(), more.begin(), more.end());
    const Finished finished = run(options, {GetParam()});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    const json result = json::parse(file.content().value_or(""), nullptr, false);
    ASSERT_TRUE(result.contains("regions"));
    const json& region = result["regions"][0]["regions"][0];
    EXPECT_EQ(region["region"], GetParam());
    EXPECT_EQ(region["entries"], 2);
    EXPECT_EQ(region["events"][0]["least"], 4);
    EXPECT_EQ(region["events"][0]["most"], 9);  // mov, call, and known(3): 7
    EXPECT_EQ(region["events"][1]["value"], 1);
    EXPECT_EQ(region["events"][2]["value"], 0);  // the traps themselves are not counted
  }
}

TEST_P(Traps, BehaveAsNativelyWithoutTheOption) {
  const bool is_int3 = GetParam() == std::string("int3");
  EXPECT_EQ(run({"-e", "instructions"}, {GetParam()}).code(), 128 + (is_int3 ? SIGTRAP : SIGSEGV));
  EXPECT_EQ(run({"-e", "instructions", "--trap", is_int3 ? "int2e" : "int3"}, {GetParam()}).code(),
            128 + (is_int3 ? SIGTRAP : SIGSEGV));
}

TEST(TrapRegions, AreCountedInCodeThatIsTranslatedAgain) {
  const Finished finished =
      run({"--trap", "int2e", "--rdpmc", "-e", "instructions", "--hot-from", "1", "--format", "csv"}, {"often"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.err.find(",int2e,entries,20000,"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find(",int2e,instructions:u,130000,"), std::string::npos) << finished.err;
}

INSTANTIATE_TEST_SUITE_P(Each, Traps, testing::Values("int2e", "int3"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Refused, WithoutTheEngine) {
  const auto messages = [](const Words& options) {
    Words words{"stat", "--backend", "none"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "true"});
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 125);
    return finished.err;
  };
  EXPECT_NE(messages({"--rdpmc"}).find("`rdpmc` reads what tally counts under the engine only"), std::string::npos);
  EXPECT_NE(messages({"--trap", "int2e"}).find("is a marker under the engine only"), std::string::npos);
  EXPECT_EQ(tally({"stat", "--trap", "int80", "--", "true"}).code(), 2);
}

TEST(Example, HpctoolsHelloBetweenTwoTraps) {
  const Finished finished =
      tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--trap", "int2e", "--", HELLO});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(finished.out, "Hello World!\nGood bye cruel world.\n");
  EXPECT_NE(finished.err.find("\nint2e: 1 entry\n"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace tally::test
