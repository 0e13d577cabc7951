// Cycles of the core model: known answers of whole programs, and what the output says if they are incomplete.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE

using nlohmann::json;

json run(const Words& options, const Words& command, const std::string& model = "haswell") {
  const TemporaryFile file("result.json");
  Words words{"stat", "-q", "--model", model, "--format", "json", "-o", file.path()};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  tally(words, {});
  return json::parse(*file.content(), nullptr, false);
}

json event_of(const json& result, const std::string& name) {
  for (const json& event : result["events"])
    if (event["name"] == name) return event;
  return {};
}

std::string notices_of(const json& result) {
  std::string all;
  for (const json& notice : result["notices"]) all += notice.get<std::string>() + "\n";
  return all;
}

std::string workload(const std::string& name) { return std::string(TALLY_BUILD) + "/workload/" + name; }

// Misses of the last simulated level go to the cycles, wherever a worker or the program's thread simulates it.
TEST(Cycles, are_the_same_with_workers_and_without) {
  const TemporaryFile model("small.model",
                            "model small\nl1i size=4K ways=1 line=64\nl1d size=4K ways=1 line=64\n"
                            "itlb entries=4 ways=4 page=4K\ncore haswell\nprefetch streamer\n"
                            "latency memory=200 walk=30\nline-time memory=20\n");
  std::set<std::int64_t> cycles;
  for (const char* const threads : {"0", "2"}) {
    const json result =
        run({"--repeatable", "--model-threads", threads, "-e", "cycles"}, {"perl", "-e", "1"}, model.path());
    cycles.insert(event_of(result, "cycles:u")["value"].get<std::int64_t>());
  }
  EXPECT_EQ(cycles.size(), 1u);
}

struct Loop {
  const char* program;
  std::int64_t half_cycles;  ///< of a round: twice as many as cycles
};

std::ostream& operator<<(std::ostream& stream, const Loop& loop) { return stream << loop.program; }

class Loops : public testing::TestWithParam<Loop> {};

// As the RDPMC article measured them on that processor; code after a return or an indirect jump continues. The start
// and the end of the program miss every cache: some thousand cycles.
TEST_P(Loops, take_as_long_as_was_measured) {
  const json result = run({"-e", "cycles,ref-cycles,instructions"}, {workload(GetParam().program)});
  const json cycles = event_of(result, "cycles:u");
  EXPECT_EQ(cycles["trust"], "modelled");
  const std::int64_t rounds = 1'000'000 * GetParam().half_cycles / 2;
  EXPECT_GE(cycles["value"].get<std::int64_t>(), rounds);
  EXPECT_LE(cycles["value"].get<std::int64_t>(), rounds + 3000);
  EXPECT_EQ(event_of(result, "ref-cycles:u")["value"], cycles["value"]);
  EXPECT_NE(notices_of(result).find("haswell core"), std::string::npos) << notices_of(result);
}

INSTANTIATE_TEST_SUITE_P(cli, Loops,
                         testing::Values(Loop{"fact5_1000000", 6}, Loop{"fact4_1000000", 6}, Loop{"fact3_1000000", 6},
                                         Loop{"fact5_3nops_1000000", 6}, Loop{"fact5_9nops_1000000", 7},
                                         Loop{"add_1000000", 2}, Loop{"add_add_1000000", 4},
                                         Loop{"add_apart_1000000", 2}, Loop{"add_call_1000000", 4},
                                         Loop{"add_jump_1000000", 2}),
                         [](const auto& one) { return std::string(one.param.program); });

// Two machines that differ only in their core. The multiplication of a round takes 3 cycles on one, 8 on the other.
TEST(Cycles, are_those_of_the_machines_core) {
  for (const auto& [core, of_a_round] : {std::pair{"haswell", 3}, std::pair{"bonnell", 8}}) {
    const TemporaryFile model("mine.model",
                              std::string("model mine\nl1i size=32K ways=8\nl1d size=32K ways=8\ncore ") + core + "\n");
    const json result = run({"-e", "cycles"}, {workload("fact5_1000000")}, model.path());
    const json cycles = event_of(result, "cycles:u");
    EXPECT_EQ(cycles["model"], "mine (" + std::string(core) + " core), fast; error not measured");
    EXPECT_NEAR(cycles["value"].get<double>(), 1'000'000.0 * of_a_round, 3000) << core;
  }
}

