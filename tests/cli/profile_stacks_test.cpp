// `tally profile --calls` of programs with several stacks, and of functions that call each other.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/stacks.hpp"

namespace tally::test {
namespace {

class ProfileStacks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

/// Inclusive instructions of times(n): its loop has few of its own.
void expect_rounds(const FoldedStacks& stacks, const Words& below, std::int64_t calls) {
  Words names = below;
  names.emplace_back("eleven");
  EXPECT_EQ(stacks.with_callees(names), 11 * calls) << below.front();
}

/// Frames that a handler leaves by siglongjmp end there, whichever stack the handler runs on.
TEST_P(ProfileStacks, of_a_handler_that_leaves_its_own_stack) {
  const FoldedStacks stacks({STACKED, "guard", GetParam()});
  ASSERT_EQ(stacks.finished.code(), 0) << stacks.finished.err;
  expect_rounds(stacks, {"main", "guarded", "recovered"}, 100 * 10);
  expect_rounds(stacks, {"main", "afterwards"}, 3);
  EXPECT_EQ(stacks.with_callees({"faulty", "recovered"}), 0);
  EXPECT_EQ(stacks.with_callees({"faulty", "afterwards"}), 0);
  EXPECT_EQ(stacks.with_callees({"guarded", "afterwards"}), 0);
  EXPECT_EQ(stacks.with_callees({"guarded", "exit"}), 0);
  EXPECT_EQ(stacks.with_callees({"faulty", "exit"}), 0);
}

/// Callees of a coroutine are below its own body, not below the one that it was entered from.
TEST_P(ProfileStacks, of_coroutines) {
  for (const char* const how : {"coroutines", "fibres"}) {
    const FoldedStacks stacks({STACKED, how, GetParam()});
    ASSERT_EQ(stacks.finished.code(), 0) << stacks.finished.err;
    const bool by_hand = std::string(how) == "fibres";
    const char *const first = by_hand ? "first_fibre" : "first", *const second = by_hand ? "second_fibre" : "second";
    expect_rounds(stacks, {first, "work_first"}, 50 * 20);
    expect_rounds(stacks, {second, "work_second"}, 50 * 7);
    expect_rounds(stacks, {"main", "afterwards"}, 3);
    EXPECT_EQ(stacks.with_callees({first, "work_second"}), 0) << how;
    EXPECT_EQ(stacks.with_callees({second, "work_first"}), 0) << how;
    EXPECT_EQ(stacks.with_callees({first, second}), 0) << how;
    EXPECT_EQ(stacks.with_callees({"main", "work_first"}), 0) << how;
    EXPECT_EQ(stacks.with_callees({first, "afterwards"}), 0) << how;
  }
}
INSTANTIATE_TEST_SUITE_P(where, ProfileStacks, testing::Values("program", "malloc", "stack"),
                         [](const auto& one) { return std::string(one.param); });

TEST(ProfileStack, of_functions_that_call_each_other) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const Words command{STACKED, "cycle"};
  const FoldedStacks stacks(command);
  // 51 of 101 calls are in even(), 50 in odd(); the outermost call of even() is in no odd().
  const std::int64_t even = stacks.with_callees({"even"}), odd = stacks.with_callees({"odd"});
  EXPECT_EQ(stacks.own("even") + stacks.own("odd"), even);
  EXPECT_GT(odd * 100, even * 98);
  EXPECT_LT(odd, even);
  const TemporaryFile file("profile.json"), callgrind("callgrind.out.1");
  for (const std::string& path : {file.path(), callgrind.path()})
    ASSERT_EQ(tally(with({"profile", "-q", "--calls", "-e", "instructions", "-o", path, "--"}, command)).code(), 0);
  const nlohmann::json json = nlohmann::json::parse(file.content().value_or(""));
  std::map<std::string, std::int64_t> own, below;
  for (const auto& function : json["functions"]) own[function["name"]] += function["counts"][0].get<std::int64_t>();
  for (const auto& call : json["calls"])
    below[json["functions"][call["caller"].get<std::size_t>()]["name"]] += call["inclusive"][0].get<std::int64_t>();
  EXPECT_EQ(own["even"] + below["even"], even) << "self counts and those of calls add up to the inclusive count";
  EXPECT_EQ(own["odd"] + below["odd"], odd);
  const Finished table = tally(with({"profile", "-q", "--calls", "-e", "instructions", "--"}, command));
  const double share = 100.0 * static_cast<double>(odd) / json["events"][0]["value"].get<double>();
  // This is another run: the dynamic linker may have executed a few instructions more or less.
  bool is_shown = false;
  for (const double off : {-0.01, 0.0, 0.01}) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f %%", share + off);
    is_shown = is_shown || table.err.find(text) != std::string::npos;
  }
  EXPECT_TRUE(is_shown) << share << "\n" << table.err;
  // And as callgrind_annotate adds them up.
  if (Running({"/bin/sh", "-c", "command -v callgrind_annotate"}).finish().code() != 0)
    GTEST_SKIP() << "callgrind_annotate is not installed (package valgrind)";
  const std::string read =
      Running({"/bin/sh", "-c",
               "callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no " + callgrind.path() + " | tr -d ,"})
          .finish()
          .out;
  for (const auto& [name, count] : {std::pair{"even", even}, {"odd", odd}})
    EXPECT_NE(read.find(std::to_string(count) + "  "), std::string::npos) << name << "\n" << read;
}

