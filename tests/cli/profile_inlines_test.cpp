// Inlined functions in `tally profile`, as a user types it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

std::string profile_text(const Words& options, const std::string& program) {
  const TemporaryFile file("profile");
  Words words{"profile", "-q", "-e", "instructions", "-o", file.path()};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", program});
  tally(words);
  return file.content().value_or("");
}

/// Whether the command was built with support for debug information.
bool has_lines() { return profile_text({"--lines", "--top", "0"}, INLINED).find("inlined.c:") != std::string::npos; }

class ProfileInlines : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    if (!has_lines()) GTEST_SKIP() << "built without libdw";
  }
};

std::map<std::string, std::int64_t> functions_of(const std::string& program, bool inlines) {
  Words options{"--format", "json"};
  if (inlines) options.emplace_back("--inlines");
  const Json json = Json::parse(profile_text(options, program));
  std::map<std::string, std::int64_t> counts;
  std::int64_t sum = json["events"][0]["string_elements"].get<std::int64_t>();
  for (const Json& function : json["functions"]) {
    counts[function["name"]] += function["counts"][0].get<std::int64_t>();
    sum += function["counts"][0].get<std::int64_t>();
  }
  EXPECT_EQ(sum, json["events"][0]["value"]);
  return counts;
}

void expect_split(const std::string& program) {
  auto held = functions_of(program, false), apart = functions_of(program, true);
  EXPECT_EQ(held.count("three"), 0u);
  EXPECT_EQ(apart["three"], 110 * 6 + 3) << "in all places";
  // clang's alignment of the loop has instructions of this line.
  EXPECT_NEAR(static_cast<double>(apart["seven"]), 110 * 4, 4);
  EXPECT_EQ(held["both"] + held["other"], apart["both"] + apart["other"] + apart["seven"] + apart["three"]);
}

TEST_F(ProfileInlines, have_counts_of_their_own) { expect_split(INLINED); }

/// Compilers that write no address table, and the forms that each writes.
TEST_F(ProfileInlines, of_every_compiler) {
  bool any = false;
  for (const std::string compiler : {"gcc -gdwarf-4", "gcc -O2 -gdwarf-5", "clang-16 -gdwarf-4", "clang-16 -O2"}) {
    const TemporaryFile program("compiled");
    if (Running({"/bin/sh", "-c", compiler + " -O1 -g -o " + program.path() + " " INLINED_SOURCE}).finish().code() != 0)
      continue;
    SCOPED_TRACE(compiler);
    any = true;
    expect_split(program.path());
    // The source file of the function, by the file numbers that each form of debug information has.
    EXPECT_NE(profile_text({"--inlines", "--top", "0"}, program.path()).find("inlined.c:5\n"), std::string::npos);
  }
  if (!any) GTEST_SKIP() << "neither gcc nor clang-16 is installed";
}

TEST_F(ProfileInlines, are_in_stacks_below_the_function_that_holds_them) {
  const auto stacks = [](const Words& options) {
    std::map<std::string, std::int64_t> made;
    std::istringstream lines(profile_text(options, INLINED));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t space = line.rfind(' ');
      std::string stack = line.substr(0, space);
      if (const std::size_t main = stack.find(";main"); main != std::string::npos) stack = stack.substr(main + 1);
      made[stack] += std::stoll(line.substr(space + 1));
    }
    return made;
  };
  auto plain = stacks({"--repeatable", "--format", "folded"});
  auto split = stacks({"--repeatable", "--format", "folded", "--inlines"});
  EXPECT_EQ(plain.count("main;both;seven"), 0u);
  std::int64_t before = 0, after = 0;
  for (const auto& [stack, count] : plain) before += count;
  for (const auto& [stack, count] : split) after += count;
  EXPECT_EQ(before, after);
  // One stack has all of what `other` holds; those of `both` share it, and add up in each stack and in total.
  EXPECT_EQ(split["main;other;three"], 3);
  EXPECT_EQ(split["main;both;seven"] + split["main;other;both;seven"], 440);
  EXPECT_EQ(split["main;both;seven;three"] + split["main;other;both;seven;three"] + split["main;both;three"] +
                split["main;other;both;three"],
            660);
  EXPECT_EQ(split["main;both"] + split["main;both;seven"] + split["main;both;seven;three"] + split["main;both;three"],
            plain["main;both"]);
  EXPECT_NEAR(static_cast<double>(split["main;both;seven"]), 400, 2);
}

TEST_F(ProfileInlines, are_annotated_by_their_name) {
  const std::string text = profile_text({"--inlines", "--annotate", "three"}, INLINED);
  EXPECT_NE(text.find("663     5  INLINED three(void)"), std::string::npos) << text;
  const std::string short_table = profile_text({"--inlines", "--annotate", "three", "--top", "10"}, INLINED);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(short_table.begin(), short_table.end(), '\n'));
}

TEST_F(ProfileInlines, are_lines_in_valgrinds_forms) {
  for (const char* format : {"callgrind", "cachegrind"}) {
    const Finished refused = tally({"profile", "--inlines", "--format", format, "--", INLINED});
    EXPECT_EQ(refused.code(), 2);
    EXPECT_NE(refused.err.find("shows inlined code by its lines"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(tally({"profile", "--inlines", "--annotate", "both", "--asm", "--", INLINED}).code(), 2);
}

}  // namespace
}  // namespace tally::test
