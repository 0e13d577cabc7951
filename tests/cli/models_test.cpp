// Machine models: known answers, both ways to run the models compared on real programs, and the notices.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tally/core/base/full_run_testing.hpp"
#include "tests/cli/modelled.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE

constexpr const char* all_events =
    "branch-misses,conditional-branch-misses,indirect-branch-misses,return-misses,L1-dcache-load-misses,"
    "L1-dcache-store-misses,L1-icache-load-misses,L2-references,L2-misses,cache-references,cache-misses,LLC-loads,"
    "LLC-load-misses,LLC-stores,LLC-store-misses,dTLB-load-misses,dTLB-store-misses,iTLB-load-misses";

/// Nothing after the first levels changes them, so generated code probes them in `full`, too; and nothing fits.
constexpr const char* tight =
    "model tight\nl1i size=4K ways=2 line=64\nl1d size=2K ways=2 line=64\nl2 size=16K ways=4 line=64\n"
    "llc size=128K ways=8 line=64\nitlb entries=8 ways=2 page=4K\ndtlb entries=8 ways=2 page=4K\n"
    "stlb entries=32 ways=4 page=4K\n";

// --- known answers ---------------------------------------------------------------------------------------------------

struct Walk {
  const char* program;
  std::int64_t misses;
};

class Walks : public testing::TestWithParam<Walk> {};

// A walk over A bytes with stride s, s times: A·min(s, 64)/64 misses if A exceeds the cache.
TEST_P(Walks, miss_what_can_be_counted_by_hand) {
  const Modelled walk = run_modelled({"--model", "haswell", "-e", "L1-dcache-load-misses,L1-dcache-store-misses"},
                                     {workload(GetParam().program)});
  EXPECT_EQ(walk.values.at("L1-dcache-load-misses:u"), GetParam().misses);
}
INSTANTIATE_TEST_SUITE_P(cli, Walks,
                         testing::Values(Walk{"stride_1_1048576", 16384}, Walk{"stride_1024_1048576", 1048576},
                                         Walk{"stride_64_4096", 64}, Walk{"rep_movsb_1000000", 15625},
                                         Walk{"loop_movsb_1000000", 15625}, Walk{"rep_cmpsw_1000000", 62500},
                                         Walk{"rep_lodsw_1000000", 31250}, Walk{"rep_stosb_1000000", 0}),
                         [](const auto& walk) { return std::string(walk.param.program); });

// One megabyte in steps of a kilobyte, 1,024 times: 1,024 lines again and again, which map to 32 of L2's 512 sets and
// fit into the last level.
TEST(Models, loads_are_distinguished_by_the_level_that_held_them) {
  const Modelled walk =
      run_modelled({"--model", "haswell", "-e",
                    "loads,L1-load-hits,L1-dcache-load-misses,L2-load-hits,L2-load-misses,LLC-load-hits,"
                    "LLC-load-misses,L1-icache-loads,instructions"},
                   {workload("stride_1024_1048576")});
  EXPECT_EQ(walk.values.at("loads:u"), 1048576);
  EXPECT_EQ(walk.values.at("L1-load-hits:u"), 0);
  EXPECT_EQ(walk.values.at("L2-load-hits:u"), 0);
  EXPECT_EQ(walk.values.at("L2-load-misses:u"), 1048576);
  EXPECT_EQ(walk.values.at("LLC-load-hits:u"), 1048576 - 1024);
  EXPECT_EQ(walk.values.at("LLC-load-misses:u"), 1024);
  EXPECT_EQ(walk.values.at("L1-icache-loads:u"), walk.values.at("instructions:u"));
  const Modelled small =
      run_modelled({"--model", "haswell", "-e", "L1-load-hits,L2-load-hits"}, {workload("stride_64_4096")});
  EXPECT_EQ(small.values.at("L1-load-hits:u"), 4096 - 64);
}

