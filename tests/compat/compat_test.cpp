// Programs that are marked for LIKWID, PAPI and ITT: their regions under the engine.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

struct Ran {
  std::string out, err;
  std::map<std::string, json> regions;
  json process;
};

Ran run(const Words& program, const Words& variables = {}) {
  const TemporaryFile file("result.json");
  Words words{"/usr/bin/env", "LD_LIBRARY_PATH=" BUILT "/compat:" BUILT, "TALLY_EVENTS=instructions,branches"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.insert(words.end(), {TALLY_COMMAND, "stat", "-q", "--backend", "engine", "-e", "instructions,branches", "-o",
                             file.path(), "--"});
  words.insert(words.end(), program.begin(), program.end());
  const Finished finished = Running(words).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  Ran ran{finished.out, finished.err, {}, {}};
  const json all = json::parse(file.content().value_or("{}"));
  for (const json& one : all.value("regions", json::array())) {
    ran.process = one;
    for (const json& region : one.at("regions")) ran.regions[region.at("region")] = region;
  }
  return ran;
}

std::int64_t count(const json& counts, std::size_t event = 0) {
  EXPECT_EQ(counts.at("events").at(event).at("trust"), "exact") << counts;
  return counts.at("events").at(event).at("value").get<std::int64_t>();
}

TEST(Likwid, RegionsCountAsThoseOfTally) {
  const Ran ran = run({MARKED_FOR_LIKWID});
  ASSERT_TRUE(ran.regions.contains("inner")) << ran.out << ran.err;
  const json &inner = ran.regions.at("inner"), &own = ran.regions.at("tally's own");
  EXPECT_EQ(inner.at("entries"), 3);
  // The program passes one argument; the library's jump into tally's begin and its return are three instructions.
  const std::int64_t more = count(inner) - 3 * count(own);
  EXPECT_GE(more, 0);
  EXPECT_LE(more, 3 * 12) << inner << own;
  EXPECT_LE(count(inner, 1) - 3 * count(own, 1), 3 * 4);
  // A region around it contains the clock that is read for the time; the first entry also the memory for it.
  const auto least = [](const json& region) { return region.at("events").at(0).at("least").get<std::int64_t>(); };
  const json& outer = ran.regions.at("outer");
  EXPECT_GT(least(outer), least(inner));
  EXPECT_LT(least(outer), least(inner) + 2000);
}

TEST(Likwid, CountsThatTheProgramReads) {
  const Ran ran = run({MARKED_FOR_LIKWID});
  EXPECT_TRUE(
      holds(ran.out, "inner: 2 events, " + std::to_string(count(ran.regions.at("inner"))) + ", 3 entries, some time\n"))
      << ran.out;
  // Of the calling thread only.
  std::int64_t first = 0;
  for (const json& thread : ran.regions.at("team").at("threads"))
    if (thread.at("tid") == ran.process.at("pid")) first = count(thread);
  EXPECT_GT(first, 0);
  EXPECT_TRUE(holds(ran.out, "team: 2 events, " + std::to_string(first) + ", 1 entries, some time\n")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "never entered: 2 events, 0, 0 entries, no time\n")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "emptied: 2 events, 0, 0 entries, no time\n")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "unknown: 1\n")) << ran.out;
  EXPECT_EQ(ran.regions.at("emptied").at("entries"), 0);
}

TEST(Likwid, ProgramsAskForProcessorsAndEvents) {
  const Ran ran = run({MARKED_FOR_LIKWID});
  EXPECT_TRUE(holds(ran.out, "pinned: 1, 1, processor 1 of 1\nnot pinned: 0, 0\n")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "event 0: instructions:u\nevent 1: branches:u\nno event: ''\n")) << ran.out;
}

TEST(Likwid, ResultsOfAllRegionsAndThreads) {
  const Ran ran = run({MARKED_FOR_LIKWID});
  const auto expect = [&](const std::string& text) { EXPECT_TRUE(holds(ran.out, text)) << text << ran.out; };
  const auto result = [](const json& of, const std::string& name, int thread) {
    return "result of " + name + " in thread " + std::to_string(thread) + ": " +
           std::to_string(of.at("entries").get<int>()) + " entries, some time, 2 events, " + std::to_string(count(of)) +
           "\n";
  };
  // "tally's own" is one, "emptied" has no entries.
  expect("regions: 4, 0 metrics\n");
  expect(result(ran.regions.at("outer"), "outer", 0));
  expect(result(ran.regions.at("inner"), "inner", 0));
  for (const json& thread : ran.regions.at("team").at("threads")) {
    const int number = TALLY_HAS_OPENMP ? thread.at("openmp_thread").get<int>() : 0;
    expect(result(thread, "team", number));
    if (number == 0) expect("last: " + std::to_string(count(thread)) + " of group Custom, absent: nan\n");
  }
  expect("after that: 0\n");
}

