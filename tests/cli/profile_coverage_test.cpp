// Coverage of a program that was not built for it, compared with gcov and a program that was.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

constexpr const char* tested = R"(#include <stdlib.h>
static int absolute(int n) {
  if (n < 0)
    return -n;
  return n;
}
static int unused(int n) {
  return n * 2;
}
int main(int argc, char** argv) {
  int sum = 0;
  for (int i = 0; i < 10; i++) {
    sum += absolute(i);
    if (i == 7)
      sum += atoi("3");
  }
  if (argc > 5)
    return unused(sum);
  return sum == 48 ? 0 : 1;
}
)";

class ProfileCoverage : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    std::ofstream(source_.path()) << tested;
    ASSERT_EQ(shell("gcc -O0 -g -o " + program_.path() + " " + source_.path()).code(), 0);
  }
  Finished profile(const std::string& file, const Words& options = {}) {
    return tally(with(with({"profile", "-q", "-o", file}, options), {"--", program_.path()}));
  }
  const TemporaryFile source_{"tested.c"}, program_{"tested"};
};

TEST_F(ProfileCoverage, lcov_has_lines_functions_and_branches) {
  const TemporaryFile output("tested.info");
  const Finished run = profile(output.path());
  ASSERT_EQ(run.code(), 0) << run.err;
  const std::string text = output.content().value_or("");
  if (text.find("SF:") == std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_EQ(text.rfind("SF:"), text.find("SF:" + source_.path())) << "no other file\n" << text;
  for (const char* line : {"DA:3,10\n", "DA:4,0\n", "DA:5,10\n", "DA:7,0\n", "DA:8,0\n", "DA:13,10\n", "DA:15,1\n",
                           "DA:17,1\n", "DA:18,0\n", "FN:2,absolute\n", "FNDA:10,absolute\n", "FNDA:0,unused\n",
                           "FNDA:1,main\n", "FNF:3\nFNH:2\n", "BRDA:3,0,0,10\nBRDA:3,0,1,0\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

// lcov 1 reads names up to a comma, so it would merge "f(int, int)" and "f(int, long)".
TEST_F(ProfileCoverage, overloads_and_static_functions_of_one_name_are_distinct) {
  if (shell("command -v g++").code() != 0) GTEST_SKIP() << "g++ is not installed";
  const TemporaryFile first("first.cpp", R"(#define INLINED static inline __attribute__((always_inline))
INLINED int helper(int n) { return n * 3; }
__attribute__((noinline)) int f(int a, int b) { return a + b; }
__attribute__((noinline)) int f(int a, long b) { return a * b; }
int many(int n) { return n > 100 ? f(helper(n), 2L) : f(n, 2); }
)");
  const TemporaryFile second("second.cpp", R"(#define INLINED static inline __attribute__((always_inline))
volatile int sum;
int many(int n);
INLINED int helper(int n) { return n + many(n); }
int main() { for (int i = 0; i < 10; i++) sum += helper(i); return 0; }
int (*volatile pointer)(int) = helper;
)");
  const TemporaryFile output("distinct.info");
  ASSERT_EQ(shell(fmt::format("g++ -O1 -g -o {} {} {}", program_.path(), first.path(), second.path())).code(), 0);
  if (profile(output.path()).code() == 125) GTEST_SKIP() << "built without libdw";
  const std::string text = output.content().value_or("");
  for (const char* line :
       {"FN:3,_Z1fii\n", "FN:4,_Z1fil\n", "FNDA:10,_Z1fii\n", "FNDA:0,_Z1fil\n", "FNF:4\nFNH:2\n", "FN:2,helper\n",
        "FNDA:0,helper\n", "FN:4,_ZL6helperi\n", "FNDA:10,_ZL6helperi\n", "FNF:2\nFNH:2\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

// The compiler makes two destructors of it, one of which deletes.
TEST_F(ProfileCoverage, copies_of_a_function_are_one) {
  if (shell("command -v g++").code() != 0) GTEST_SKIP() << "g++ is not installed";
  const TemporaryFile source("copies.cpp", R"(volatile int sum; struct A { virtual ~A(); };
__attribute__((noinline)) A::~A() { sum++; }
int main() { A a; }
)");
  const TemporaryFile output("copies.info");
  ASSERT_EQ(shell(fmt::format("g++ -O1 -g -o {} {}", program_.path(), source.path())).code(), 0);
  if (profile(output.path()).code() == 125) GTEST_SKIP() << "built without libdw";
  const std::string text = output.content().value_or("");
  EXPECT_NE(text.find("FNDA:1,_ZN1AD"), std::string::npos) << text;
  EXPECT_NE(text.find("FNF:2\nFNH:2\n"), std::string::npos) << text;
}

TEST_F(ProfileCoverage, omits_standard_libraries) {
  const TemporaryFile source("own.c", R"(int own(int n) { return n + 1; }
int main(void) { return generic(own(-1)); }
#line 1 "/rustc/59807616e1fa/library/core/src/lib.rs"
int generic(int n) { return n; }
)");
  const TemporaryFile output("own.info");
  ASSERT_EQ(shell("gcc -O0 -g -w -std=gnu89 -o " + program_.path() + " " + source.path()).code(), 0);
  if (profile(output.path()).code() == 125) GTEST_SKIP() << "built without libdw";
  EXPECT_EQ(output.content().value_or("").find("SF:/rustc"), std::string::npos);
  EXPECT_EQ(profile(output.path(), {"--include", "*"}).code(), 0);
  EXPECT_NE(output.content().value_or("").find("SF:/rustc/59807616e1fa/library/core/src/lib.rs"), std::string::npos);
}

TEST_F(ProfileCoverage, has_every_line_that_gcov_calls_executed) {
  const TemporaryFile output("tested.info");
  ASSERT_EQ(profile(output.path()).code(), 0);
  std::map<int, long> counts;
  std::istringstream lines(output.content().value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("DA:")) counts[std::stoi(line.substr(3))] = std::stol(line.substr(line.find(',') + 1));
  if (counts.empty()) GTEST_SKIP() << "built without libdw";
  const std::string folder = source_.path() + ".gcov";
  const Finished gcov = shell("mkdir -p " + folder + " && cd " + folder + " && gcc -O0 -g --coverage -o t ../" +
                              source_.path().substr(source_.path().rfind('/') + 1) +
                              " && ./t && gcov -t *.gcda; cd .. && rm -rf " + folder);
  std::istringstream report(gcov.out);
  int executed = 0;
  for (std::string line; std::getline(report, line);) {
    long count = 0;
    int number = 0;
    char colon = 0;
    if (!(std::istringstream(line) >> count >> colon >> number) || number == 0 || count == 0) continue;
    ++executed;
    EXPECT_GT(counts[number], 0) << line;
  }
  EXPECT_GE(executed, 11) << gcov.out << gcov.err;
}

TEST_F(ProfileCoverage, cobertura_and_the_limit) {
  const TemporaryFile output("tested.cobertura.xml");
  const Finished run = profile(output.path(), {"--fail-under", "80%"});
  const std::string text = output.content().value_or("");
  if (run.err.find("no code has a source line") != std::string::npos) GTEST_SKIP() << "built without libdw";
  // 14 of 18 lines.
  EXPECT_EQ(run.code(), 1) << run.err;
  EXPECT_NE(run.err.find("% of the lines were executed, less than 80 %"), std::string::npos) << run.err;
  EXPECT_NE(text.find("<line number=\"3\" hits=\"10\" branch=\"true\" condition-coverage=\"50% (1/2)\"/>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<method name=\"unused\""), std::string::npos) << text;
  EXPECT_EQ(profile(output.path(), {"--fail-under", "50"}).code(), 0);
  EXPECT_EQ(profile(output.path(), {"--fail-under", "much"}).code(), 2);
  const Finished unclear = profile(output.path(), {"--fail-under", "0.8"});
  EXPECT_EQ(unclear.code(), 2);
  EXPECT_NE(unclear.err.find("write 80% or 0.8%"), std::string::npos) << unclear.err;
  EXPECT_EQ(profile(output.path(), {"--fail-under", "0.8%"}).code(), 0);
  EXPECT_EQ(profile(output.path(), {"--exclude", "tested*.c"}).code(), 125);
  const Finished stripped_run = [&] {
    shell("strip " + program_.path());
    return profile(output.path());
  }();
  EXPECT_EQ(stripped_run.code(), 125);
  EXPECT_NE(stripped_run.err.find("compile with -g"), std::string::npos) << stripped_run.err;
}

/// The elements and attributes of Cobertura's files, version 04.
constexpr const char* cobertura_dtd = R"(
<!ELEMENT coverage (sources?, packages)>
<!ATTLIST coverage line-rate CDATA #REQUIRED branch-rate CDATA #REQUIRED lines-covered CDATA #REQUIRED
  lines-valid CDATA #REQUIRED branches-covered CDATA #REQUIRED branches-valid CDATA #REQUIRED
  complexity CDATA #REQUIRED version CDATA #REQUIRED timestamp CDATA #REQUIRED>
<!ELEMENT sources (source*)> <!ELEMENT source (#PCDATA)> <!ELEMENT packages (package*)>
<!ELEMENT package (classes)> <!ELEMENT classes (class*)> <!ELEMENT class (methods, lines)>
<!ELEMENT methods (method*)> <!ELEMENT method (lines)> <!ELEMENT lines (line*)> <!ELEMENT line (conditions*)>
<!ELEMENT conditions (condition*)> <!ELEMENT condition EMPTY>
<!ATTLIST package name CDATA #REQUIRED line-rate CDATA #REQUIRED branch-rate CDATA #REQUIRED
  complexity CDATA #REQUIRED>
<!ATTLIST class name CDATA #REQUIRED filename CDATA #REQUIRED line-rate CDATA #REQUIRED branch-rate CDATA #REQUIRED
  complexity CDATA #REQUIRED>
<!ATTLIST method name CDATA #REQUIRED signature CDATA #REQUIRED line-rate CDATA #REQUIRED
  branch-rate CDATA #REQUIRED complexity CDATA #REQUIRED>
<!ATTLIST line number CDATA #REQUIRED hits CDATA #REQUIRED branch CDATA "false" condition-coverage CDATA "100%">
<!ATTLIST condition number CDATA #REQUIRED type CDATA #REQUIRED coverage CDATA #REQUIRED>
)";

TEST_F(ProfileCoverage, is_valid_cobertura) {
  if (shell("command -v xmllint").code() != 0) GTEST_SKIP() << "xmllint is not installed (package libxml2-utils)";
  const TemporaryFile output("tested.cobertura.xml"), dtd("coverage.dtd");
  std::ofstream(dtd.path()) << cobertura_dtd;
  if (profile(output.path()).code() == 125) GTEST_SKIP() << "built without libdw";
  const Finished check = shell("xmllint --nonet --noout --dtdvalid " + dtd.path() + " " + output.path());
  EXPECT_EQ(check.code(), 0) << check.err;
}

TEST_F(ProfileCoverage, names_a_source_that_changed_after_the_build) {
  const TemporaryFile output("tested.info");
  const auto run = [&] { return tally({"profile", "-o", output.path(), "--", program_.path()}).err; };
  constexpr const char* moved = "is newer than the program: lines may have moved";
  const std::string before = run();
  if (before.find("no code has a source line") != std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_EQ(before.find(moved), std::string::npos) << before;
  ASSERT_EQ(shell("touch -d 'next year' " + source_.path()).code(), 0);
  EXPECT_NE(run().find(source_.path() + " " + moved), std::string::npos);
  ASSERT_EQ(tally({"profile", "-o", output.path(), "--format", "coverage", "--", program_.path()}).code(), 0);
  EXPECT_NE(output.content().value_or("").find("this file is newer"), std::string::npos);
}

TEST_F(ProfileCoverage, reports_damaged_debug_information) {
  if (shell("command -v objcopy").code() != 0) GTEST_SKIP() << "objcopy is not installed (package binutils)";
  const TemporaryFile output("tested.info"), junk("junk");
  if (profile(output.path()).code() == 125) GTEST_SKIP() << "built without libdw";
  std::ofstream(junk.path()) << std::string(500, 'x');
  for (const auto& [section, why] :
       {std::pair{"line", "a table of lines is damaged: "},
        {"info", "it is damaged: "},
        {"abbrev", "it is damaged: the entry of a compilation unit has no abbreviation"}}) {
    const TemporaryFile damaged("damaged");
    const std::string command = fmt::format("objcopy --update-section .debug_{}={} {} {}", section, junk.path(),
                                            program_.path(), damaged.path());
    ASSERT_EQ(shell(command).code(), 0);
    const Finished run = tally({"profile", "-o", output.path(), "--", damaged.path()});
    EXPECT_EQ(run.code(), 125) << run.err;
    EXPECT_NE(run.err.find(damaged.path() + ": " + why), std::string::npos) << run.err;
    EXPECT_EQ(tally({"profile", "-q", "--", damaged.path()}).code(), 0) << "its functions have names";
  }
}

// A program may name any file as its source, and pages are passed on.
TEST_F(ProfileCoverage, page_contains_only_files_with_the_name_of_a_source) {
  const TemporaryFile page("tested.coverage.html"), secret("secret");
  std::ofstream(secret.path()) << "the secret text\n";
  std::ofstream(source_.path(), std::ios::app) << "\n#line 1 \"" + secret.path() + "\"\nint more(void) { return 1; }\n";
  ASSERT_EQ(shell("gcc -O0 -g -o " + program_.path() + " " + source_.path()).code(), 0);
  if (profile(page.path()).code() == 125) GTEST_SKIP() << "built without libdw";
  const std::string text = page.content().value_or("");
  EXPECT_NE(text.find("absolute(i)"), std::string::npos) << "the source is in it";
  EXPECT_NE(text.find(secret.path() + ": the source file is missing, or its name"), std::string::npos);
  EXPECT_EQ(text.find("the secret text"), std::string::npos);
}

}  // namespace
}  // namespace tally::test
