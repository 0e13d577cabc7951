// The file of `tally bench`: its keys, and what is said of wrong ones.
#include "tally/tools/comparison/bench_suite.hpp"

#include <gtest/gtest.h>

namespace tally::comparison {
namespace {

std::string error_of(const std::string& text) {
  const auto suite = parse_suite(text, "s.toml");
  return suite ? "" : suite.error().message;
}

TEST(BenchSuite, has_defaults_that_a_benchmark_replaces) {
  const auto suite = parse_suite(
      "[[benchmark]]\nname = \"a\"\ncommand = [\"./a\", \"x y\"]\nrepeats = 5\n"
      "[[benchmark]]\nname = \"b\"\ncommand = [\"./b\"]\ndirectory = \"sub\"\nrepeatable = false\nfail-above = []\n"
      "[defaults]\nevents = [\"instructions\"]\nrepeats = 2\nfail-above = [\"instructions=1%\"]\n",
      "s.toml");
  ASSERT_TRUE(suite) << suite.error().message;
  ASSERT_EQ(suite->size(), 2u);
  const Benchmark &a = suite->at(0), &b = suite->at(1);
  EXPECT_EQ(a.command, (std::vector<std::string>{"./a", "x y"}));
  EXPECT_EQ(a.repeats, 5);
  EXPECT_EQ(a.fail_above, std::vector<std::string>{"instructions=1%"});
  EXPECT_TRUE(a.is_repeatable);
  EXPECT_EQ(b.directory, "sub");
  EXPECT_EQ(b.repeats, 2);
  EXPECT_EQ(b.events, std::vector<std::string>{"instructions"});
  EXPECT_TRUE(b.fail_above.empty());
  EXPECT_FALSE(b.is_repeatable);
}

TEST(BenchSuite, says_where_it_is_wrong) {
  EXPECT_EQ(error_of(""), "s.toml: the file has no benchmark");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a\"\ncomand = [\"./a\"]\n"), "s.toml:3: unknown key 'comand'");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a\"\ncommand = \"./a\"\n"), "s.toml:3: 'command' is not a list of texts");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a/b\"\ncommand = [\"a\"]\n"), "s.toml:1: the name 'a/b' is no file name");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a\"\n"), "s.toml:1: 'a' has no command");
  EXPECT_EQ(error_of("\nrepeats = 0\n"), "s.toml:2: unknown key 'repeats'");
  EXPECT_EQ(error_of("[defaults]\nrepeats = 0\n"), "s.toml:2: 'repeats' is not a number above 0");
  EXPECT_EQ(
      error_of("[[benchmark]]\nname = \"a\"\ncommand = [\"a\"]\n[[benchmark]]\nname = \"a\"\ncommand = [\"a\"]\n"),
      "s.toml:4: two benchmarks are called 'a'");
  EXPECT_NE(error_of("[[benchmark\n").find("s.toml:1: "), std::string::npos);
}

}  // namespace
}  // namespace tally::comparison