// The parts that cycles consist of do not depend on what else is modelled, and the output names them.
TEST(Cycles, are_the_same_whatever_else_is_modelled) {
  // No level includes another: in `full` that would take long.
  const TemporaryFile small("small.model",
                            "model small\nl1d size=8K ways=2\ndtlb entries=4 ways=4\nstlb entries=16 ways=4\n"
                            "core haswell\nlatency memory=100 stlb=7 walk=30 mispredict=15\n");
  const auto cycles = [&](const char* precision, const char* events) {
    const json result = run({"--repeatable", "--precision", precision, "-e", events}, {"/bin/ls", "/"}, small.path());
    EXPECT_NE(notices_of(result).find("cycles come from a model"), std::string::npos);
    return event_of(result, "cycles:u")["value"];
  };
  for (const char* precision : {"fast", "full"})
    EXPECT_EQ(cycles(precision, "cycles"), cycles(precision, "cycles,branch-misses,dTLB-load-misses")) << precision;
}

// A walk of 1 MiB, byte by byte: 16,384 lines and 256 pages.
TEST(Cycles, wait_for_translations_and_not_for_streams) {
  const auto cycles = [](const std::string& machine) {
    const TemporaryFile model("mine.model", "model mine\nl1d size=32K ways=8\ncore haswell\n" + machine);
    const json result = run({"-e", "cycles,dTLB-load-misses"}, {workload("stride_1_1048576")}, model.path());
    return event_of(result, "cycles:u")["value"].get<std::int64_t>();
  };
  const std::int64_t without = cycles(""), translated = cycles("dtlb entries=4 ways=4\nlatency walk=1015\n"),
                     waited = cycles("latency memory=420\n"),
                     streamed = cycles("prefetch streamer\nlatency memory=420\nline-time memory=7\n");
  EXPECT_NEAR(static_cast<double>(waited - without), 16384 * 100, 2000);
  EXPECT_NEAR(static_cast<double>(translated - without), 256 * 250, 10000);
  EXPECT_NEAR(static_cast<double>(streamed - without), 256 * (62 * 2 + 2 * 100), 2000)
      << "a line takes seven cycles, and the loop works for five";
}

// `sort` compares by a call of `memcmp`: a long chain decides each of its branches, which the core `zen5` charges 22
// cycles for if a load alone decides them.
TEST(Cycles, of_mispredictions_depend_on_the_code_after_them) {
  std::string lines;
  std::uint32_t random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 1664525 + 1013904223;
    lines += std::to_string(random) + "\n";
  }
  const TemporaryFile text("lines", lines);
  const json result = run({"-e", "branch-misses,cycles-mispredicts"},
                          {"env", "LC_ALL=C", "sort", "--parallel=1", "-o", "/dev/null", text.path()}, "zen5");
  const auto misses = event_of(result, "branch-misses:u")["value"].get<double>();
  EXPECT_GT(misses, 100'000);
  EXPECT_GT(event_of(result, "cycles-mispredicts:u")["value"].get<double>(), 1.15 * 22 * misses);
}

// Of string instructions, the core knows the kind, and the caches count the bytes.
TEST(Cycles, of_repeated_string_instructions_depend_on_their_length) {
  const TemporaryFile model("mine.model", "model mine\nl1d size=32K ways=8\ncore zen4\n");
  const auto cycles = [&model](const std::string& program) {
    return event_of(run({"-e", "cycles"}, {workload(program)}, model.path()), "cycles:u")["value"].get<double>();
  };
  EXPECT_NEAR(cycles("rep_movsb_1000000") - cycles("rep_movsb_200"), (1'000'000 - 200) / 32.0, 5);
  EXPECT_NEAR(cycles("rep_lodsb_1000000") - cycles("rep_lodsb_200"), 2 * (1'000'000 - 200), 5);
}

// A running program's traces are re-created, and begin at other addresses in the next run: no cycle may depend on it.
TEST(Cycles, are_the_same_however_code_was_cut) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "line " + std::to_string(i * 7919 % 4001) + " of a text\n";
  const TemporaryFile input("text", text);
  const auto cycles = [&](const Words& how) {
    Words options{"--repeatable", "-e", "cycles,instructions"};
    options.insert(options.end(), how.begin(), how.end());
    const json result = run(options, {"/bin/sort", "-r", input.path()});
    return std::pair(event_of(result, "cycles:u")["value"], event_of(result, "instructions:u")["value"]);
  };
  const auto first = cycles({});
  EXPECT_GT(first.first, 1'000'000);
  const Words ways[] = {{},
                        {"--block-size", "1"},
                        {"--block-size", "3"},
                        {"--hot-from", "1"},
                        {"--hot-from", "1", "--block-size", "2"},
                        {"--models-by", "each"}};
  for (const Words& way : ways) EXPECT_EQ(cycles(way), first) << testing::PrintToString(way);
}

