// `tally bench` with gates on functions of threads, and programs that fail.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "tests/cli/bench_fixture.hpp"

namespace tally::test {
namespace {

// Four threads call `count`, which calls `step`, STEPS times.
class BenchFunctions : public Bench {
 protected:
  void SetUp() override {
    if (tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--", "true"}).code() != 0)
      GTEST_SKIP() << "the engine does not count here";
    std::ofstream(folder_ / "threads.c") << R"(#include <pthread.h>
#include <stdlib.h>
__attribute__((noinline)) static unsigned step(unsigned n) {
  unsigned x = n;
  for (unsigned i = 0; i < STEPS; i++) x = x * 1103515245 + 12345;
  return x;
}
__attribute__((noinline)) static unsigned count(unsigned n) { return step(n) + 1; }
__attribute__((noinline)) static unsigned other(unsigned n) { return n / 3 + 1; }
static void* run(void* n) { return (void*)(unsigned long)(count((unsigned)(unsigned long)n) + other(7)); }
int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return getenv("FAIL") != 0;
}
)";
  }
  void build(const std::string& steps) {
    const Words words{"/usr/bin/env",
                      "cc",
                      "-O1",
                      "-g",
                      "-pthread",
                      "-DSTEPS=" + steps,
                      (folder_ / "threads.c").string(),
                      "-o",
                      (folder_ / "threads").string()};
    ASSERT_EQ(Running(words).finish().code(), 0);
  }
  void write(const std::string& more) {
    std::ofstream(folder_ / "tally-bench.toml")
        << "[[benchmark]]\nname = \"threads\"\ncommand = [\"./threads\"]\nprofile = true\nevents = [\"instructions\"]\n"
           "fail-above = [\"instructions@count=1%\", \"instructions@other=1%\"]\n"
        << more;
  }
};

TEST_F(BenchFunctions, decides_gates_on_functions_of_threads_by_five_runs) {
  for (const char* const repeats : {"", "repeats = 5\n"}) {
    write(repeats);
    build("10000");
    const Finished first = bench({"-o", "old"});
    ASSERT_EQ(first.code(), 0) << first.err;
    EXPECT_TRUE(holds(first.out, "instructions:u@count")) << first.out;
    build("10300");
    const Finished slower = bench({"-o", "new", "--baseline", "old"});
    EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
    EXPECT_TRUE(std::regex_search(slower.out, std::regex(R"(@count .* \+[23]\.[0-9]+ % +1% +failed)"))) << slower.out;
    EXPECT_TRUE(std::regex_search(slower.out, std::regex("@other .* 0 +1% +passed"))) << slower.out;
  }
}

TEST_F(BenchFunctions, names_functions_that_the_baseline_lacks_before_it_runs_anything) {
  build("1000");
  write("");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  write("warn-above = [\"instructions@cuont=1%\"]\n");
  const Finished typo = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(holds(typo.err, "gate 'instructions@cuont=1%': no function or region of the baseline is called 'cuont'"))
      << typo.err;
  EXPECT_TRUE(holds(typo.err, "did you mean count?")) << typo.err;
  EXPECT_FALSE(holds(typo.err, "'instructions@count=1%'")) << typo.err;
}

TEST_F(BenchFunctions, counts_all_functions_of_a_name) {
  const auto compile = [&](const std::string& steps) {
    std::ofstream(folder_ / "other.cpp") << "__attribute__((noinline)) static int twice(int n) { return n * 3; }\n"
                                            "int other(int n) { return n < 0 ? twice(n) : n; }\n";
    std::ofstream(folder_ / "names.cpp") << R"(#include <thread>
__attribute__((noinline)) static int twice(int n) { asm volatile(""); return 2 * n; }
__attribute__((noinline)) static unsigned parse(unsigned n) {
  for (unsigned i = 0; i < 1000; i++) n = n * 1103515245 + 12345;
  return n;
}
__attribute__((noinline)) static unsigned parse(unsigned n, long m) {
  for (unsigned i = 0; i < STEPS; i++) n = n * 1103515245 + m;
  return n;
}
int other(int n);
int main() { std::thread([] { volatile unsigned n = parse(1) + parse(2, 3) + twice(4) + other(5); (void)n; }).join(); }
)";
    ASSERT_EQ(Running({"/usr/bin/env", "-C", folder_.string(), "g++", "-O1", "-pthread", "-DSTEPS=" + steps,
                       "names.cpp", "other.cpp", "-o", "names"})
                  .finish()
                  .code(),
              0);
  };
  std::ofstream(folder_ / "tally-bench.toml")
      << "[[benchmark]]\nname = \"names\"\ncommand = [\"./names\"]\nprofile = true\nevents = [\"instructions\"]\n"
         "fail-above = [\"instructions@parse=1%\", \"instructions@twice=1%\"]\n";
  compile("1000");
  const Finished first = bench({"-o", "old"});
  ASSERT_EQ(first.code(), 0) << first.out << first.err;
  compile("1100");
  const Finished slower = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex(R"(@parse\(unsigned int\) .* 0 +1% +passed)"))) << slower.out;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex(R"(@parse\(unsigned int, long\) .* \+9.* 1% +failed)")))
      << slower.out;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex("@twice.* undecided")))
      << "two files have a function of this name: " << slower.out;
}

TEST_F(BenchFunctions, has_a_row_if_each_gate_is_of_a_function) {
  build("10");
  write("repeats = 1\n");
  const Finished counted = bench();
  EXPECT_TRUE(std::regex_search(counted.out, std::regex("threads +instructions:u +- +[0-9,]+ +counted")))
      << counted.out;
}

TEST_F(BenchFunctions, reports_why_a_program_fails) {
  std::ofstream(folder_ / "tally-bench.toml")
      << "[[benchmark]]\nname = \"needs\"\ncommand = [\"sh\", \"-c\", \"echo no word; exit 4\"]\n"
         "environment = \"fixed\"\n"
         "[[benchmark]]\nname = \"missing\"\ncommand = [\"./missing\"]\n"
         "[[benchmark]]\nname = \"model\"\ncommand = [\"true\"]\nevents = [\"cycles\"]\nmodel = \"./missing\"\n";
  std::ofstream(folder_ / "tally-bench.toml", std::ios::app)
      << "[[benchmark]]\nname = \"list\"\ncommand = [\"sh\", \"-c\", \"printf 'tally: two functions:\\\\n  a(int)\\\\n"
         "  b()\\\\n'; exit 125\"]\n"
         "[[benchmark]]\nname = \"last\"\ncommand = [\"sh\", \"-c\", \"echo my last words; kill -SEGV $$\"]\n"
         "profile = true\nmodel = \"haswell\"\n";
  const std::string out = bench().out;
  EXPECT_TRUE(holds(out, "list: failed: exit code 125; two functions: a(int); b()")) << out;
  EXPECT_TRUE(std::regex_search(
      out,
      std::regex("needs: failed: exit code 4; its last line: no word; its environment\\s+is\\s+fixed: environment")))
      << out;
  EXPECT_TRUE(holds(out, "last: failed: exit code 139 (SIGSEGV); its last line: my last words"))
      << "not tally's notices" << out;
  EXPECT_TRUE(holds(out, "missing: failed: exit code 127; cannot run './missing'")) << out;
  EXPECT_TRUE(holds(out, "model: failed: exit code 2; the machine model: cannot read './missing'")) << out;
}

}  // namespace
}  // namespace tally::test
