// `tally bench` with frameworks of benchmarks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/cli/bench_fixture.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

class FrameworkBench : public Bench {
 protected:
  void SetUp() override {
    if (tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--", "true"}).code() != 0)
      GTEST_SKIP() << "the engine does not count here";
  }
  void write_suite(const std::string& framework, const std::string& command, const std::string& more = "") {
    std::ofstream(folder_ / "tally-bench.toml")
        << "[defaults]\nevents = [\"instructions\"]\nfail-above = [\"instructions=1%\"]\n"
           "[[benchmark]]\nname = \"loops\"\ncommand = ["
        << command << "]\nframework = \"" << framework << "\"\n"
        << more;
  }
  void compile(const Words& words) {
    const Finished built = Running(with({"/usr/bin/env", "-C", folder_.string()}, words)).finish();
    ASSERT_EQ(built.code(), 0) << built.out << built.err;
  }
  // Counts twice, which has to be the same, and then after `change`, which makes each iteration 2 % more.
  template <class Change>
  void compare(Change change, const std::string& row, const std::string& growth,
               const std::string& same_row = "\\1 +0") {
    const Finished first = bench({"-o", "old"});
    ASSERT_EQ(first.code(), 0) << first.out << first.err;
    const Finished same = bench({"-o", "new", "--baseline", "old"});
    EXPECT_EQ(same.code(), 0) << same.out << same.err;
    EXPECT_TRUE(
        std::regex_search(same.out, std::regex(row + " +instructions:u +([0-9,]+) +" + same_row + " +1% +passed")))
        << same.out;
    change();
    const Finished slower = bench({"-o", "new", "--baseline", "old"});
    EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
    EXPECT_TRUE(std::regex_search(slower.out, std::regex(row + " .* \\+" + growth + "[0-9]* % +1% +failed")))
        << slower.out;
  }
};

// A program with one loop of WORK numbers, and one that calls SkipWithError().
class GoogleBenchmark : public FrameworkBench {
 protected:
  void SetUp() override {
    FrameworkBench::SetUp();
    if (IsSkipped()) return;
    if (!fs::exists("/usr/include/benchmark/benchmark.h"))
      GTEST_SKIP() << "google-benchmark is not installed (package libbenchmark-dev)";
    std::ofstream(folder_ / "loops.cpp") << R"(#include <benchmark/benchmark.h>
static void BM_loop(benchmark::State& state) {
  const long rounds = state.range(0) * WORK;
  for (auto _ : state)
    for (long i = 0; i < rounds; ++i) benchmark::DoNotOptimize(i);
}
BENCHMARK(BM_loop)->Arg(1)->Arg(10);
static void BM_wrong(benchmark::State& state) { state.SkipWithError("no input"); for (auto _ : state) {} }
BENCHMARK(BM_wrong);
BENCHMARK_MAIN();
)";
  }
  void build(const char* work) {
    compile({"g++", "-O1", "-std=c++17", std::string("-DWORK=") + work, "loops.cpp", "-lbenchmark", "-o", "loops"});
  }
  void loops(const std::string& more) { write_suite("google-benchmark", "\"./loops\"", more); }
};

TEST_F(GoogleBenchmark, counts_the_iterations_of_each_benchmark) {
  build("100");
  loops("");
  EXPECT_TRUE(holds(bench({"--list"}).out, "loops.BM_loop.10  ./loops"));
  const Finished first = bench({"-o", "old", "--only", "loops.BM_loop.1", "--only", "loops.BM_loop.10"});
  ASSERT_EQ(first.code(), 0) << first.out << first.err;
  std::smatch small, large;
  ASSERT_TRUE(std::regex_search(first.out, small, std::regex("BM_loop.1 +instructions:u +- +([0-9,]+)"))) << first.out;
  ASSERT_TRUE(std::regex_search(first.out, large, std::regex("BM_loop.10 +instructions:u +- +([0-9,]+)"))) << first.out;
  const auto number = [](std::string text) {
    std::erase(text, ',');
    return std::stod(text) / 1000;
  };
  const double step = (number(large[1]) - number(small[1])) / 900;
  EXPECT_NEAR(step, std::round(step), 0.01) << "instructions of each round: " << first.out;
  EXPECT_TRUE(holds(first.out, "1,000 iterations"));
  const Finished same = bench({"-o", "new", "--baseline", "old", "--only", "loops.BM_loop.10"});
  EXPECT_EQ(same.code(), 0) << same.out << same.err;
  build("102");
  const Finished slower = bench({"-o", "new", "--baseline", "old", "--only", "loops.BM_loop.10"});
  EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex(R"(BM_loop.10 .* \+(1\.9|2\.0)[0-9] % +1% +failed)")))
      << slower.out;
}