// In a first run, traces are created one after the other, and some have other probes than those of later runs. Where
// code is discarded, as by `unmap`, its executions and misses are kept.
TEST(Cycles, are_the_same_with_stored_translations) {
  const std::string rows = TALLY_BUILD "/rows";
  std::map<std::string, double> cycles;
  for (const std::string& program : {rows, rows + " unmap", std::string("/bin/ls /"), std::string("perl -e 1")}) {
    const TemporaryFile file("result.json");
    const auto counts = [&] {
      shell("TALLY_CACHE_DIR=" + file.folder() +
            " " TALLY_COMMAND " stat -q --model zen5 --repeatable --format json -o " + file.path() +
            " -e cycles,L1-dcache-load-misses,branch-misses -- " + program);
      const json result = json::parse(*file.content(), nullptr, false);
      std::map<std::string, double> values;
      for (const json& event : result["events"]) values[event["name"]] = event["value"].get<double>();
      return values;
    };
    const auto first = counts();
    cycles[program] = first.at("cycles:u");
    EXPECT_EQ(counts(), first) << program;
  }
  EXPECT_NEAR(cycles[rows + " unmap"] / cycles[rows], 1, 0.01);
}

TEST(Cycles, of_threads_forks_and_programs_executed_are_added_up) {
  const json one = run({"-e", "cycles,instructions"}, {"/bin/sh", "-c", workload("fact3_1000000")});
  const json two = run({"-e", "cycles,instructions"},
                       {"/bin/sh", "-c", workload("fact3_1000000") + " & " + workload("fact3_1000000") + "; wait"});
  const auto cycles = [](const json& result) { return event_of(result, "cycles:u")["value"].get<std::int64_t>(); };
  EXPECT_EQ(event_of(two, "cycles:u")["trust"], "modelled") << event_of(two, "cycles:u");
  EXPECT_GT(cycles(two) - cycles(one), 3'000'000);
  EXPECT_LT(cycles(two) - cycles(one), 3'200'000);  // another fork, and what the shell does for it
}

// The core model runs when the process ends.
TEST(Cycles, of_code_that_was_unmapped_or_changed_are_its_own) {
  const auto cycles = [](const char* how) {
    const json result = run({"-e", "cycles"}, {CHANGING, how});
    EXPECT_EQ(notices_of(result).find("no timing data"), std::string::npos) << how;
    return event_of(result, "cycles:u")["value"].get<double>();
  };
  const double without = cycles("nothing");
  for (const char* how : {"unmap", "move", "replace", "move_onto", "attach", "detach", "empty", "protect", "rewrite"})
    EXPECT_NEAR(cycles(how) - without, 1'000'000, 50'000) << how;
  EXPECT_NEAR(cycles("line") - without, 3'000'000, 50'000);
}

TEST(Cycles, of_a_program_that_was_killed_say_so) {
  const json result = run({"-e", "cycles,instructions"}, {"/bin/sh", "-c", "kill -9 $$"});
  EXPECT_EQ(event_of(result, "cycles:u")["trust"], "partial");
  const std::string reason = event_of(result, "cycles:u")["reason"];
  EXPECT_TRUE(reason.starts_with("the core model saw 0 % of the instructions")) << reason;
}

// The core model runs when the process ends, on the code of all threads together.
TEST(Cycles, of_one_of_several_threads_are_absent) {
  const json result = run({"-e", "cycles,instructions", "--per-thread"}, {PROFILED, "threads"});
  EXPECT_EQ(event_of(result, "cycles:u")["trust"], "modelled");
  ASSERT_GT(result["threads"].size(), 1u);
  for (const json& thread : result["threads"]) EXPECT_EQ(event_of(thread, "cycles:u")["trust"], "absent") << thread;
}

TEST(Cycles, report_the_share_without_timing_data) {
  const TemporaryFile model("mine.model", "model mine\nl1i size=32K ways=8\nl1d size=32K ways=8\ncore bonnell\n");
  const json result = run({"-e", "cycles"}, {"/bin/true"}, model.path());
  EXPECT_NE(notices_of(result).find(" of executed instructions have no timing data"), std::string::npos)
      << notices_of(result);
}

#endif

}  // namespace
}  // namespace tally::test
