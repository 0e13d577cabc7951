// tally.h in a C program, and the symbols that the shared library exports.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

class CInterface : public testing::Test {
 public:
  void SetUp() override {
    const TemporaryFile file("regions.json");
    const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=page-faults", C_INTERFACE, file.path()}).finish();
    if (finished.code() == 77) GTEST_SKIP() << finished.out;
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    json all = json::parse(file.content().value_or(""));
    for (json& region : all.at("regions")) {
      const std::string name = region.at("region");
      EXPECT_TRUE(regions.try_emplace(name, std::move(region)).second) << name << " is listed twice";
    }
  }

  // entries, recursive, dropped, open
  json numbers(const std::string& name) {
    const json& region = regions.at(name);
    return {region.at("entries"), region.at("recursive"), region.at("dropped"), region.at("open")};
  }

  std::map<std::string, json> regions;
};

TEST_F(CInterface, regions_nest_within_each_other_and_themselves) {
  EXPECT_EQ(numbers("first"), json({1, 0, 0, 0}));
  EXPECT_EQ(numbers("recursive"), json({1, 3, 0, 0}));
  for (int i = 0; i < 200; ++i) {
    std::ostringstream name;
    name << "deep " << i / 100 << i / 10 % 10 << i % 10;
    EXPECT_EQ(numbers(name.str()), json({1, 0, 0, 0})) << name.str();
  }
}

TEST_F(CInterface, names_are_compared_by_their_text) {
  EXPECT_EQ(numbers("made 0"), json({3, 0, 0, 0}));
  EXPECT_EQ(numbers("made 1"), json({3, 0, 0, 0}));
}

TEST_F(CInterface, a_begin_without_an_end_is_reported) {
  EXPECT_EQ(numbers("never ended"), json({0, 0, 0, 1}));
  EXPECT_EQ(numbers("around"), json({1, 0, 0, 0}));
  EXPECT_EQ(numbers("dropped"), json({1, 0, 1, 0}));
}

// The lines that the program prints under the engine.
std::vector<std::string> counted_by_engine(const std::string& what) {
  std::vector<std::string> lines;
#if TALLY_HAS_ENGINE
  const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=instructions", TALLY_COMMAND, "stat", "-q", "-e",
                                     "instructions", "-o", "/dev/null", "--", C_INTERFACE, what})
                                .finish();
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  std::istringstream text(finished.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
#endif
  return lines;
}

TEST(CInterfaceCounts, readings_exclude_the_library) {
  const auto lines = counted_by_engine("readings");
  if (lines.empty()) GTEST_SKIP() << "there is no engine";
  ASSERT_EQ(lines.size(), 6u);
  std::int64_t nothing = 0, thousand = 0;
  std::istringstream(lines[0].substr(15)) >> nothing;
  std::istringstream(lines[3].substr(15)) >> thousand;
  EXPECT_NE(lines[0].find(" events exact "), std::string::npos) << lines[0];
  EXPECT_LE(std::abs(nothing), 10) << lines[0];
  EXPECT_GE(thousand, 3000) << lines[3];
  EXPECT_LE(thousand, 8000) << lines[3];
  EXPECT_NE(lines[1].find("L1-load-hits:u 0 events absent needs a machine model"), std::string::npos) << lines[1];
}

TEST(CInterfaceCounts, regions_are_read_by_name) {
  const auto lines = counted_by_engine("counts");
  if (lines.empty()) GTEST_SKIP() << "there is no engine";
  ASSERT_EQ(lines.size(), 3u);
  std::string event, trust;
  std::int64_t entries = 0, total = 0, least = 0, most = 0;
  std::istringstream(lines[0]) >> event >> entries >> total >> least >> most >> trust;
  EXPECT_EQ(event, "instructions:u");
  EXPECT_EQ(entries, 3);
  EXPECT_EQ(trust, "exact");
  EXPECT_NEAR(static_cast<double>(most), 3.0 * static_cast<double>(least), 100);
  EXPECT_NEAR(static_cast<double>(total), 6.0 * static_cast<double>(least), 200);
  EXPECT_EQ(lines[1], lines[0]);
  EXPECT_NE(lines[2].find("absent this event was not requested"), std::string::npos) << lines[2];
}

TEST(CInterfaceWithoutCounters, says_why) {
  const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=nothing-like-it", C_INTERFACE}).finish();
  EXPECT_EQ(finished.code(), 77);
  EXPECT_NE(finished.out.find("unknown event 'nothing-like-it'"), std::string::npos) << finished.out;
}

TEST(SharedLibrary, exports_its_own_names_only) {
  const Finished finished = Running({"/usr/bin/env", "nm", "-D", "-C", "--defined-only", LIBRARY}).finish();
  ASSERT_EQ(finished.code(), 0) << finished.err;
  std::istringstream lines(finished.out);
  int seen = 0;
  for (std::string address, kind, name; lines >> address >> kind && std::getline(lines, name); ++seen) {
    EXPECT_TRUE(name.starts_with(" tally::") || name.starts_with(" tally_")) << name;
  }
  EXPECT_GE(seen, 20);
  EXPECT_NE(finished.out.find(" tally_region_begin\n"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find(" tally::Counters::regions() const\n"), std::string::npos) << finished.out;
}

}  // namespace
}  // namespace tally::test
