// `tally compare` of two builds of a program: what changed is found and named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tally/core/base/full_run_testing.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

class CompareBuilds : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    for (const char* const side : {"old", "new"}) std::filesystem::create_directory(path(side));
  }

  std::string path(const std::string& name) const { return folder_.folder() + "/" + name; }

  // The profile of a program built from this text. Both builds have paths of the same length: the dynamic linker copies
  // them.
  std::string profile(const std::string& side, const std::string& source, const std::string& options = "") const {
    std::ofstream(path(side) + "/prog.c") << source;
    const Finished built =
        Running({"/bin/sh", "-c", fmt::format("gcc -O1 -g {1} -o {0}/prog {0}/prog.c", path(side), options)}).finish();
    EXPECT_EQ(built.code(), 0) << built.err;
    const std::string file = path(side) + ".json";
    const Finished counted =
        tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", file, "--", path(side) + "/prog"});
    EXPECT_EQ(counted.code(), 0) << counted.err;
    return file;
  }

  static json compared(const std::string& before, const std::string& after) {
    const Finished finished = tally({"compare", "--all", "--format", "json", before, after});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return json::parse(finished.out, nullptr, false);
  }

 private:
  TemporaryFile folder_{"folder"};
};

// 200 functions with a loop each; `planted` has one iteration more of 1,000.
std::string two_hundred_functions(int planted) {
  std::string text, calls;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format(
        "__attribute__((noinline)) unsigned f{0}(unsigned x) {{\n"
        "  for (unsigned i = 0; i < {1}; i++) x = x * 1103515245 + {0};\n  return x;\n}}\n",
        i, i == planted ? 1001 : 1000);
    calls += fmt::format("  x = f{}(x);\n", i);
  }
  return text + "int main(void) {\n  unsigned x = 1;\n" + calls + "  return x == 0;\n}\n";
}

TEST_F(CompareBuilds, finds_a_tenth_of_a_percent_in_one_of_200_functions) {
  const std::string before = profile("old", two_hundred_functions(-1)),
                    after = profile("new", two_hundred_functions(137));
  const json comparison = compared(before, after);
  EXPECT_EQ(comparison["events"][0]["verdict"], "worse");
  ASSERT_EQ(comparison["functions"].size(), 1u) << comparison["functions"];
  const json& function = comparison["functions"][0];
  EXPECT_EQ(function["function"], "f137");
  EXPECT_NEAR(function["relative_change"].get<double>(), 0.001, 0.0001);
  EXPECT_EQ(comparison["events"][0]["change"], function["change"]);
  EXPECT_EQ(tally({"compare", before, after, "--fail-above", "instructions@f137=0.05%"}).code(), 1);
  EXPECT_EQ(tally({"compare", before, after, "--fail-above", "instructions@f136=0%"}).code(), 0);
  const Finished typo = tally({"compare", before, after, "--fail-above", "instructions@f1370=1%"});
  EXPECT_EQ(typo.code(), 2);
  EXPECT_NE(typo.err.find("no function is called 'f1370'"), std::string::npos) << typo.err;
  EXPECT_NE(typo.err.find("did you mean f137"), std::string::npos) << typo.err;
}

TEST_F(CompareBuilds, finds_no_change_of_identical_builds) {
  const std::string source = two_hundred_functions(-1), before = profile("old", source);
  for (int i = 0; i < in_full_run(30, 8); ++i) {
    const std::string after = path("new") + ".json";
    if (i == 0)
      profile("new", source);
    else
      tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", after, "--", path("new") + "/prog"});
    const json comparison = compared(before, after);
    EXPECT_EQ(comparison["events"][0]["verdict"], "same") << comparison;
    EXPECT_TRUE(comparison["functions"].empty());
  }
}

// `generated` has one instruction more in the second build, endbr64. `edited` has another constant, and `repeated` is
// the same function with more iterations.
std::string three_functions(const char* constant, int iterations) {
  return fmt::format(
      "__attribute__((noinline)) unsigned generated(unsigned x) {{\n"
      "  for (unsigned i = 0; i < 1000; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
      "__attribute__((noinline)) unsigned edited(unsigned x) {{\n"
      "  for (unsigned i = 0; i < {0}; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
      "__attribute__((noinline)) unsigned repeated(unsigned x, unsigned n) {{\n"
      "  for (unsigned i = 0; i < n; i++) x = x * 1103515245 + i;\n  return x;\n}}\n"
      "int main(void) {{\n  return repeated(edited(generated(1)), {1}) == 0;\n}}\n",
      constant, iterations);
}

TEST_F(CompareBuilds, distinguishes_code_generation_from_changes_of_the_program) {
  const std::string before = profile("old", three_functions("1000", 1000)),
                    after = profile("new", three_functions("1001*1", 1001), "-fcf-protection=full");
  std::map<std::string, std::string> causes;
  const json comparison = compared(before, after);
  for (const json& function : comparison["functions"]) causes[function["function"]] = function.value("cause", "");
  EXPECT_EQ(causes["generated"], "code generation");
  ASSERT_EQ(causes.count("edited"), 1u);
  EXPECT_EQ(causes["edited"], "");
  // It has both more iterations and endbr64.
  ASSERT_EQ(causes.count("repeated"), 1u);
}

// The same code with more work, and source that is newer than the program.
TEST_F(CompareBuilds, claims_no_code_generation_without_proof) {
  const std::string before = profile("old", three_functions("1000", 1000)),
                    after = profile("new", three_functions("1000", 1001));
  json functions = compared(before, after)["functions"];
  ASSERT_FALSE(functions.empty());
  for (const json& function : functions) EXPECT_EQ(function.value("cause", ""), "") << function;
  profile("new", three_functions("1000", 1000), "-fcf-protection=full");
  std::filesystem::last_write_time(path("new") + "/prog.c",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(
      tally({"profile", "-q", "--repeatable", "-e", "instructions", "-o", after, "--", path("new") + "/prog"}).code(),
      0);
  functions = compared(before, after)["functions"];
  ASSERT_FALSE(functions.empty());
  for (const json& function : functions) EXPECT_EQ(function.value("cause", ""), "") << function;
}

}  // namespace
}  // namespace tally::test
