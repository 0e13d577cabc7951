// What cycles are spent on: programs with one planted cause each (causes.c).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE

using nlohmann::json;

struct Planted {
  const char *program, *event, *name;
};

std::ostream& operator<<(std::ostream& stream, const Planted& planted) { return stream << planted.program; }

class PlantedCause : public testing::TestWithParam<Planted> {};

TEST_P(PlantedCause, Leads) {
  const TemporaryFile file("result.json");
  const Finished run = tally({"stat", "-q", "--model", "haswell", "--topdown", "--format", "json", "-o", file.path(),
                              "--", CAUSES, GetParam().program},
                             {});
  ASSERT_EQ(run.code(), 0) << run.err;
  std::int64_t sum = 0, most = 0, cycles = 0, slots = 0;
  std::string leader;
  const json result = json::parse(*file.content());
  for (const json& event : result["events"]) {
    const std::string name = event["name"];
    const auto value = event["value"].get<std::int64_t>();
    if (name == "cycles:u") cycles = value;
    if (name == "pipeline-slots:u") slots = value;
    if (!name.starts_with("cycles-") || name == "cycles-heavy:u") continue;
    sum += value;
    if (value <= most) continue;
    most = value;
    leader = name;
  }
  EXPECT_EQ(leader, GetParam().event + std::string(":u"));
  EXPECT_EQ(sum, cycles);
  EXPECT_EQ(slots, 4 * cycles);
  std::int64_t in_classes = 0;
  for (const json& row : result["topdown"])
    if (row["level"] == 1) in_classes += row["slots"].get<std::int64_t>();
  EXPECT_EQ(in_classes, slots);
}

TEST(TopDown, is_either_in_slots_or_in_cycles) {
  const Finished run = tally({"stat", "--model", "haswell", "--topdown", "--by", "cause", "--", "true"}, {});
  EXPECT_EQ(run.code(), 2);
  EXPECT_TRUE(holds(run.err, "give one of them")) << run.err;
}

/// "causes.c:23": the line that ends with the name of the program in a comment.
std::string planted_line(const std::string& program) {
  const std::string test = __FILE__;
  std::ifstream source(test.substr(0, test.rfind('/')) + "/causes.c");
  std::string line;
  for (int number = 1; std::getline(source, line); ++number)
    if (line.ends_with("// " + program)) return "causes.c:" + std::to_string(number);
  return "no line";
}

