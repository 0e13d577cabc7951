// Code that was interrupted in the middle of a straight line is counted line by line, and by process.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

/// The lines of a function in the program's source, by their text.
std::map<std::string, int> lines_of(const std::string& function) {
  std::map<std::string, int> lines;
  std::ifstream source(INTERRUPTED_SOURCE);
  int number = 0;
  bool is_inside = false;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.find(" " + function + "(volatile") != std::string::npos) is_inside = true;
    if (line == "}") is_inside = false;
    if (is_inside) lines[line.substr(line.find_first_not_of(' '))] = number;
  }
  return lines;
}

class Interrupted : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }

  void profile(const std::string& how, const Words& options) {
    const TemporaryFile file("profile.json");
    Words words{"profile", "-q", "--backend", "engine", "-e", "stores,instructions,branches", "--lines"};
    words = with(with(words, options), {"--format", "json", "-o", file.path(), "--", INTERRUPTED, how});
    const Finished finished = tally(words);
    ASSERT_EQ(finished.code(), 0) << finished.err;
    json_ = Json::parse(file.content().value_or(""), nullptr, false);
    ASSERT_TRUE(json_.is_object()) << finished.err;
    EXPECT_EQ(json_["events"][0]["trust"], "exact") << json_["events"][0]["reason"];
    EXPECT_EQ(json_["events"][0]["not_placed"], 0);
  }

  /// Stores of a line.
  std::int64_t stores(const std::string& function, const std::string& text) const {
    const std::map<std::string, int> lines = lines_of(function);
    if (!lines.contains(text)) return -1;
    std::int64_t sum = 0;
    for (const Json& one : json_["functions"])
      if (one["name"] == function)
        for (const Json& line : one["lines"])
          if (line["line"] == lines.at(text)) sum += line["counts"][0].get<std::int64_t>();
    return sum;
  }

  void expect_no_negative_counts() const {
    for (const Json& one : json_["functions"]) {
      EXPECT_GE(one["entered"].get<std::int64_t>(), 0) << one["name"];
      for (const Json& line : one["lines"])
        for (const Json& count : line["counts"]) EXPECT_GE(count.get<std::int64_t>(), 0) << one["name"] << line;
    }
    EXPECT_EQ(json_["threads"].size(), 1u) << json_["threads"];
    for (const Json& thread : json_["threads"]) EXPECT_GT(thread["tid"].get<std::int64_t>(), 0);
  }

  Json json_;
};

const Words ways[] = {{}, {"--calls"}, {"--block-size", "1"}, {"--hot-from", "10"}, {"--calls", "--hot-from", "10"}};

TEST_F(Interrupted, by_faults) {
  for (const Words& way : ways) {
    SCOPED_TRACE(way.empty() ? "" : way[0] + way.back());
    profile("faults", way);
    EXPECT_EQ(stores("straight", "a = 1;"), 330);
    EXPECT_EQ(stores("straight", "b = 2;"), 330);
    for (const char* const line : {"*p = 3;", "c = 4;", "d = 5;"}) EXPECT_EQ(stores("straight", line), 30) << line;
    EXPECT_EQ(stores("branching", "a = 1;"), 330);
    EXPECT_EQ(stores("branching", "if (n % 3 == 0) b = 2;"), 110);
    EXPECT_EQ(stores("branching", "*p = 3;"), 30);
    EXPECT_EQ(stores("branching", "if (n % 3 != 1) c = 4;"), 20);
    EXPECT_EQ(stores("branching", "d = 5;"), 30);
    for (const char* const line : {"*p = 3;", "d = 5;"}) EXPECT_EQ(stores("at_once", line), 30) << line;
    expect_no_negative_counts();
  }
}

TEST_F(Interrupted, by_signals_at_any_instruction) {
  for (const Words& way : ways) {
    SCOPED_TRACE(way.empty() ? "" : way[0] + way.back());
    profile("alarms", way);
    const std::int64_t n = stores("straight", "a = 1;");
    EXPECT_GT(n, 0);
    EXPECT_EQ(n % 3000, 0);
    for (const char* const line : {"b = 2;", "*p = 3;", "c = 4;", "d = 5;"})
      EXPECT_EQ(stores("straight", line), n) << line;
    for (const char* const line : {"a = 1;", "*p = 3;", "d = 5;"}) EXPECT_EQ(stores("branching", line), n) << line;
    EXPECT_EQ(stores("branching", "if (n % 3 == 0) b = 2;"), n / 3);
    EXPECT_EQ(stores("branching", "if (n % 3 != 1) c = 4;"), n / 3 * 2);
    expect_no_negative_counts();
  }
}

}  // namespace
}  // namespace tally::test
