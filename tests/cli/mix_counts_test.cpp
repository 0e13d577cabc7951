// What instructions did (mixed.c): each kind of them, in threads' totals, functions, windows and lines.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;
using Counts = std::map<std::string, std::int64_t>;

/// What the program says of itself.
Counts expected(const std::string& output) {
  Counts counts;
  std::istringstream lines(output);
  for (std::string name, digits; lines >> name >> digits;) {
    std::uint64_t value = 0;
    for (const char digit : digits) value = value << 4 | static_cast<std::uint64_t>(digit - 'a');
    counts[name] = static_cast<std::int64_t>(value);
  }
  return counts;
}

std::string list_of(const Counts& counts) {
  std::string list;
  for (const auto& [name, value] : counts) list += (list.empty() ? "" : ",") + name;
  return list;
}

/// The counts of `events` in the objects of an array of JSON, all of them exact.
Counts exact_counts(const json& events) {
  Counts counts;
  for (const json& event : events) {
    const std::string name = event.contains("name") ? event["name"] : event["event"];  // of a region
    EXPECT_EQ(event["trust"], "exact") << name << " " << event["reason"];
    if (event["value"].is_number()) counts[name.substr(0, name.rfind(':'))] = event["value"];
  }
  return counts;
}

json result_of(const Words& options, const Words& program, int& code) {
  const TemporaryFile file("result.json");
  const Finished run =
      tally(with(with({"stat", "-q", "--repeatable", "--backend", "engine", "-o", file.path()}, options),
                 with({"--", MIXED}, program)));
  code = run.code();
  const auto content = file.content();
  return content ? json::parse(*content) : json();
}

class Mixed : public testing::TestWithParam<const char*> {
 protected:
  /// The rounds that the program says it did.
  static Counts rounds(const std::string& kind, const std::string& n) {
    return expected(Running({MIXED, kind, n}).finish().out);
  }
};

// What 3000 rounds add to the counts of none.
TEST_P(Mixed, IsCountedExactly) {
  const std::string kind = GetParam();
  if (Running({MIXED, kind, "000000"}).finish().code() == 77) GTEST_SKIP() << "this processor lacks the instructions";
  const Counts counts = rounds(kind, "003000");
  ASSERT_FALSE(counts.empty());
  int code = 0;
  const Counts none = exact_counts(result_of({"-e", list_of(counts)}, {kind, "000000"}, code)["events"]);
  const Counts all = exact_counts(result_of({"-e", list_of(counts)}, {kind, "003000"}, code)["events"]);
  for (const auto& [name, value] : counts) EXPECT_EQ(all.at(name) - none.at(name), value) << kind << " " << name;
}

// Code that ran often is optimized again, and the stored code of an earlier run is used.
TEST_P(Mixed, IsCountedInCodeThatWasOptimized) {
  const std::string kind = GetParam();
  if (Running({MIXED, kind, "000000"}).finish().code() == 77) GTEST_SKIP() << "this processor lacks the instructions";
  const Counts counts = rounds(kind, "400000");
  int code = 0;
  for (int run = 0; run < 3; ++run) {
    const Counts none = exact_counts(result_of({"-e", list_of(counts)}, {kind, "000000"}, code)["events"]);
    const Counts all = exact_counts(result_of({"-e", list_of(counts)}, {kind, "400000"}, code)["events"]);
    for (const auto& [name, value] : counts) EXPECT_EQ(all.at(name) - none.at(name), value) << kind << " " << name;
  }
}