// The event codes of the article and of HPCTool, on the article's processor.
TEST(Models, intels_codes_of_loads_and_requests_are_counted) {
  const Modelled walk =
      run_modelled({"--model", "haswell", "-e",
                    "r81d0,r82d0,r01d1,r02d1,r04d1,r08d1,r10d1,r20d1,r40d1,r4124,r2124,rc124,r412e,r4f2e,r01c2"},
                   {workload("stride_1024_1048576")});
  const std::map<std::string, std::int64_t> expected = {
      {"r81d0:u", 1048576},        {"r82d0:u", 0},       {"r01d1:u", 0},       {"r02d1:u", 0},
      {"r04d1:u", 1048576 - 1024}, {"r08d1:u", 1048576}, {"r10d1:u", 1048576}, {"r4124:u", 0},
      {"r2124:u", 1048576},        {"r20d1:u", 1024},    {"rc124:u", 0}};
  for (const auto& [name, value] : expected) EXPECT_EQ(walk.values.at(name), value) << name;
  // With the lines of code: two or three.
  EXPECT_NEAR(static_cast<double>(walk.values.at("r412e:u")), 1025, 3);
  EXPECT_NEAR(static_cast<double>(walk.values.at("r4f2e:u")), 1048577, 3);
  EXPECT_EQ(walk.events.at("r81d0:u")["trust"], "modelled");
  EXPECT_TRUE(holds(walk.events.at("r40d1:u")["reason"], "no fill buffers"));
  EXPECT_EQ(walk.values.count("r01c2:u"), 0U);
  EXPECT_TRUE(holds(walk.notices, "it is not an L3 cache miss")) << walk.notices;
  // A notice that concerns many events is printed once, on the processors of every vendor.
  const Modelled registers =
      run_modelled({"--model", "haswell", "-e", "0x4181d0,0x4182d0,0x4101d1"}, {workload("stride_64_4096")});
  EXPECT_TRUE(holds(registers.notices, "0x4181d0, 0x4182d0, 0x4101d1: EN")) << registers.notices;
}

TEST(Models, a_loop_that_is_taken_a_million_times_is_learnt) {
  const Modelled loop =
      run_modelled({"--model", "haswell", "-e", "branch-misses,L1-icache-load-misses,conditional-branches"},
                   {workload("countdown_1000000")});
  EXPECT_EQ(loop.values.at("conditional-branches:u"), 1000000);
  EXPECT_EQ(loop.values.at("branch-misses:u"), 2) << "the first branch, and the last one, which falls through";
  EXPECT_EQ(loop.values.at("L1-icache-load-misses:u"), 1);
}

// An indirect jump to two targets in turn, and one that is each branch of its program.
TEST(Models, indirect_jumps_in_a_pattern_are_learnt) {
  const char* const events = "branch-misses,indirect-branch-misses,conditional-branches,indirect-jumps";
  for (const Words& how : {Words{"--model-threads", "0"}, Words{"--model-threads", "2"}, Words{"--block-size", "1"}}) {
    Words options{"--model", "haswell", "--models-by", "both", "-e", events};
    options.insert(options.end(), how.begin(), how.end());
    for (const auto& [program, conditional] :
         {std::pair{"add_alternate_1000000", 1'000'000}, std::pair{"add_threaded_1000000", 0}}) {
      const Modelled jumps = run_modelled(options, {workload(program)});
      EXPECT_EQ(jumps.values.at("conditional-branches:u"), conditional) << program;
      EXPECT_EQ(jumps.values.at("indirect-jumps:u"), 1'000'000) << program;
      EXPECT_LE(jumps.values.at("indirect-branch-misses:u"), 20) << program;
      EXPECT_LE(jumps.values.at("branch-misses:u"), 30) << program;
      EXPECT_TRUE(holds(jumps.notices, "the plain models agree")) << program << jumps.notices;
    }
  }
}