/// Accesses that are known only at run time, and corrections after faults, belong to the call that they were in.
TEST(ProfileStack, of_string_instructions) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const TemporaryFile file("profile.json");
  ASSERT_EQ(
      tally({"profile", "-q", "--calls", "-e", "loads,stores", "-o", file.path(), "--", STACKED, "strings"}).code(), 0);
  const nlohmann::json json = nlohmann::json::parse(file.content().value_or(""));
  std::int64_t self[2] = {}, stores_of_copies = 0;
  for (const auto& row : json["stacks"]["rows"]) {
    for (std::size_t e = 0; e < 2; e++) self[e] += row[5][e].get<std::int64_t>();
    if (json["functions"][row[2].get<std::size_t>()]["name"] == "copy_bytes")
      stores_of_copies += row[5][1].get<std::int64_t>();
  }
  for (std::size_t e = 0; e < 2; e++)
    EXPECT_LE(json["events"][e]["value"].get<std::int64_t>() - self[e], 10) << "before the first call";
  EXPECT_EQ(stores_of_copies, 50 * 301);
}

/// Nothing is lost when the engine discards its code.
TEST(ProfileStack, of_code_that_is_discarded) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const TemporaryFile file("profile.json");
  ASSERT_EQ(tally({"profile", "-q", "--calls", "-e", "instructions", "--cache-limit", "50", "-o", file.path(), "--",
                   STACKED, "cycle"})
                .code(),
            0);
  const nlohmann::json json = nlohmann::json::parse(file.content().value_or(""));
  std::int64_t self = 0;
  for (const auto& row : json["stacks"]["rows"]) self += row[5][0].get<std::int64_t>();
  EXPECT_LE(json["events"][0]["value"].get<std::int64_t>() - self, 60) << "before the first call";
}

/// Calls and returns keep flags and registers.
TEST(ProfileStack, of_calls_that_pass_flags) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const FoldedStacks stacks({STACKED, "unusual"});
  EXPECT_EQ(stacks.finished.code(), 0) << stacks.finished.err;
  expect_rounds(stacks, {"main", "afterwards"}, 3);
  EXPECT_EQ(stacks.with_callees({"unusual", "afterwards"}), 0);
  EXPECT_EQ(stacks.with_callees({"unusual"}), 50 * 29);
}

/// Threads of the same name are merged in stacks.
TEST(ProfileStack, of_threads_with_one_name) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const FoldedStacks stacks({STACKED, "threads"});
  expect_rounds(stacks, {"stacked (worker)"}, 600);
  std::map<std::vector<std::string>, int> seen;
  for (const FoldedStack& stack : stacks.all) EXPECT_EQ(++seen[stack.names], 1);
}

/// Frames without room are reported as such, and later frames are correct again.
TEST(ProfileStack, of_too_many_calls_that_have_not_returned) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const Finished table = tally({"profile", "-q", "--calls", "-e", "instructions", "--", STACKED, "deep"});
  EXPECT_NE(table.err.find("calls were too deep"), std::string::npos) << table.err;
  EXPECT_EQ(table.err.find("different stacks"), std::string::npos) << table.err;
  const FoldedStacks stacks({STACKED, "deep"});
  expect_rounds(stacks, {"main", "afterwards"}, 3);
  EXPECT_EQ(stacks.with_callees({"deep", "afterwards"}), 0);
  EXPECT_EQ(stacks.own("deep"), 300'000 * 4 - 1);
}

}  // namespace
}  // namespace tally::test