// Signals interrupt masked instructions and string instructions. Their handler does none of this.
TEST_P(Mixed, IsCountedIfSignalsInterruptIt) {
  const std::string kind = GetParam();
  if (Running({MIXED, kind, "000000"}).finish().code() == 77) GTEST_SKIP() << "this processor lacks the instructions";
  Counts counts = rounds(kind, "100000");
  for (const char* name : {"load-bytes", "store-bytes", "system-calls"}) counts.erase(name);
  if (counts.empty()) GTEST_SKIP() << "the handler does the same";
  int code = 0;
  const Counts none = exact_counts(result_of({"-e", list_of(counts)}, {kind, "000000", "timer"}, code)["events"]);
  const Counts all = exact_counts(result_of({"-e", list_of(counts)}, {kind, "100000", "timer"}, code)["events"]);
  for (const auto& [name, value] : counts) EXPECT_EQ(all.at(name) - none.at(name), value) << kind << " " << name;
}

TEST_P(Mixed, IsCountedInAFunction) {
  const std::string kind = GetParam();
  if (Running({MIXED, kind, "000000"}).finish().code() == 77) GTEST_SKIP() << "this processor lacks the instructions";
  Counts counts = rounds(kind, "1000");
  for (const char* name : {"load-bytes", "store-bytes"}) counts.erase(name);  // also those of its own stack
  if (counts.empty()) GTEST_SKIP() << "only bytes";
  int code = 0;
  const json result = result_of({"-e", list_of(counts), "--function", kind}, {kind, "1000"}, code);
  ASSERT_EQ(result["regions"].size(), 1u) << result;
  const Counts in_function = exact_counts(result["regions"][0]["regions"][0]["events"]);
  for (const auto& [name, value] : counts) EXPECT_EQ(in_function.at(name), value) << kind << " " << name;
}

/// The counts of a function in a profile.
Counts profiled(const std::string& kind, const std::string& events) {
  const TemporaryFile file("profile.json");
  const Finished run = tally({"profile", "-q", "--repeatable", "-e", events, "--format", "json", "-o", file.path(),
                              "--", MIXED, kind, "002000"});
  EXPECT_EQ(run.code(), 0) << run.err;
  const json profile = json::parse(*file.content());
  Counts counts;
  for (const json& function : profile["functions"])
    for (std::size_t e = 0; function["name"] == kind && e < profile["events"].size(); ++e) {
      const std::string name = profile["events"][e]["name"];
      counts[name.substr(0, name.rfind(':'))] = function["counts"][e];
    }
  return counts;
}

TEST_P(Mixed, IsInTheProfileOfItsFunction) {
  const std::string kind = GetParam();
  if (kind == "avx" || kind == "masked" || kind == "strings") GTEST_SKIP() << "known only at run time: not by line";
  Counts counts = rounds(kind, "002000");
  for (const char* name : {"load-bytes", "store-bytes", "system-calls"}) counts.erase(name);
  if (counts.empty()) GTEST_SKIP() << "not its own";
  const Counts found = profiled(kind, list_of(counts));
  for (const auto& [name, value] : counts) EXPECT_EQ(found.at(name), value) << kind << " " << name;
}

INSTANTIATE_TEST_SUITE_P(, Mixed, testing::Values("sse", "x87", "strings", "locked", "calls", "avx", "masked"),
                         [](const auto& test) { return std::string(test.param); });

// A count that lacks the bytes of some instructions is not exact: of the command, and of a function.
TEST(MixedUnknown, IsPartial) {
  int code = 0;
  const json result = result_of({"-e", "store-bytes,stores", "--function", "unknown"}, {"unknown", "000010"}, code);
  const json& whole = result["events"];
  const json& region = result["regions"][0]["regions"][0]["events"];
  const std::string reason = "the bytes of the accesses of 10 executed instructions are not known";
  for (const json& events : {whole, region}) {
    EXPECT_EQ(events[0]["trust"], "partial");
    EXPECT_EQ(events[0]["reason"], reason);
    EXPECT_EQ(events[1]["trust"], "exact");
  }
}

std::int64_t sum_of(const json& shares) {
  std::int64_t sum = 0;
  for (const json& one : shares) sum += one["count"].get<std::int64_t>();
  return sum;
}

std::int64_t count_of(const json& shares, const std::string& name) {
  for (const json& one : shares)
    if (one["name"] == name) return one["count"];
  return 0;
}