TEST_F(GoogleBenchmark, reports_benchmarks_without_counts_and_wrong_suites) {
  build("10");
  loops("");
  const Finished wrong = bench({"--only", "loops.BM_wrong"});
  EXPECT_EQ(wrong.code(), 125) << wrong.out << wrong.err;
  EXPECT_TRUE(holds(wrong.out, "no input")) << wrong.out;
  EXPECT_FALSE(fs::exists(folder_ / "tally-results/loops.BM_wrong.json"));
  for (const char* const key : {"profile = true\n", "clock = \"real\"\n", "language = \"go\"\n"}) {
    loops(key);
    const Finished refused = bench();
    EXPECT_EQ(refused.code(), 2) << key;
    EXPECT_TRUE(holds(refused.err, "has a framework, which cannot be combined with")) << refused.err;
  }
  loops("[[benchmark]]\nname = \"other\"\ncommand = [\"true\"]\nframework = \"google-benchmark\"\n");
  EXPECT_TRUE(holds(bench().err, "benchmark 'other': the program lists no benchmarks of google-benchmark"));
  loops("[[benchmark]]\nname = \"other\"\ncommand = [\"true\"]\nframework = \"gbench\"\n");
  EXPECT_TRUE(holds(bench().err, "unknown framework 'gbench'"));
}

TEST_F(GoogleBenchmark, decides_threads_by_repeats) {
  std::ofstream(folder_ / "loops.cpp") << R"(#include <benchmark/benchmark.h>
static void BM_loop(benchmark::State& state) {
  for (auto _ : state)
    for (long i = 0; i < 10 * WORK; ++i) benchmark::DoNotOptimize(i);
}
BENCHMARK(BM_loop)->Threads(2);
BENCHMARK_MAIN();
)";
  build("100");
  loops("repeats = 1\n");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  const Finished one = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(one.code(), 3) << one.out;
  EXPECT_TRUE(holds(one.out, "(repeats = 5)")) << one.out;
  loops("");
  compare([&] { build("102"); }, "loops.BM_loop.threads:2", "(1\\.9|2\\.0)", ".*");
  EXPECT_TRUE(holds(text("old/loops.BM_loop.threads-2.json"), "\"runs_asked\": 5"));
}

// Two process IDs have the same seed once in 300 times.
TEST_F(GoogleBenchmark, repeats_benchmarks_whose_work_depends_on_the_process) {
  std::ofstream(folder_ / "loops.cpp") << R"(#include <benchmark/benchmark.h>
#include <cstdlib>
#include <unistd.h>
static void BM_loop(benchmark::State& state) {
  srand(state.range(0) == 0 ? 1 : getpid());
  const long rounds = WORK + rand() % 300;
  for (auto _ : state)
    for (long i = 0; i < rounds; ++i) benchmark::DoNotOptimize(i);
}
BENCHMARK(BM_loop)->Arg(0)->Arg(1);
BENCHMARK_MAIN();
)";
  build("1000");
  loops("");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  const Finished same = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(same.code(), 3) << same.out << same.err;
  EXPECT_TRUE(std::regex_search(same.out, std::regex("BM_loop.0 .* passed"))) << same.out;
  EXPECT_TRUE(std::regex_search(same.out, std::regex("BM_loop.1 .* undecided"))) << same.out;
  EXPECT_TRUE(holds(text("new/loops.BM_loop.0.json"), "\"runs_asked\": 1"));
  EXPECT_TRUE(holds(text("new/loops.BM_loop.1.json"), "\"runs_asked\": 5"));
}

