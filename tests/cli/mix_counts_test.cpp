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
    const std::string name = event["name"];
    EXPECT_EQ(event["trust"], "exact") << name << " " << event["reason"];
    if (event["value"].is_number()) counts[name.substr(0, name.rfind(':'))] = event["value"];
  }
  return counts;
}

json result_of(const Words& options, const Words& program, int& code) {
  const TemporaryFile file("result.json");
  const Finished run =
      tally(with(with({"stat", "-q", "--repeatable", "--backend", "engine", "-o", file.path()}, options), with({"--", MIXED}, program)));
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
  const Counts in_function = exact_counts(result["regions"][0]["events"]);
  for (const auto& [name, value] : counts) EXPECT_EQ(in_function.at(name), value) << kind << " " << name;
}

INSTANTIATE_TEST_SUITE_P(, Mixed, testing::Values("sse", "x87", "strings", "locked", "calls", "avx", "masked"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tally::test