TEST(MixOfInstructions, HasEveryInstructionOnce) {
  int code = 0;
  const json none = result_of({"--mix", "-e", "instructions"}, {"sse", "000000"}, code)["mix"];
  const json result = result_of({"--mix", "-e", "instructions"}, {"sse", "005000"}, code);
  ASSERT_EQ(code, 0);
  const json& mix = result["mix"];
  EXPECT_EQ(mix["instructions"], result["events"][0]["value"]);
  EXPECT_EQ(mix["unknown"], 0);
  for (const char* list : {"categories", "widths", "names"}) EXPECT_EQ(sum_of(mix[list]), mix["instructions"]) << list;
  for (const char* name : {"addps", "mulsd", "sqrtss", "divpd", "ucomisd", "cvtsi2sd"})
    EXPECT_EQ(count_of(mix["names"], name) - count_of(none["names"], name), 5000) << name;
  EXPECT_EQ(count_of(mix["categories"], "convert") - count_of(none["categories"], "convert"), 5000);
}

TEST(MixOfInstructions, IsATable) {
  const Finished run = tally({"stat", "-q", "--mix", "-e", "instructions", "--", MIXED, "sse", "005000"});
  EXPECT_EQ(run.code(), 0);
  for (const char* line : {"by category", "by largest register", "  128 bits ", "most frequent of ", "  addps "})
    EXPECT_NE(run.err.find(line), std::string::npos) << line << run.err;
}

// A row that one of the mixes lacks is 0 in it.
TEST(MixOfInstructions, IsCompared) {
  const TemporaryFile before("before.json"), after("after.json");
  for (const auto& [file, count] : {std::pair{&before, "000000"}, {&after, "005000"}})
    ASSERT_EQ(tally({"stat", "-q", "--repeatable", "--backend", "engine", "--mix", "-e", "instructions", "-o",
                     file->path(), "--", MIXED, "sse", count})
                  .code(),
              0);
  const auto changes = [](const TemporaryFile& from, const TemporaryFile& to) {
    const Finished run = tally({"compare", "--force", from.path(), to.path(), "--format", "json"});
    Counts rows;
    const json result = json::parse(run.out);
    for (const json& row : result.at("events"))
      if (row.value("of", "") == "[mix by category]" && row.at("change").is_number())
        rows[row.at("event")] = row.at("change");
    EXPECT_EQ(result.at("warnings").dump().find("only in the result"), std::string::npos) << result.at("warnings");
    return rows;
  };
  const Counts more = changes(before, after), less = changes(after, before);
  EXPECT_EQ(more.at("convert"), 5000);
  EXPECT_EQ(less.at("convert"), -5000);
  EXPECT_EQ(more.size(), less.size());
}

json mix_profile(const Words& options) {
  const TemporaryFile file("profile.json");
  const Finished run = tally(with(with({"profile", "-q", "--repeatable", "--mix", "-o", file.path()}, options),
                                  {"--", MIXED, "sse", "005000"}));
  EXPECT_EQ(run.code(), 0) << run.err;
  return json::parse(*file.content());
}

TEST(MixOfFunctions, IsThatOfTheProgramDivided) {
  for (const Words& options : std::vector<Words>{{}, {"--inlines"}, {"-e", "loads"}}) {
    const json profile = mix_profile(options);
    std::map<std::string, std::int64_t> sums;
    for (const json& function : profile["functions"])
      for (const char* key : {"instructions", "unknown", "vector", "fp", "fp_vector"})
        sums[key] += function["mix"][key].get<std::int64_t>();
    for (const auto& [key, sum] : sums) EXPECT_EQ(profile["mix"][key], sum) << key;
    if (profile["events"][0]["name"] == "instructions:u")
      EXPECT_EQ(profile["mix"]["instructions"], profile["events"][0]["value"]);
  }
}