TEST_F(GoogleBenchmark, grades_differences_of_runs_that_did_different_work) {
  std::ofstream(folder_ / "loops.cpp") << R"(#include <benchmark/benchmark.h>
#include <cstring>
static long rounds = 1000;
static void BM_loop(benchmark::State& state) {
  for (auto _ : state)
    for (long i = 0; i < rounds; ++i) benchmark::DoNotOptimize(i);
}
BENCHMARK(BM_loop)->Iterations(10);
int main(int argc, char** argv) {
  for (int i = 0; i < argc; ++i)
    if (std::strcmp(argv[i], "--benchmark_repetitions=2") == 0) rounds = 100;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
)";
  build("1");
  loops("");
  ASSERT_EQ(bench().code(), 0);
  const std::string result =
      text("tally-results/loops.BM_loop.iterations:10.json") + text("tally-results/loops.BM_loop.iterations-10.json");
  EXPECT_TRUE(holds(result, "\"partial\"")) << result;
  EXPECT_TRUE(holds(result, "the runs of which it is the difference did different work")) << result;
}

// What runs once must not decide how often the loop runs, and what the loop starts is part of it.
TEST_F(GoogleBenchmark, counts_the_steady_state_and_what_the_loop_starts) {
  std::ofstream(folder_ / "loops.cpp") << R"(#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
static void work(long n) { for (long i = 0; i < n; ++i) benchmark::DoNotOptimize(i); }
static void once(benchmark::State& state) {
  for (auto _ : state) {
    static const bool done = (work(400000), true);
    benchmark::DoNotOptimize(done);
    work(WORK);
  }
}
BENCHMARK(once);
static void first(benchmark::State& state) {
  bool is_first = true;
  for (auto _ : state) {
    if (is_first) work(4000 * WORK);
    is_first = false;
    work(100);
  }
}
BENCHMARK(first);
static void differs(benchmark::State& state) {
  long i = 0;
  for (auto _ : state) work(i++ % 7 ? 1000 : 70 * WORK);
}
BENCHMARK(differs);
static void thread(benchmark::State& state) {
  for (auto _ : state) std::thread([] { work(200 * WORK); }).join();
}
BENCHMARK(thread);
static void child(benchmark::State& state) {
  for (auto _ : state) {
    const pid_t pid = fork();
    if (pid == 0) {
      work(200 * WORK);
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
  }
}
BENCHMARK(child);
BENCHMARK_MAIN();
)";
  build("100");
  loops("repeats = 1\n");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  build("110");
  const Finished slower = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
  for (const char* const name : {"once", "thread", "child"})
    EXPECT_TRUE(std::regex_search(
        slower.out, std::regex(std::string("loops.") + name + R"( .* \+(8|9|10)\.[0-9]+ % +1% +(failed|undecided))")))
        << name << slower.out;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex("loops.first .* 0 +1% +passed"))) << slower.out;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex(R"(loops.differs .* \+5\.[0-9]+ % +1% +failed)"))) << slower.out;
  const std::regex iterations("difference between [0-9,]+ and [0-9,]+ iterations");
  std::smatch before, after;
  const std::string old_text = text("old/loops.differs.json"), new_text = text("new/loops.differs.json");
  ASSERT_TRUE(std::regex_search(old_text, before, iterations) && std::regex_search(new_text, after, iterations));
  EXPECT_EQ(before.str(), after.str()) << "counts of the same iterations are compared";
}