TEST(Models, a_prefetcher_works_when_it_is_asked_for) {
  const Words walk{workload("stride_1_1048576")};
  const Modelled without = run_modelled({"--model", "haswell", "-e", "L2-misses"}, walk);
  const Modelled with = run_modelled({"--model", "haswell", "--prefetch", "on", "-e", "L2-misses"}, walk);
  EXPECT_EQ(without.values.at("L2-misses:u"), 16385);
  EXPECT_LT(with.values.at("L2-misses:u"), 1500);
  EXPECT_TRUE(holds(with.notices, "with its prefetchers")) << with.notices;
}

// --- generated code and the plain models -----------------------------------------------------------------------------

struct RealProgram {
  const char* name;
  Words command;
  std::string input = {};
};

std::string rows() {
  std::string script = "create table t(a, b, c);\n";
  for (int i = 0; i < 400; ++i)
    script += "insert into t values(" + std::to_string(i * 7919 % 1000) + ", 'row " + std::to_string(i) + "', 0.5);\n";
  return script + "create index i on t(a); select count(*), sum(a) from t where b like '%7%' group by a % 10;\n";
}

std::string text() {
  std::string made;
  for (std::uint64_t i = 1; made.size() < 60000; ++i)
    made += std::to_string(i * 6364136223846793005u % 9973) + (i % 7 == 0 ? "\n" : " word ");
  return made;
}

class Comparison : public testing::TestWithParam<RealProgram> {};

TEST_P(Comparison, finds_no_difference_whatever_the_size_of_blocks) {
  const RealProgram& real = GetParam();
  if (access(real.command.front().c_str(), X_OK) != 0) GTEST_SKIP() << "no " << real.command.front();
  std::map<std::string, std::int64_t> first;
  std::vector<Words> ways{{"--block-size", "1"}, {"--hot-from", "1"}};  // re-translates everything that ran once
  if (is_full_run()) ways.insert(ways.end(), {{"--block-size", "0"}, {"--block-size", "100"}});
  for (const Words& way : ways) {
    Words options{"--model", "haswell", "--models-by", "both", "-e", all_events};
    options.insert(options.end(), way.begin(), way.end());
    Modelled result = run_modelled(options, real.command, real.input);
    // Just after a full second the vdso takes another path, and xz and gzip ask for the time. So the reference values
    // are those that two runs agree on.
    for (int again = 0; again < 3 && first.empty(); ++again) {
      const Modelled other = run_modelled(options, real.command, real.input);
      if (other.values == result.values) break;
      result = other;
    }
    for (int again = 0; again < 2 && !first.empty() && result.values != first; ++again)
      result = run_modelled(options, real.command, real.input);
    const std::string& block = way.back();
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(holds(result.notices, "the plain models agree")) << block << ": " << result.notices;
    if (first.empty()) first = result.values;
    EXPECT_EQ(result.values, first) << block;
    EXPECT_GT(result.values.at("cache-misses:u"), 0);
  }
}

TEST_P(Comparison, finds_no_difference_in_full) {
  const RealProgram& real = GetParam();
  if (access(real.command.front().c_str(), X_OK) != 0) GTEST_SKIP() << "no " << real.command.front();
  const TemporaryFile model("tight.model", tight);
  for (const Words& way : {Words{"--hot-from", "1", "--model-threads", "0"}, Words{"--block-size", "3"}}) {
    Words options{"--model", model.path(), "--precision", "full", "--models-by", "both", "-e", all_events};
    options.insert(options.end(), way.begin(), way.end());
    const Modelled result = run_modelled(options, real.command, real.input);
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(holds(result.notices, "the plain models agree")) << way.back() << ": " << result.notices;
    EXPECT_GT(result.values.at("iTLB-load-misses:u"), 100);
    EXPECT_GT(result.values.at("dTLB-store-misses:u"), 1000);
    EXPECT_EQ(result.events.at("branch-misses:u")["model"], "TAGE, full");
  }
}
INSTANTIATE_TEST_SUITE_P(
    cli, Comparison,
    testing::Values(RealProgram{"bzip2", {"/usr/bin/bzip2", "-c"}, text()},
                    RealProgram{"xz", {"/usr/bin/xz", "-T1", "-0", "-c"}, text()},
                    RealProgram{"gzip", {"/usr/bin/gzip", "-c"}, text()},
                    RealProgram{"sqlite3", {"/usr/bin/sqlite3", ":memory:"}, rows()},
                    RealProgram{"perl", {"/usr/bin/perl", "-e", "print join ',', map { $_ ** 2 } 1..300"}}),
    [](const auto& real) { return std::string(real.param.name); });

