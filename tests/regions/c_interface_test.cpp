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