TEST_F(FrameworkBench, counts_the_benchmarks_of_catch2) {
  if (!fs::exists("/usr/include/catch2/catch.hpp")) GTEST_SKIP() << "Catch2 2 is not installed (package catch2)";
  std::ofstream(folder_ / "loops.cpp") << R"(#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#include <cstdlib>
#include <unistd.h>
static long sum(long n) {
  long total = 0;
  for (long i = 0; i < n * WORK; ++i) asm volatile("" : "+r"(total));
  return total;
}
TEST_CASE("a test") { REQUIRE(sum(3) == 0); }
TEST_CASE("sums, \"of\" <numbers>", "[!benchmark]") {
  BENCHMARK("small: 10") { return sum(10); };
  BENCHMARK("large") { return sum(100); };
}
TEST_CASE("prepared", "[!benchmark]") {
  int calls = 0;
  BENCHMARK_ADVANCED("with a meter")(Catch::Benchmark::Chronometer meter) {
    std::vector<long> numbers(100, 3);
    meter.measure([&] { return sum(numbers[4]); });
  };
  BENCHMARK("varies") { return sum(++calls % 7); };
}
TEST_CASE("seeded", "[seeded]") {
  srand(getpid());
  const long n = 10 + rand() % 300;
  BENCHMARK("by the process") { return sum(n); };
}
)";
  std::ofstream(folder_ / "main.cpp") << "#define CATCH_CONFIG_ENABLE_BENCHMARKING\n#define CATCH_CONFIG_MAIN\n"
                                         "#include <catch2/catch.hpp>\n";
  compile({"g++", "-c", "main.cpp", "-o", "main.o"});
  const auto build = [&](const std::string& work) {
    compile({"g++", "-O2", "-DWORK=" + work, "loops.cpp", "main.o", "-o", "loops"});
  };
  build("50");
  write_suite("catch2", R"("./loops", "[!benchmark]")");
  EXPECT_TRUE(holds(bench({"--list"}).out, "loops.sums, \"of\" <numbers>.small: 10  ./loops"));
  const Finished varies = bench({"--only", "loops.prepared.varies"});
  EXPECT_EQ(varies.code(), 125) << varies.out;
  EXPECT_TRUE(holds(varies.out, "write clock = \"counted\"") || holds(varies.out, "cannot distinguish")) << varies.out;
  std::string suite = text("loops.cpp");
  suite.erase(suite.find("  BENCHMARK(\"varies"),
              suite.find("}\n", suite.find("varies")) - suite.find("  BENCHMARK(\"varies"));
  std::ofstream(folder_ / "loops.cpp") << suite;
  build("50");
  compare([&] { build("51"); }, "small: 10", "(1\\.9|2\\.0)");
  EXPECT_TRUE(fs::exists(folder_ / "new/loops.sums, -of- -numbers-.small- 10.json"))
      << "artifacts of GitHub have no such characters in their names";
  EXPECT_TRUE(holds(text("old/loops.sums, -of- -numbers-.small- 10.json"), "\"runs_asked\": 2"))
      << "Catch2 reads the clock, so a second run has to agree";
  write_suite("catch2", R"("./loops", "[seeded]")");
  ASSERT_EQ(bench({"-o", "new"}).code(), 0);
  EXPECT_TRUE(holds(text("new/loops.seeded.by the process.json"), "\"runs_asked\": 5"));
}

