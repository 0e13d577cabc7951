// Profiles of several runs as one, and the page of coverage.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

class ProfileMerge : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    build("");
    run(first_, {});
    run(second_, {"three", "more", "words"});
  }
  void build(const std::string& options) {
    std::ofstream(source_.path()) << R"(
__attribute__((noinline)) static int once(int n) { return n + 1; }
__attribute__((noinline)) static int more(int n) { return n * 2; }
int (*volatile pointer)(int) = once;
int main(int count, char **words) {
  if (count > 1) pointer = more;
  int sum = 0;
  for (int i = 0; i < 10 * count; i++) sum += pointer(i);
  return sum < 0;
}
)";
    ASSERT_EQ(shell("gcc -O1 -g -Wl,-q,--build-id " + options + " -o " + program_.path() + " " + source_.path()).code(),
              0);
  }
  void run(const TemporaryFile& to, const Words& words) {
    const Finished done = tally(with(
        {"profile", "-q", "-e", "instructions", "--format", "code", "-o", to.path(), "--", program_.path()}, words));
    ASSERT_EQ(done.code(), 0) << done.err;
  }
  Finished merge(const Words& options) {
    return tally(with(with({"report", "--merge"}, options), {first_.path(), second_.path()}));
  }

  const TemporaryFile source_{"merged.c"}, program_{"merged"}, first_{"first.code.json"}, second_{"second.code.json"};
};

TEST_F(ProfileMerge, adds_branches_and_lines) {
  const std::string bolt = merge({"--format", "bolt"}).out;
  // 10 times once() without words, 40 times more() with three words.
  EXPECT_NE(bolt.find(" 1 once/" + source_.path().substr(source_.path().rfind('/') + 1) + "/1 0 0 10\n"),
            std::string::npos)
      << bolt;
  EXPECT_NE(bolt.find(" 1 more/" + source_.path().substr(source_.path().rfind('/') + 1) + "/1 0 0 40\n"),
            std::string::npos)
      << bolt;
  EXPECT_NE(tally({"report", "--format", "bolt", first_.path()}).out.find("1 main "), std::string::npos) << "one file";
  const std::string lcov = merge({"--format", "lcov"}).out;
  if (lcov.find("SF:") == std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_NE(lcov.find("FNDA:10,once\n"), std::string::npos) << lcov;
  EXPECT_NE(lcov.find("FNDA:40,more\n"), std::string::npos) << lcov;
  EXPECT_NE(lcov.find("DA:8,50\n"), std::string::npos) << lcov;
}

TEST_F(ProfileMerge, page_of_coverage) {
  const TemporaryFile page("merged.coverage.html");
  const Finished run = merge({"-o", page.path()});
  ASSERT_EQ(run.code(), 0) << run.err;
  const std::string text = page.content().value_or("");
  if (text.find("class=\"covered\"") == std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_NE(text.find("all files"), std::string::npos);
  EXPECT_NE(text.find("             50 "), std::string::npos) << text.substr(text.find("<pre"));
}

TEST_F(ProfileMerge, has_a_limit_of_coverage) {
  const Finished below = merge({"--format", "lcov", "--fail-under", "100%"});
  if (below.err.find("no code has a source line") != std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_EQ(below.code(), 0) << "once() and more() were executed" << below.err;
  const Finished one = tally({"report", "--merge", "--format", "lcov", "--fail-under", "100%", first_.path()});
  EXPECT_EQ(one.code(), 1);
  EXPECT_NE(one.err.find("% of the lines were executed, less than 100 %"), std::string::npos) << one.err;
  EXPECT_EQ(merge({"--format", "bolt", "--fail-under", "80%"}).code(), 2);
  EXPECT_EQ(merge({"--format", "lcov", "--fail-under", "0.8"}).code(), 2);
}

// Lines of a library alone are not the program's coverage.
TEST_F(ProfileMerge, has_no_coverage_of_a_program_without_lines) {
  const TemporaryFile library("merged.so"), file("unknown.code.json");
  const std::string build = "echo 'int seen(int n) { return n; }' | gcc -g -shared -fPIC -o " + library.path() +
                            " -xc - && echo 'int seen(int); int main() { return seen(0); }' | gcc -o " +
                            program_.path() + " -xc - -xnone " + library.path();
  ASSERT_EQ(shell(build).code(), 0);
  run(file, {});
  const Finished limited = tally({"report", "--merge", "--format", "lcov", "--fail-under", "1%", file.path()});
  if (limited.err.find("no code has a source line") != std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_EQ(limited.code(), 125);
  EXPECT_NE(limited.err.find("has no source lines, so it is not in the coverage"), std::string::npos) << limited.err;
  EXPECT_EQ(tally({"report", "--merge", "--format", "lcov", file.path()}).code(), 0);
}

TEST_F(ProfileMerge, refuses_another_build_and_other_files) {
  build("-DOTHER -O0");
  run(second_, {});
  const Finished other = merge({"--format", "bolt"});
  EXPECT_EQ(other.code(), 2);
  EXPECT_NE(other.err.find("is another build in"), std::string::npos) << other.err;
  EXPECT_NE(merge({"--format", "table"}).code(), 0);
  const Finished rebuilt = tally({"report", "--format", "bolt", first_.path()});
  EXPECT_EQ(rebuilt.code(), 125);
  EXPECT_NE(rebuilt.err.find("the file was replaced after its code ran"), std::string::npos) << rebuilt.err;
  std::string text = first_.content().value_or("");
  text.insert(text.find("\"value\":") + 8, "1");
  std::ofstream(second_.path()) << text;
  const Finished changed = merge({"--format", "table"});
  EXPECT_EQ(changed.code(), 2);
  EXPECT_NE(changed.err.find("the rows of instructions:u do not add up to its value"), std::string::npos)
      << changed.err;
  std::ofstream(second_.path()) << "{\"schema\": \"tally-code/1\", \"command\": 3}";
  const Finished damaged = merge({"--format", "bolt"});
  EXPECT_EQ(damaged.code(), 2);
  EXPECT_NE(damaged.err.find("is not a profile by address"), std::string::npos) << damaged.err;
  EXPECT_NE(merge({"--format", "folded"}).code(), 0) << "merged profiles have no calls";
}

}  // namespace
}  // namespace tally::test
