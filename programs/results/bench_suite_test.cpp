// The file of `tally bench`: its keys, and what is said of wrong ones.
#include "programs/results/bench_suite.hpp"

#include <gtest/gtest.h>

#include "tally/output/result/setting.hpp"

namespace tally::results {
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
  EXPECT_EQ(a.setting_options(), std::vector<std::string>{"--repeatable"});
  EXPECT_EQ(b.directory, "sub");
  EXPECT_EQ(b.repeats, 2);
  EXPECT_EQ(b.events, std::vector<std::string>{"instructions"});
  EXPECT_TRUE(b.fail_above.empty());
  EXPECT_TRUE(b.setting_options().empty());
}

TEST(BenchSuite, accepts_every_setting_that_decides_counts) {
  std::string defaults = "[defaults]\n", own = "[[benchmark]]\nname = \"a\"\ncommand = [\"./a\"]\n";
  std::vector<std::string> words;
  for (const auto& [name, is_flag] : result::run_settings) {
    defaults += std::string(name) + (is_flag ? " = false\n" : " = \"x\"\n");
    own += std::string(name) + (is_flag ? " = true\n" : " = \"y\"\n");
    words.push_back("--" + std::string(name));
    if (!is_flag) words.emplace_back("y");
  }
  const auto suite = parse_suite(defaults + own, "s.toml");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->at(0).setting_options(), words);
  EXPECT_EQ(error_of("[defaults]\nrepeatable = 1\n"), "s.toml:2: 'repeatable' is neither true nor false");
  EXPECT_EQ(error_of("[defaults]\nclock = true\n"), "s.toml:2: 'clock' is not a text");
}

TEST(BenchSuite, has_settings_for_languages) {
  const auto suite = parse_suite(
      "[defaults]\nenvironment = \"fixed,HOME\"\n"
      "[[benchmark]]\nname = \"a\"\ncommand = [\"./a\"]\nlanguage = \"go\"\n"
      "[[benchmark]]\nname = \"b\"\ncommand = [\"node\", \"b.js\"]\nlanguage = \"node\"\nclock = \"real\"\n",
      "s.toml");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->at(0).setting_options(),
            (std::vector<std::string>{"--repeatable", "--environment", "fixed,HOME,GOGC", "--clock", "counted"}));
  EXPECT_EQ(suite->at(0).language_text(), "go: GOGC=off, --clock counted");
  EXPECT_EQ(suite->at(0).repeats, 5);
  EXPECT_EQ(suite->at(1).command, (std::vector<std::string>{"node", "--predictable", "b.js"}));
  EXPECT_EQ(suite->at(1).language_text(), "node: --predictable, --clock real");
  EXPECT_EQ(error_of("[defaults]\nlanguage = \"cobol\"\n"), "s.toml:2: unknown language 'cobol'");
}

TEST(BenchSuite, says_where_it_is_wrong) {
  EXPECT_EQ(error_of(""), "s.toml: the file has no benchmark");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a\"\ncomand = [\"./a\"]\n"), "s.toml:3: unknown key 'comand'");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a\"\ncommand = \"./a\"\n"), "s.toml:3: 'command' is not a list of texts");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a/b\"\ncommand = [\"a\"]\n"), "s.toml:1: the name 'a/b' is no file name");
  EXPECT_EQ(error_of("[[benchmark]]\nname = \"a\"\n"), "s.toml:1: 'a' has no command");
  EXPECT_EQ(error_of("\nrepeats = 0\n"), "s.toml:2: unknown key 'repeats'");
  EXPECT_EQ(error_of("[defaults]\nrepeats = 0\n"), "s.toml:2: 'repeats' is not a number above 0");
  EXPECT_EQ(error_of("[defaults]\ntimeout = \"1s\"\n"), "s.toml:2: 'timeout' is not a whole number of seconds above 0");
  EXPECT_EQ(
      error_of("[[benchmark]]\nname = \"a\"\ncommand = [\"a\"]\n[[benchmark]]\nname = \"a\"\ncommand = [\"a\"]\n"),
      "s.toml:4: two benchmarks are called 'a'");
  EXPECT_NE(error_of("[[benchmark\n").find("s.toml:1: "), std::string::npos);
}

}  // namespace
}  // namespace tally::results