std::string first_line_with(const std::string& text, const std::string& words) {
  const std::size_t found = text.find(words);
  if (found == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', found) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_P(PlantedCause, LeadsInItsFunctionAndLine) {
  const auto& [program, event, name] = GetParam();
  const auto profile = [&](const char* by) {
    return tally(
               {"profile", "-q", "--model", "haswell", "-e", "cycles", "--by", by, "--top", "1", "--", CAUSES, program},
               {})
        .err;
  };
  const std::string line = planted_line(program), by_function = profile("function"), by_line = profile("line");
  const std::string function_row = first_line_with(by_function, std::string("  ") + program + "  ");
  EXPECT_NE(function_row.find(std::string("  ") + name + " "), std::string::npos) << by_function;
  const std::string line_row = first_line_with(by_line, "  " + line + "  ");
  EXPECT_NE(line_row.find(std::string("  ") + name + " "), std::string::npos) << by_line;
  const std::string cause = by_line.substr(by_line.find("lines with most of it"));
  const std::size_t row = cause.find(std::string("\n ") + name + " ");
  EXPECT_LT(cause.find(line, row), cause.find('\n', row + 1)) << "among the lines that have most of it\n" << by_line;
}

INSTANTIATE_TEST_SUITE_P(Programs, PlantedCause,
                         testing::Values(Planted{"chase", "cycles-DRAM", "DRAM"},
                                         Planted{"sort", "cycles-mispredicts", "mispredicts"},
                                         Planted{"divide", "cycles-core", "core"},
                                         Planted{"shuffle", "cycles-core", "core"},
                                         Planted{"fetch", "cycles-front-end", "front end"},
                                         Planted{"forward", "cycles-forwarding", "forwarding"}),
                         [](const auto& info) { return std::string(info.param.program); });

/// The next node is not there before the line that holds its pointer, whichever access to it comes first.
TEST(CausesOfCycles, OfAWalkDoNotDependOnWhatComesBeforeThePointer) {
  const auto cycles_of = [](const char* program) {
    const Finished run = tally(
        {"stat", "-q", "--model", "haswell", "-e", "cycles,cycles-L2", "--format", "json", "--", CAUSES, program}, {});
    const json result = json::parse(run.err, nullptr, false);
    return std::pair(result["events"][0]["value"].get<double>(), result["events"][1]["value"].get<double>());
  };
  const auto usual = cycles_of("walk-nothing");
  EXPECT_GT(usual.second, usual.first * 0.4);
  for (const char* program : {"walk-load", "walk-add", "walk-ahead", "walk-store", "walk-in-memory"}) {
    const auto cycles = cycles_of(program);
    EXPECT_NEAR(cycles.second / usual.second, 1, 0.1) << program;
    // A variable in memory adds the time of its forwarding.
    EXPECT_NEAR(cycles.first / usual.first, 1, program == std::string("walk-in-memory") ? 0.5 : 0.1) << program;
  }
}

/// Loads that miss and decide no branch do not lengthen mispredictions.
TEST(CausesOfCycles, OfMispredictionsDoNotDependOnLoadsElsewhere) {
  const auto mispredicts_of = [](const char* program) {
    const Finished run =
        tally({"stat", "-q", "--model", "haswell", "-e", "cycles-mispredicts,branch-misses,cycles-DRAM", "--format",
               "json", "--", CAUSES, program},
              {});
    const json events = json::parse(run.err, nullptr, false)["events"];
    EXPECT_GT(events[1]["value"].get<double>(), 15000) << program;
    return std::pair(events[0]["value"].get<double>(), events[2]["value"].get<double>());
  };
  const auto alone = mispredicts_of("classify"), with_gathers = mispredicts_of("classify-gather");
  EXPECT_GT(with_gathers.second, alone.second + 200'000);
  EXPECT_NEAR(with_gathers.first / alone.first, 1, 0.1);
}

TEST(CausesOfCycles, AreKnownForWholeProgramsAndInProfilesOnly) {
  const Finished region = tally(
      {"stat", "-q", "--model", "haswell", "-e", "cycles-core", "--function", "divide", "--", CAUSES, "divide"}, {});
  EXPECT_NE(region.err.find("the causes of cycles are known for the whole program"), std::string::npos) << region.err;
  const Finished native = tally({"stat", "--backend", "none", "--by", "cause", "--", "true"}, {});
  EXPECT_EQ(native.code(), 2);
  EXPECT_NE(native.err.find("a cause of cycles needs the engine"), std::string::npos) << native.err;
}

TEST(TopDown, ClassesAddUpToAllSlots) {
  const Finished run = tally({"stat", "-q", "--model", "haswell", "--topdown", "--", CAUSES, "chase"}, {});
  ASSERT_EQ(run.code(), 0);
  const std::string& text = run.err;
  for (const char* name :
       {"Retiring", "  Light Operations", "  Heavy Operations", "Bad Speculation", "  Branch Mispredicts",
        "Frontend Bound", "  Fetch Latency", "Backend Bound", "  Memory Bound", "      DTLB", "      Store Forwarding",
        "      Lock Latency", "    DRAM Bound", "  Core Bound"})
    EXPECT_NE(text.find(std::string("\n ") + name + " "), std::string::npos) << name << "\n" << text;
  EXPECT_EQ(text.find("cycles-DRAM"), std::string::npos) << "its class has it";
}

#endif

}  // namespace
}  // namespace tally::test