TEST(Likwid, ThreadsHaveTheirOpenMpNumbers) {
  if (!TALLY_HAS_OPENMP) GTEST_SKIP() << "the compiler has no OpenMP";
  const Ran ran = run({MARKED_FOR_LIKWID}, {"OMPI_COMM_WORLD_RANK=5"});
  EXPECT_EQ(ran.process.at("rank"), 5);
  std::set<int> numbers;
  for (const json& thread : ran.regions.at("team").at("threads")) numbers.insert(thread.at("openmp_thread").get<int>());
  EXPECT_EQ(numbers, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(ran.regions.at("team").at("entries"), 3);
}

TEST(Papi, RegionsAndReads) {
  const Ran ran = run({MARKED_FOR_PAPI});
  EXPECT_FALSE(holds(ran.out, "failed")) << ran.out << ran.err;
  EXPECT_TRUE(holds(ran.out, "unknown: 1\n")) << ran.out;
  const json &whole = ran.regions.at("computation"), &first = ran.regions.at("computation, after read 1"),
             &second = ran.regions.at("computation, after read 2");
  for (const json* one : {&whole, &first, &second, &ran.regions.at("inner")}) {
    EXPECT_EQ(one->at("entries"), 2) << *one;
    EXPECT_EQ(one->at("dropped"), 0) << *one;
  }
  // work() executes at least three instructions a round.
  EXPECT_GE(count(first), 2 * 500 * 3);
  EXPECT_LE(count(first), 2 * 500 * 5);
  EXPECT_GE(count(whole) - count(first) - count(second), 2 * 1000 * 3);
  EXPECT_EQ(ran.regions.at("team").at("entries"), TALLY_HAS_OPENMP ? 3 : 1);
  EXPECT_EQ(ran.process.at("rank"), nullptr);
}

TEST(Papi, EventSets) {
  const Ran ran = run({MARKED_FOR_PAPI_EVENTS});
  EXPECT_FALSE(holds(ran.out, "failed")) << ran.out << ran.err;
  std::istringstream lines(ran.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "instructions: 0, cycles: -7, counters: 8");
  std::array<std::int64_t, 3> instructions{}, branches{};
  for (std::size_t i = 0; i < 3; ++i) lines >> instructions[i] >> branches[i];
  // Rounds cost the same each time.
  EXPECT_EQ(instructions[2] - instructions[1], instructions[1] - instructions[0]) << ran.out;
  EXPECT_EQ(branches[1] - branches[0], 1000) << ran.out;
  const std::int64_t work = instructions[1] - instructions[0];
  EXPECT_GE(work, 3000);
  EXPECT_LE(work, 5000);
  EXPECT_LE(instructions[0] - work, 100) << "around the work";
  std::int64_t first = 0, second = 0, sum = 0, last = 0;
  lines >> line >> first >> second >> sum >> last;
  EXPECT_LE(first - work, 100);
  EXPECT_LE(second - 2 * work, 400);
  EXPECT_LE(sum - 5 - 2 * work, 400);
  EXPECT_GE(sum - 5, 2 * work);
  EXPECT_LE(last, work + 400) << "since the last accum";
  EXPECT_TRUE(holds(ran.out, "\ndone\n")) << ran.out;
}

TEST(Papi, EventsWithoutASource) {
  const Words words{"/usr/bin/env", "LD_LIBRARY_PATH=" BUILT "/compat:" BUILT, MARKED_FOR_PAPI_EVENTS};
  const Finished native = Running(words).finish();
  EXPECT_EQ(native.code(), 0) << native.err;
  if (Running({TALLY_COMMAND, "doctor"}).finish().code() == 0) GTEST_SKIP() << "this machine has a PMU";
  EXPECT_TRUE(holds(native.out, "instructions: -7, cycles: -7, counters: 0\n")) << native.out;
  EXPECT_TRUE(holds(native.out, "`tally stat -- PROGRAM`")) << native.out;
  // The simulated machine counts cycles if it is asked to.
  Words modelled{words[0],  words[1], TALLY_COMMAND, "stat", "-q",        "--backend", "engine", "--model",
                 "haswell", "-e",     "cycles",      "-o",   "/dev/null", "--",        words[2]};
  EXPECT_TRUE(holds(Running(modelled).finish().out, "instructions: 0, cycles: 0, counters: 8\n"));
}

TEST(Ittnotify, TasksFramesAndRegions) {
  const Ran ran = run({MARKED_FOR_ITTNOTIFY}, {"INTEL_LIBITTNOTIFY64=" ITTNOTIFY});
  EXPECT_EQ(ran.out, "a worker with a\ndone\n") << ran.err;
  // work(n) executes 2 n + 1 instructions, and an entry some around it.
  const auto expect = [&](const char* region, std::int64_t entries, std::int64_t work, std::int64_t most_around) {
    ASSERT_TRUE(ran.regions.contains(region)) << region << ran.err;
    const json& one = ran.regions.at(region);
    EXPECT_EQ(one.at("entries"), entries) << region;
    EXPECT_EQ(one.at("dropped"), 0) << region;
    EXPECT_GE(count(one), 2 * work + entries) << region;
    EXPECT_LE(count(one), 2 * work + entries * most_around) << region;
  };
  expect("app:inner", 2, 7000, 200);
  expect("app:kept", 1, 100, 2000);
  expect("app:inner region", 1, 500, 200);
  expect("app:frame", 2, 1600, 200);
  // Others begin and end within these.
  expect("collected", 1, 2100, 20000);
  expect("app:outer region", 1, 1100, 20000);
  expect("app:parse", 5, 3 * 1000 + 7000 + 7000, 20000);
  EXPECT_EQ(ran.regions.at("app:parse").at("threads").size(), 2U);
  EXPECT_EQ(ran.regions.size(), 7U);
}

TEST(Ittnotify, WithoutALibraryNothingHappens) {
  EXPECT_EQ(Running({"/usr/bin/env", "-u", "INTEL_LIBITTNOTIFY64", MARKED_FOR_ITTNOTIFY}).finish().out, "done\n");
}

TEST(Ittnotify, CollectsWithoutTally) {
  const Words words{"/usr/bin/env", "INTEL_LIBITTNOTIFY64=" ITTNOTIFY, MARKED_FOR_ITTNOTIFY};
  const Finished finished = Running(words).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(finished.out, "a worker with a\ndone\n");
}

TEST(Compat, NamesOfTheRealLibraries) {
  for (const char* name : {"liblikwid.so.5.2", "liblikwid.so", "libpapi.so.7.0", "libpapi.so"})
    EXPECT_TRUE(std::filesystem::exists(std::string(BUILT "/compat/") + name)) << name;
}

// Compiles a Fortran program of this directory, and runs it.
Ran run_fortran(const Words& words) {
  const TemporaryFile program("marked");
  Words all{"/usr/bin/gfortran", "-O1", "-J", program.folder(), "-o", program.path()};
  all.insert(all.end(), words.begin(), words.end());
  const std::string libraries = BUILT "/compat";
  all.insert(all.end(), {"-L" + libraries, "-L", BUILT, "-llikwid", "-lpapi", "-ltally"});
  const Finished built = Running(all).finish();
  EXPECT_EQ(built.code(), 0) << built.err;
  return built.code() == 0 ? run({program.path()}) : Ran{};
}

TEST(Compat, FortranModuleOfLikwid) {
  if (!std::filesystem::exists("/usr/bin/gfortran")) GTEST_SKIP() << "gfortran is missing";
  const Ran ran = run_fortran({BUILT "/include/tally/compat/likwid/likwid.f90", SOURCES "/likwid.f90"});
  ASSERT_TRUE(ran.regions.contains("sum")) << "blanks at the end are not part of a name" << ran.out << ran.err;
  const json& sum = ran.regions.at("sum");
  EXPECT_EQ(sum.at("entries"), 3);
  EXPECT_EQ(sum.at("dropped"), 0);
  EXPECT_GE(count(sum), 3 * 1000 * 3);
  EXPECT_LE(count(sum), 3 * 1000 * 12);
  EXPECT_EQ(ran.regions.at("around").at("entries"), 3);
  EXPECT_EQ(ran.regions.at("emptied").at("entries"), 0);
  EXPECT_EQ(ran.out, "2 events, " + std::to_string(count(sum)) + ", entries 3\npinned: 1\n");
}

TEST(Compat, FortranHeadersOfPapi) {
  if (!std::filesystem::exists("/usr/bin/gfortran")) GTEST_SKIP() << "gfortran is missing";
  for (const std::string header : {"f90papi.h", "f77papi.h", "fpapi.h"}) {
    SCOPED_TRACE(header);
    const Ran ran =
        run_fortran({"-I" BUILT "/include/tally/compat/papi", "-DHEADER=\"" + header + "\"", SOURCES "/papi.F"});
    ASSERT_TRUE(ran.regions.contains("sum")) << ran.out << ran.err;
    const json &sum = ran.regions.at("sum"), &after = ran.regions.at("sum, after read 1");
    EXPECT_EQ(sum.at("entries"), 2);
    EXPECT_EQ(sum.at("dropped"), 0);
    EXPECT_GE(count(after), 2 * 500 * 3);
    EXPECT_LE(count(after), 2 * 500 * 8);
    EXPECT_GE(count(sum) - count(after), 2 * 1000 * 3);
  }
}

TEST(Compat, FortranEventSetsOfPapi) {
  if (!std::filesystem::exists("/usr/bin/gfortran")) GTEST_SKIP() << "gfortran is missing";
  const Ran ran = run_fortran({"-I" BUILT "/include/tally/compat/papi", SOURCES "/papi_events.F"});
  std::istringstream numbers(ran.out);
  std::int64_t instructions = 0, branches = 0;
  numbers >> instructions >> branches;
  EXPECT_GE(instructions, 3000) << ran.out << ran.err;
  EXPECT_LE(instructions, 8000) << ran.out;
  EXPECT_GE(branches, 1000) << ran.out;
  EXPECT_LE(branches, 1300) << ran.out;  // with the dynamic linker, which finds the first PAPIF_stop
}

}  // namespace
}  // namespace tally::test