TEST(Models, the_plain_models_alone_count_the_same) {
  const Words command{"/bin/ls", "/"};
  const Modelled fast = run_modelled({"--model", "haswell", "-e", all_events}, command);
  const Modelled plain = run_modelled({"--model", "haswell", "--models-by", "each", "-e", all_events}, command);
  EXPECT_EQ(fast.values, plain.values);
}

TEST(Models, a_forked_child_and_a_shell_are_simulated_too) {
  const TemporaryFile model("tight.model", tight);
  for (const std::string precision : {"fast", "full"}) {
    const Modelled result = run_modelled({"--model", model.path(), "--precision", precision, "--models-by", "both",
                                          "-e", "cache-misses,branch-misses,dTLB-load-misses"},
                                         {"/bin/sh", "-c", "(echo a; /bin/true) | cat >/dev/null; exit 3"});
    EXPECT_EQ(result.code, 3);
    EXPECT_TRUE(holds(result.notices, "the plain models agree")) << precision << result.notices;
  }
}

TEST(Models, each_part_alone_counts_the_same_as_with_the_others) {
  const TemporaryFile model("tight.model", tight);
  const Words command{workload("stride_1024_1048576")};
  const Words options{"--model", model.path(), "--precision", "full", "-e"};
  const auto asked = [&](const char* events) {
    Words words = options;
    words.emplace_back(events);
    return run_modelled(words, command);
  };
  const Modelled all = asked(all_events);
  for (const char* events : {"branch-misses", "dTLB-load-misses,dTLB-store-misses", "iTLB-load-misses",
                             "L1-dcache-load-misses,L1-dcache-store-misses", "L1-icache-load-misses"}) {
    for (const auto& [name, value] : asked(events).values) EXPECT_EQ(value, all.values.at(name)) << name;
  }
  EXPECT_EQ(all.values.at("dTLB-load-misses:u") / 1000, 262) << "1,048,576 loads, a page for every four";
}

// --- modelled events and their notices -------------------------------------------------------------------------------

TEST(Models, exact_counts_are_the_same_with_and_without) {
  const Words command{"/bin/ls", "/"};
  constexpr const char* exact = "instructions,branches,conditional-taken,loads,stores";
  const Modelled without = run_modelled({"--backend", "engine", "-e", exact}, command);
  const Modelled with =
      run_modelled({"--model", "haswell", "-e", std::string(exact) + ",branch-misses,cache-misses"}, command);
  for (const auto& [name, value] : without.values) EXPECT_EQ(with.values.at(name), value) << name;
}

TEST(Models, each_number_names_its_model_and_precision) {
  const Modelled fast =
      run_modelled({"--model", "haswell", "-e", "branch-misses,cache-misses,dTLB-load-misses"}, {"/bin/true"});
  EXPECT_EQ(fast.events.at("branch-misses:u")["trust"], "modelled");
  EXPECT_EQ(fast.events.at("branch-misses:u")["model"], "TAGE, fast");
  EXPECT_EQ(fast.events.at("cache-misses:u")["model"], "haswell caches, fast");
  EXPECT_EQ(fast.events.at("dTLB-load-misses:u")["model"], "haswell TLBs, fast");
  EXPECT_TRUE(holds(fast.notices, "model haswell (Intel Xeon E5-1620 v3")) << fast.notices;
  const Modelled full =
      run_modelled({"--model", "haswell", "--precision", "full", "-e", "branch-misses"}, {"/bin/true"});
  EXPECT_EQ(full.events.at("branch-misses:u")["model"], "TAGE, full");
  EXPECT_FALSE(holds(full.notices, "TLBs")) << full.notices;
  const Modelled cycles = run_modelled({"--model", "haswell", "--precision", "full", "-e", "cycles"}, {"/bin/true"});
  EXPECT_TRUE(holds(cycles.notices, "; TLBs 128 + 64 + 1,024; ")) << cycles.notices;
  EXPECT_EQ(full.values.at("branch-misses:u"), fast.values.at("branch-misses:u")) << "both have the same predictors";
}