TEST(MixOfFunctions, HasTheInstructionsOfEachFunction) {
  const json profile = mix_profile({});
  for (const json& function : profile["functions"]) {
    if (function["name"] != "sse") continue;
    const json& mix = function["mix"];
    for (const char* list : {"categories", "widths", "names"})
      EXPECT_EQ(sum_of(mix[list]), mix["instructions"]) << list;
    for (const char* name : {"addps", "mulsd", "sqrtss", "divpd", "ucomisd", "cvtsi2sd"})
      EXPECT_EQ(count_of(mix["names"], name), 5000) << name;
    EXPECT_EQ(mix["fp"], 4 * 5000);
    EXPECT_EQ(mix["fp_vector"], 2 * 5000);
    return;
  }
  ADD_FAILURE() << "no function";
}

/// The instructions that a mix names and those that it does not know.
std::int64_t named_and_unknown(const json& mix) { return sum_of(mix["names"]) + mix["unknown"].get<std::int64_t>(); }

/// Limits of the code log that this program exceeds: numbers of forms, and bytes of records.
class MixWithoutRoom : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("TALLY_CACHE_DIR", cache_.folder().c_str(), 1), 0);
    ASSERT_EQ(setenv("TALLY_ENGINE_TEST", GetParam(), 1), 0);
  }
  void TearDown() override {
    unsetenv("TALLY_ENGINE_TEST");
    unsetenv("TALLY_CACHE_DIR");
  }

 private:
  const TemporaryFile cache_{"cache"};
};

TEST_P(MixWithoutRoom, IsNotKnown) {
  int code = 0;
  const json result = result_of({"--mix", "-e", "instructions,fp-operations"}, {"sse", "005000"}, code);
  ASSERT_EQ(code, 0);
  EXPECT_EQ(exact_counts(result["events"])["fp-operations"], 40000);
  EXPECT_GT(result["mix"]["unknown"], 50000);
  EXPECT_EQ(named_and_unknown(result["mix"]), result["events"][0]["value"]);
}

TEST_P(MixWithoutRoom, MakesCountsOfFunctionsPartial) {
  const json profile = mix_profile({"-e", "instructions,fp-operations"});
  const json& operations = profile["events"][1];
  EXPECT_EQ(operations["value"], 40000);
  EXPECT_EQ(operations["trust"], "partial");
  EXPECT_EQ(operations["reason"], "40,000 of it were counted for instructions without a record");
  EXPECT_EQ(named_and_unknown(profile["mix"]), profile["events"][0]["value"]);
}

TEST_P(MixWithoutRoom, IsNotKnownWithoutAnEventOfInstructions) {
  int code = 0;
  const json mix = result_of({"--mix", "-e", "fp-operations"}, {"sse", "005000"}, code)["mix"];
  EXPECT_GT(mix["unknown"], 50000);
  EXPECT_EQ(named_and_unknown(mix), mix["instructions"]);
  EXPECT_GT(mix_profile({"-e", "fp-operations"})["mix"]["unknown"], 50000);
}

TEST_P(MixWithoutRoom, IsNamedForFormatsWithoutTrust) {
  const Finished folded =
      tally({"profile", "--format", "folded", "-e", "fp-operations", "-o", "/dev/null", "--", MIXED, "sse", "005000"});
  EXPECT_EQ(folded.code(), 0);
  EXPECT_TRUE(holds(folded.err, "trust of fp-operations:u: partial: 40,000 of it were counted")) << folded.err;
}

INSTANTIATE_TEST_SUITE_P(, MixWithoutRoom, testing::Values("forms=8", "log=20000"), [](const auto& limit) {
  const std::string text = limit.param;
  return text.substr(0, text.find('='));
});

TEST(MixOfFunctions, IsNotTheOneOfStat) {
  const Finished run =
      tally({"stat", "--mix", "-e", "instructions", "--function", "sse", "--", MIXED, "sse", "005000"});
  EXPECT_NE(run.err.find("note: the mix is that of the whole program"), std::string::npos) << run.err;
  const Finished late = tally({"stat", "--mix", "-e", "instructions", "--delay", "1", "--", MIXED, "sse", "005000"});
  EXPECT_NE(late.err.find("note: the mix is that of the whole run"), std::string::npos) << late.err;
}