TEST_F(FrameworkBench, counts_the_benchmarks_of_criterion) {
  if (!fs::exists("/usr/share/cargo/registry/criterion-0.3.6") ||
      Running({"/usr/bin/env", "cargo", "--version"}).finish().code() != 0)
    GTEST_SKIP() << "Criterion is not installed (packages cargo and librust-criterion-dev)";
  fs::create_directories(folder_ / "benches");
  fs::create_directories(folder_ / ".cargo");
  fs::create_directories(folder_ / "src");
  std::ofstream(folder_ / "src/lib.rs") << "";
  std::ofstream(folder_ / ".cargo/config.toml") << "[source.crates-io]\nreplace-with = \"debian\"\n"
                                                   "[source.debian]\ndirectory = \"/usr/share/cargo/registry\"\n";
  std::ofstream(folder_ / "Cargo.toml")
      << "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2018\"\n"
         "[dev-dependencies]\ncriterion = { version = \"0.3\", default-features = false }\n"
         "[[bench]]\nname = \"sums\"\nharness = false\n[profile.bench]\nopt-level = 0\n";
  const auto build = [&](const std::string& work) {
    std::ofstream(folder_ / "benches/sums.rs") << R"(
use criterion::{black_box, criterion_group, criterion_main, BatchSize, Criterion};
fn sum(n: u64) -> u64 { (0..n * )" + work + R"().fold(0, |total: u64, i| black_box(total.wrapping_add(i))) }
fn all(c: &mut Criterion) {
    c.bench_function("small sum", |b| b.iter(|| sum(black_box(10))));
    c.bench_function("a thread", |b| b.iter(|| std::thread::spawn(|| sum(black_box(10))).join().unwrap()));
    let mut group = c.benchmark_group("group");
    group.bench_function("batches", |b| b.iter_batched(|| 10, |n| sum(n), BatchSize::SmallInput));
    group.finish();
}
criterion_group!(benches, all);
criterion_main!(benches);
)";
    compile({"sh", "-c",
             "file=$(cargo bench --offline --no-run --message-format json | grep -o '\"executable\":\"[^\"]*' | "
             "tail -n 1 | cut -d '\"' -f 4) && cp \"$file\" loops"});
  };
  build("50");
  write_suite("criterion", "\"./loops\"");
  const Finished batches = bench({"--only", "loops.group.batches"});
  EXPECT_EQ(batches.code(), 125) << batches.out;
  EXPECT_TRUE(holds(batches.out, "tally cannot count iter_batched()")) << batches.out;
  const Finished threads = bench({"--only", "loops.a thread"});
  EXPECT_TRUE(std::regex_search(threads.out, std::regex("a thread .* partial"))) << threads.out;
  const auto compare_small = [&](const Words& more) { return bench(with({"--only", "loops.small sum"}, more)); };
  ASSERT_EQ(compare_small({"-o", "old"}).code(), 0);
  const Finished same = compare_small({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(same.code(), 0) << same.out << same.err;
  build("51");
  const Finished slower = compare_small({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
  EXPECT_TRUE(std::regex_search(slower.out, std::regex(R"(\+(1\.9|2\.0)[0-9] % +1% +failed)"))) << slower.out;
}

TEST_F(FrameworkBench, counts_tests_of_pytest) {
  if (Running({"/usr/bin/python3", "-c", "import pytest"}).finish().code() != 0)
    GTEST_SKIP() << "pytest is not installed (package python3-pytest)";
  const bool has_fixture = Running({"/usr/bin/python3", "-c", "import pytest_benchmark"}).finish().code() == 0;
  std::ofstream(folder_ / "test_words.py")
      << "import words\n\n\ndef test_rounds(tmp_path):\n    (tmp_path / 'new').mkdir()\n    words.rounds(4000)\n\n\n"
         "def test_first():\n    assert True\n\n\n"
      << (has_fixture ? "def test_measured(benchmark):\n    assert benchmark(words.rounds, 100) == 100\n" : "");
  const auto build = [&](const std::string& more) {
    std::ofstream(folder_ / "words.py") << "def rounds(n):\n    total = 0\n    for _ in range(n + n * " + more +
                                               " // 100):\n        total += 1\n    return n\n";
  };
  build("0");
  write_suite("pytest", R"("/usr/bin/python3", "-m", "pytest", "test_words.py")");
  ASSERT_EQ(unsetenv("PYTHONPATH"), 0);
  const Finished without = bench();
  EXPECT_EQ(without.code(), 2);
  EXPECT_TRUE(without.err.starts_with("tally: pytest cannot import its plugin tally.pytest_plugin\n")) << without.err;
  ASSERT_EQ(setenv("PYTHONPATH", TALLY_SOURCE "/python", 1), 0);
  ASSERT_EQ(setenv("TALLY_LIBRARY", TALLY_LIBRARY, 1), 0);
  ASSERT_EQ(setenv("PYTHONDONTWRITEBYTECODE", "1", 1), 0);
  const std::string list = bench({"--list"}).out;
  EXPECT_TRUE(holds(list, "loops.test_words.py::test_rounds") && holds(list, "test_first")) << list;
  compare([&] { build("6"); }, "test_words.py::test_rounds", "[0-9]+\\.", ".*");
  if (has_fixture) EXPECT_TRUE(holds(bench({"--only", "loops.test_words.py::test_measured"}).out, "counted"));
  // What a test leaves to others is not counted.
  std::ofstream(folder_ / "test_others.py")
      << "import subprocess\nimport threading\n\n\ndef test_thread():\n    thread = threading.Thread(target=print)\n"
         "    thread.start()\n    thread.join()\n\n\ndef test_child():\n    subprocess.run(['true'])\n";
  write_suite("pytest", R"("/usr/bin/python3", "-m", "pytest", "test_others.py")");
  const Finished others = bench();
  for (const char* const test : {"thread", "child"})
    EXPECT_TRUE(std::regex_search(others.out, std::regex(std::string("test_") + test + " .* partial"))) << others.out;
}

// A test that seeds its work with the process ID: two runs that agree may do so by chance.
TEST_F(FrameworkBench, lets_two_runs_of_pytest_pass_and_not_fail) {
  if (Running({"/usr/bin/python3", "-c", "import pytest"}).finish().code() != 0)
    GTEST_SKIP() << "pytest is not installed (package python3-pytest)";
  ASSERT_EQ(setenv("PYTHONPATH", TALLY_SOURCE "/python", 1), 0);
  ASSERT_EQ(setenv("TALLY_LIBRARY", TALLY_LIBRARY, 1), 0);
  ASSERT_EQ(setenv("PYTHONDONTWRITEBYTECODE", "1", 1), 0);
  write_suite("pytest", R"("/usr/bin/python3", "-m", "pytest", "test_seed.py")");
  // The digits of `seeds` stand for what process IDs would decide in one run after the other.
  const auto count = [&](const std::string& seeds, const Words& more) {
    std::ofstream(folder_ / "seeds") << seeds;
    return bench(more);
  };
  std::ofstream(folder_ / "conftest.py") << "import os\nos.getpid()\nwith open('seeds') as file:\n"
                                            "    seeds = file.read()\n\n\ndef pytest_runtest_setup():\n"
                                            "    with open('seeds', 'w') as file:\n        file.write(seeds[1:])\n";
  std::ofstream(folder_ / "test_seed.py") << "import conftest\n\n\ndef test_seed():\n"
                                             "    for _ in range(10000 + 3000 * int(conftest.seeds[:1] or 0)):\n"
                                             "        pass\n";
  const std::string result = "loops.test_seed.py--test_seed.json";
  ASSERT_EQ(count("00000", {"-o", "old"}).code(), 0);
  EXPECT_TRUE(holds(text("old/" + result), "\"runs_asked\": 2")) << text("old/" + result);
  const auto compared = [&](const std::string& seeds) { return count(seeds, {"-o", "new", "--baseline", "old"}); };
  const Finished same = compared("00000");
  EXPECT_EQ(same.code(), 0) << same.out << same.err;
  EXPECT_TRUE(holds(text("new/" + result), "\"runs_asked\": 2"));
  const Finished chance = compared("11010");
  EXPECT_EQ(chance.code(), 3) << chance.out << chance.err;
  EXPECT_TRUE(holds(chance.out, "runs on each side would decide")) << chance.out;
  EXPECT_TRUE(holds(text("new/" + result), "\"runs_asked\": 5"));
  const Finished slower = compared("12121");
  EXPECT_EQ(slower.code(), 1) << "two runs that agreed decide against five: " << slower.out << slower.err;
  const Finished all = compared("11111");
  EXPECT_EQ(all.code(), 1) << all.out << all.err;
  EXPECT_TRUE(holds(text("new/" + result), "\"runs_asked\": 5"));
}

}  // namespace
}  // namespace tally::test