TEST(Models, the_kernels_counts_are_absent) {
  const Modelled result =
      run_modelled({"--model", "haswell", "-e", "cache-misses:k,cache-misses:uk,branch-misses"}, {"/bin/true"});
  EXPECT_EQ(result.events.at("cache-misses:k")["trust"], "absent");
  EXPECT_TRUE(result.events.at("cache-misses:k")["value"].is_null());
  EXPECT_EQ(result.events.at("cache-misses:uk")["trust"], "partial");
}

TEST(Models, of_the_user_are_read_from_a_file) {
  const TemporaryFile file("small.model", "model small\nl1d size=4K ways=2 line=64\n");
  const Modelled result =
      run_modelled({"--model", file.path(), "-e", "L1-dcache-load-misses,L1-icache-load-misses,cache-misses"},
                   {workload("stride_64_4096")});
  EXPECT_EQ(result.values.at("L1-dcache-load-misses:u"), 64);
  EXPECT_EQ(result.events.at("cache-misses:u")["trust"], "absent");
  EXPECT_EQ(result.events.at("L1-icache-load-misses:u")["reason"], "the machine model small has no instruction cache");
}

TEST(Models, of_the_user_without_a_core_have_no_cycles) {
  const TemporaryFile file("small.model", "model small\nl1d size=4K ways=2 line=64\n");
  const Words options{"--model", file.path(), "-e", "cycles,ref-cycles,L1-dcache-load-misses"};
  const Modelled result = run_modelled(options, {workload("stride_64_4096")});
  EXPECT_EQ(result.code, 0);
  for (const char* name : {"cycles:u", "ref-cycles:u"}) {
    EXPECT_EQ(result.events.at(name)["trust"], "absent");
    EXPECT_EQ(result.events.at(name)["reason"],
              "the machine model small has no core, whose latencies determine cycles (cores are haswell, skylake, "
              "icelake-server, sapphire-rapids, zen2, zen3, zen4, zen5, bonnell)");
  }
  EXPECT_EQ(result.values.at("L1-dcache-load-misses:u"), 64);
  EXPECT_FALSE(holds(result.notices, "core")) << result.notices;
  const Modelled alone = run_modelled({"--model", file.path(), "-e", "cycles,instructions"}, {"/bin/true"});
  EXPECT_EQ(alone.events.at("cycles:u")["trust"], "absent");
  EXPECT_EQ(alone.events.at("instructions:u")["trust"], "exact");
  EXPECT_FALSE(holds(alone.notices, "model")) << alone.notices;
}

TEST(Models, whose_first_level_generated_code_cannot_probe_are_called_each_time) {
  const TemporaryFile file("odd.model", "model odd\nl1d size=4800 ways=3 line=64\n");  // 25 sets
  const Modelled result =
      run_modelled({"--model", file.path(), "-e", "L1-dcache-load-misses"}, {workload("stride_64_4096")});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.values.at("L1-dcache-load-misses:u"), 64);
}