TEST(MixOfFunctions, IsATable) {
  const Finished run = tally({"profile", "-q", "--mix", "--", MIXED, "sse", "005000"});
  EXPECT_EQ(run.code(), 0);
  for (const char* text : {"vector  FP vector  main category", "by largest register", "  addps ", "of 1"})
    EXPECT_NE(run.err.find(text), std::string::npos) << text << run.err;
  const Finished folded = tally({"profile", "-q", "--mix", "--format", "folded", "--", "true"});
  EXPECT_EQ(folded.code(), 2);
  EXPECT_NE(folded.err.find("--mix cannot be used with --format folded"), std::string::npos) << folded.err;
}

TEST(Groups, AreCountedByName) {
  const Finished run = tally({"stat", "-q", "--group", "FLOPS_DP", "--", MIXED, "sse", "005000"});
  EXPECT_EQ(run.code(), 0) << run.err;
  for (const char* line : {"fp-operations-double:u", "SIMD-share-double", "GFLOPS-double"})
    EXPECT_NE(run.err.find(line), std::string::npos) << line << run.err;
  EXPECT_EQ(tally({"stat", "--group", "flops_dp", "--", "true"}).code(), 0);
  const Finished unknown = tally({"stat", "--group", "FLOPS", "--", "true"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_NE(unknown.err.find("did you mean flops_dp, flops_sp"), std::string::npos) << unknown.err;
}

// A name that cannot be counted gets the reason and what is near, not a name that only looks alike.
TEST(OtherNames, HaveAReasonAndWhatIsNear) {
  const struct {
    const char* option;
    const char* name;
    std::vector<std::string> texts;
  } cases[] = {
      {"-e", "PAPI_L1_DCM", {"tally has no event 'PAPI_L1_DCM': misses of loads and stores", "PAPI_L1_LDM"}},
      {"-e", "papi_fml_ins", {"floating-point multiplications", "--mix"}},
      {"-e", "PAPI_RES_STL", {"a part of the core waits", "--by cause"}},
      {"-e", "fp_ret_sse_avx_ops.all", {"AMD's floating-point operations", "count fp-operations"}},
      {"-e", "CAS_COUNT_RD", {"between the caches and the memory", "load-bytes"}},
      {"-e", "INSTR_RETIRED_ANY:FIXC0", {"LIKWID's name of instructions", "count instructions"}},
      {"-e", "PWR_PKG_ENERGY:PWR0", {"energy, measured by the processor", "core-cycles-estimate"}},
      {"-e", "uncore_imc/data_reads/", {"has no PMU 'uncore_imc', which counts bytes", "load-bytes"}},
      {"-e", "power/energy-pkg/", {"has no PMU 'power', which counts energy", "core-cycles-estimate"}},
      {"-e", "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", {"needs a PMU", "fp-operations-double-256 is 4 for each"}},
      {"-e", "MEM_DP", {"unknown event 'MEM_DP'", "--group FLOPS_DP,MEM"}},
      {"-M", "MEM_DP", {"unknown metric 'MEM_DP'", "--group FLOPS_DP,MEM"}},
      {"-e", "SIMD", {"work on several values at once", "count vector-instructions"}},
      // Some of libpfm4's tables have this name.
      {"-e", "RETIRED_SSE_AVX_FLOPS", {"fp-operations"}},
      {"--group", "HBM", {"unknown group 'HBM'", "--group PMU_MEM"}},
      {"--group", "flops_avx", {"unknown group 'flops_avx'", "fp-operations-256"}},
  };
  for (const auto& [option, name, texts] : cases) {
    const Finished run = tally({"stat", option, name, "--", "true"});
    EXPECT_NE(run.code(), 0) << name;
    for (const std::string& text : texts) EXPECT_NE(run.err.find(text), std::string::npos) << name << "\n" << run.err;
  }
  const Finished windows = tally({"sample", "--every", "1k", "--by", "FLOPS_DP", "--", "true"});
  EXPECT_NE(windows.err.find("-e fp-operations-double` counts it in windows"), std::string::npos) << windows.err;
}

TEST(OtherNames, AreMetricsOfThePrecisions) {
  const Finished run = tally({"stat", "-q", "-M", "GFLOPS-double,SIMD-share-single", "--", MIXED, "sse", "005000"});
  EXPECT_EQ(run.code(), 0) << run.err;
  // Four of the five operations in single precision: addps and sqrtss.
  for (const char* text : {" SIMD-share-single ", " 80.0 % ", " GFLOPS-double "})
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
}

// Events that count for the whole machine have a row with the reason where the kernel has no such PMU.
TEST(Groups, ofPmusThatAreMissingSayWhy) {
  for (const auto& [words, pmu, row] :
       {std::tuple{Words{"--group", "ENERGY"}, "power", " power/energy-pkg/ "},
        std::tuple{Words{"--group", "PMU_MEM,FLOPS_DP"}, "uncore_imc", " uncore_imc/cas_count_read/ "},
        std::tuple{Words{"-e", "fp-operations,power/energy-pkg/"}, "power", " power/energy-pkg/ "}}) {
    if (shell(std::string("ls -d /sys/bus/event_source/devices/") + pmu + "*").code() == 0) continue;
    const Finished run = tally(with(with({"stat"}, words), {"--", "true"}));
    EXPECT_EQ(run.code(), 0);
    constexpr const char* reason = "this machine lacks this event: ";
    for (const char* text : {row, "absent", reason})
      EXPECT_NE(run.err.find(text), std::string::npos) << text << run.err;
    EXPECT_EQ(run.err.find(reason), run.err.rfind(reason)) << "once\n" << run.err;
  }
}

// A file of the user is a group, and replaces the one of that name.
TEST(Groups, CanBeOnesOwn) {
  const TemporaryFile file("unused");
  ASSERT_EQ(shell("mkdir -p " + file.folder() +
                  "/tally/groups && printf '# mine\nevent branches\nmetric X=loads / stores\n' > " + file.folder() +
                  "/tally/groups/MEM.txt")
                .code(),
            0);
  const Finished run = shell("XDG_CONFIG_HOME=" + file.folder() + " " TALLY_COMMAND " events --groups");
  EXPECT_NE(run.out.find("MEM: mine\n  events   branches\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("FLOPS_DP: "), std::string::npos);
  ASSERT_EQ(shell("printf '# mine\\noptional nothing/here/,branches\\nmetric X=nothing/here/ / branches\\n' > " +
                  file.folder() + "/tally/groups/SOME.txt")
                .code(),
            0);
  const Finished some =
      shell("XDG_CONFIG_HOME=" + file.folder() + " " TALLY_COMMAND " stat -q --backend engine --group SOME -- true");
  EXPECT_NE(some.err.find("branches:u"), std::string::npos) << some.err;
  EXPECT_EQ(some.err.find(" X "), std::string::npos) << "the metric needs what is missing";
}

// The first runs translate and log the code, a later one stores what it logged, and the last ones log that.
TEST(Mix, IsTheSameWithStoredCode) {
  const TemporaryFile file("mix.json");
  json first;
  for (int run = 0; run < 6; ++run) {
    const Finished done = shell("TALLY_CACHE_DIR=" + file.folder() + " setarch -R " TALLY_COMMAND " stat -q --mix -o " +
                                file.path() + " -- sha1sum /bin/ls");
    ASSERT_EQ(done.code(), 0) << done.err;
    const json mix = json::parse(*file.content())["mix"];
    EXPECT_GT(mix["names"].size(), 50u);
    if (run == 0) first = mix;
    EXPECT_EQ(mix, first) << run;
  }
}

}  // namespace
}  // namespace tally::test