TEST(Models, of_one_level_with_twelve_ways_count_the_same) {
  const TemporaryFile file("wide.model", "model wide\nl1i size=4K ways=2 line=64\nl1d size=48K ways=12 line=64\n");
  const Modelled result = run_modelled({"--model", file.path(), "--models-by", "both", "-e",
                                        "L1-dcache-load-misses,L1-dcache-store-misses,L1-icache-load-misses"},
                                       {"/usr/bin/perl", "-e", "print join ',', map { $_ ** 2 } 1..300"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(holds(result.notices, "the plain models agree")) << result.notices;
  EXPECT_GT(result.values.at("L1-icache-load-misses:u"), 10000);
}

TEST(Models, with_only_a_second_level_of_tlbs_count_the_same) {
  // Each access of a kind without a first level changes the second level.
  for (const char* first : {"itlb entries=8 ways=2 page=4K\n", "dtlb entries=8 ways=2 page=4K\n", ""}) {
    const TemporaryFile file(
        "half.model", std::string("model half\nl1i size=4K ways=2 line=64\nl1d size=4K ways=2 line=64\n") + first +
                          "stlb entries=32 ways=4 page=4K\ncore haswell\nlatency stlb=7 walk=30\n");
    const Words options{"--model", file.path(), "--precision", "full", "-e", "cycles,iTLB-load-misses"};
    Words each = options;
    each.insert(each.end(), {"--models-by", "each"});
    const auto values = run_modelled(options, {"/bin/ls", "/"}).values;
    EXPECT_EQ(values, run_modelled(each, {"/bin/ls", "/"}).values) << first;
    EXPECT_GT(values.at("cycles:u"), 100000) << first;
  }
}

TEST(Models, of_tables_with_one_way_count_string_instructions_the_same) {
  // If both ends of a move map to the same set, each element evicts the other's line or page.
  for (const char* levels :
       {"l1d size=1K ways=1 line=64\n", "l1d size=4K ways=2 line=64\ndtlb entries=1 ways=1 page=4K\n",
        "l1d size=4K ways=2 line=64\ndtlb entries=2 ways=1 page=4K\n"}) {
    const TemporaryFile file("narrow.model", std::string("model narrow\n") + levels);
    const bool pages = std::string_view(levels).find("dtlb") != std::string_view::npos;
    const Modelled result = run_modelled({"--model", file.path(), "--models-by", "both", "-e",
                                          pages ? "dTLB-load-misses,dTLB-store-misses" : "L1-dcache-load-misses"},
                                         {std::string(TALLY_BUILD) + "/programs/strings"});
    EXPECT_TRUE(holds(result.notices, "the plain models agree")) << levels << result.notices;
  }
}

TEST(Models, without_events_a_few_of_the_models_events_are_shown) {
  const Finished finished = tally({"stat", "-q", "--model", "haswell", "--", "true"});
  EXPECT_EQ(finished.code(), 0);
  for (const char* name : {"instructions:u", "branch-misses:u", "cache-misses:u", "duration_time"})
    EXPECT_TRUE(holds(finished.err, name)) << finished.err;
  EXPECT_FALSE(holds(tally({"stat", "-q", "--backend", "engine", "--", "true"}).err, "model"));
}

TEST(Models, threads_have_a_first_level_each) {
  const Modelled result = run_modelled({"--model", "haswell", "--models-by", "both", "--llc", "private", "-e",
                                        "L1-dcache-load-misses,cache-misses,branch-misses"},
                                       {std::string(TALLY_BUILD) + "/programs/threads"});
  EXPECT_TRUE(holds(result.notices, "the plain models agree")) << result.notices;
  EXPECT_FALSE(holds(result.notices, "share the last-level cache")) << result.notices;
}

TEST(Models, workers_count_the_same_as_the_programs_threads) {
  const TemporaryFile model("tight.model", tight);
  for (const std::string program : {"threads", "processes", "exec_thread", "clone3", "second_thread"}) {
    const Words command{std::string(TALLY_BUILD) + "/programs/" + program};
    for (const char* threads : {"0", "1", "4"}) {
      for (const std::string precision : {"fast", "full"}) {
        const Modelled result = run_modelled({"--model", model.path(), "--precision", precision, "--models-by", "both",
                                              "--llc", "private", "--model-threads", threads, "-e", all_events},
                                             command);
        EXPECT_TRUE(holds(result.notices, "the plain models agree"))
            << program << threads << precision << result.notices;
      }
    }
  }
  const Words walk{workload("stride_1024_1048576")};
  const Modelled own = run_modelled({"--model", "haswell", "--model-threads", "2", "-e", all_events}, walk);
  const Modelled programs = run_modelled({"--model", "haswell", "--model-threads", "0", "-e", all_events}, walk);
  EXPECT_EQ(own.values, programs.values);
  EXPECT_GT(own.values.at("L2-misses:u"), 1'000'000);
}

TEST(Models, a_program_continues_if_its_predictor_is_not_released) {
  TemporaryFile flag("waits", "");
  Running running({TALLY_COMMAND, "stat", "--backend", "engine", "--model", "haswell", "--model-threads", "1", "-e",
                   "branch-misses,L1-dcache-load-misses", "--", WORKERS, "later", flag.path()});
  ASSERT_TRUE(running.wait_for_output("ready"));
  running.signal(SIGKILL);
  ASSERT_EQ(unlink(flag.path().c_str()), 0);
  EXPECT_TRUE(running.wait_for_output("done"));
}

TEST(Models, what_a_killed_program_offloaded_is_counted) {
  const Modelled killed =
      run_modelled({"--model", "haswell", "--model-threads", "2", "-e", "L1-dcache-load-misses"},
                   {"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; kill -9 $$"});
  EXPECT_EQ(killed.code, 137);
  EXPECT_GT(killed.values.at("L1-dcache-load-misses:u"), 100);
}

/// A shell's work, for which the ring buffers are too small.
constexpr const char* work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; ";

bool appears(const std::string& path) {
  for (const auto end = std::chrono::steady_clock::now() + longest_wait; std::chrono::steady_clock::now() < end;) {
    if (access(path.c_str(), F_OK) == 0) return true;
    usleep(10'000);
  }
  return false;
}

// The sites are steady, irregular and steady again, with registers to spare for cache probes, and none for access
// records.
TEST(Models, accesses_that_become_irregular_count_the_same) {
  // With TLBs there are more access records, so that the code asks for room more often.
  const std::string with_tlbs = "L1-dcache-load-misses,L1-icache-load-misses,dTLB-load-misses";
  for (const std::string& events : {std::string("L1-dcache-load-misses"), with_tlbs}) {
    for (const char* threads : {"0", "2"}) {
      const Modelled result = run_modelled(
          {"--model", "haswell", "--model-threads", threads, "--hot-from", "1", "--models-by", "both", "-e", events},
          {std::string(TALLY_BUILD) + "/programs/restless"});
      EXPECT_EQ(result.code, 0) << events << threads;
      EXPECT_TRUE(holds(result.notices, "the plain models agree")) << events << threads << result.notices;
    }
  }
}

// The models probe tables and code is re-created while the program has these flags set.
TEST(Models, a_program_may_have_the_direction_flag_and_the_alignment_check_set) {
  const TemporaryFile model("tight.model", tight);
  for (const char* precision : {"fast", "full"}) {
    for (const char* threads : {"0", "2"}) {
      for (const char* by : {"both", "each"}) {
        const Modelled result = run_modelled({"--model", model.path(), "--precision", precision, "--model-threads",
                                              threads, "--hot-from", "1", "--models-by", by, "-e", all_events},
                                             {std::string(TALLY_BUILD) + "/programs/own_flags"});
        EXPECT_EQ(result.code, 0) << precision << threads << by;
        EXPECT_FALSE(holds(result.notices, "the plain models differ")) << precision << result.notices;
      }
    }
  }
}

// Tables of zeros would claim that the first line and the first page were accessed last.
TEST(Models, the_first_page_is_missed_when_it_is_accessed_first) {
  const TemporaryFile file("direct.model",
                           "model direct\nl1d size=16K ways=1 line=64\ndtlb entries=64 ways=1 page=4K\n");
  for (const char* event : {"L1-dcache-load-misses", "dTLB-load-misses"}) {
    const auto misses = [&](const char* page) {
      const Modelled result = run_modelled({"--model", file.path(), "--models-by", "both", "-e", event},
                                           {std::string(TALLY_BUILD) + "/programs/first_page", page});
      EXPECT_EQ(result.code, 0);
      EXPECT_TRUE(holds(result.notices, "the plain models agree")) << event << result.notices;
      return result.values.at(std::string(event) + ":u");
    };
    // The stack's address is random, and sometimes collides.
    const auto least = [&](const char* page) {
      auto found = misses(page);
      for (int i = 0; i < 9; ++i) found = std::min(found, misses(page));
      return found;
    };
    EXPECT_EQ(least("0"), least("6")) << event;
  }
}

TEST(Models, a_program_continues_if_no_worker_reads_its_access_records) {
  const TemporaryFile left_over("left_behind"), orphaned("orphaned");
  for (const TemporaryFile* file : {&left_over, &orphaned}) unlink(file->path().c_str());
  const Words options{"stat", "-q", "--model",      "haswell", "--model-threads",
                      "1",    "-e", "cache-misses", "--",      "/bin/sh"};
  Words leaves = options, kills = options;
  leaves.insert(leaves.end(),
                {"-c", "(trap '' HUP; sleep 1; " + std::string(work) + ": > " + left_over.path() + ") &"});
  kills.insert(kills.end(), {"-c", "kill -9 $PPID; " + std::string(work) + ": > " + orphaned.path()});
  EXPECT_EQ(tally(leaves).code(), 0);
  EXPECT_TRUE(appears(left_over.path()));
  (void)tally(kills);
  EXPECT_TRUE(appears(orphaned.path()));
}

TEST(Models, the_plain_models_are_not_compared_while_a_process_runs) {
  const Modelled left = run_modelled({"--model", "haswell", "--models-by", "both", "-e", "L1-dcache-load-misses"},
                                     {"/bin/sh", "-c", "sleep 1000 >/dev/null 2>&1 &"});
  EXPECT_TRUE(holds(left.notices, "the plain models agree")) << left.notices;
  const std::string living = "sleep (";
  const std::size_t at = left.notices.find(living);
  ASSERT_NE(at, std::string::npos) << left.notices;
  kill(std::stoi(left.notices.substr(at + living.size())), SIGKILL);
}

TEST(Models, a_last_level_that_threads_share_is_reported_to_depend_on_chance) {
  const Words options{"--model", "haswell", "-e", "cache-misses"};
  EXPECT_TRUE(holds(run_modelled(options, {std::string(TALLY_BUILD) + "/programs/threads"}).notices,
                    "share the last-level cache"));
  EXPECT_FALSE(holds(run_modelled(options, {"/bin/true"}).notices, "share the last-level cache"));
}

#endif

TEST(Models, what_does_not_exist_is_reported) {
  const Finished unknown = tally({"stat", "--model", "pentium", "--", "true"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_TRUE(holds(unknown.err, "there is no machine model 'pentium'")) << unknown.err;
  EXPECT_TRUE(holds(unknown.err, "host, haswell")) << unknown.err;
  const Finished file = tally({"stat", "--model", "/nonexistent/x.model", "--", "true"});
  EXPECT_EQ(file.code(), 2);
  EXPECT_TRUE(holds(file.err, "/nonexistent/x.model")) << file.err;
  const Finished native = tally({"stat", "--model", "haswell", "--backend", "none", "--", "true"});
  EXPECT_EQ(native.code(), 2);
  EXPECT_TRUE(holds(native.err, "--model needs the engine")) << native.err;
}

}  // namespace
}  // namespace tally::test
