// Regions counted by a PMU, read in user mode: known work, exact to the instruction.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <thread>
#include <vector>

#include "tally/library/tally.hpp"
#include "tests/guest/machine.hpp"
#include "tests/guest/work.hpp"

namespace tally::hardware_test {
namespace {

constexpr int repetitions = 1000;
constexpr const char* user_access = "/proc/sys/kernel/perf_user_access";

constexpr std::int64_t work_instructions(std::int64_t n) { return 2 + 5 * n; }

// By a PMU that is exact to the instruction, or under the engine.
class CountedRegions : public testing::Test {
 public:
  void SetUp() override {
    auto opened = Counters::open({"instructions"});
    if (!opened || opened->path() != "engine") {
      TALLY_NEEDS_GUEST();
    }
    open();
  }

  void open(const std::vector<std::string>& events = {"instructions"}, Options options = {}) {
    auto opened = Counters::open(events, options);
    ASSERT_TRUE(opened) << opened.error().message;
    counters.emplace(*std::move(opened));
  }

  RegionResult result(const std::string& name) {
    for (RegionResult& one : counters->regions()) {
      if (one.name == name) return std::move(one);
    }
    ADD_FAILURE() << "no region " << name;
    return {};
  }

  // Every entry of every thread counted this many instructions. A read that the kernel's timer tick interrupts is
  // repeated, and the repetition is counted in the entry: at most one entry has it.
  void expect(const std::string& name, std::uint64_t entries, std::int64_t each) {
    const RegionResult counted = result(name);
    const RegionEvent& instructions = counted.all.events.at(0);
    EXPECT_EQ(counted.all.entries, entries) << name;
    EXPECT_EQ(counted.all.dropped, 0u) << name;
    constexpr std::int64_t most_of_a_read = 100;
    EXPECT_EQ(instructions.least, each) << name;
    const std::int64_t again = instructions.most.value_or(0) - each;
    EXPECT_LE(again, most_of_a_read) << name;
    EXPECT_EQ(instructions.total.value, each * static_cast<std::int64_t>(entries) + again) << name;
    EXPECT_EQ(instructions.uncertainty, 0) << name;
  }

  std::optional<Counters> counters;

 private:
  std::optional<Setting> allowed_ = is_guest() ? std::optional<Setting>(std::in_place, user_access, 1) : std::nullopt;
};

// The instruction that loads n is also in the region.
constexpr std::int64_t with_its_constant(std::int64_t n) { return work_instructions(n) + 1; }

[[gnu::noinline]] void factorial(Counters& counters) {
  const Region region{counters, "factorial"};
  work(20);
}

TEST_F(CountedRegions, the_factorial_of_20_is_102_instructions) {
  EXPECT_EQ(counters->path(), is_guest() ? "user mode" : "engine");
  for (int i = 0; i < repetitions; ++i) factorial(*counters);
  expect("factorial", repetitions, with_its_constant(20));
  EXPECT_EQ(result("factorial").all.events.at(0).total.trust, is_guest() ? Trust::counted : Trust::exact);
}

[[gnu::noinline]] void nested(Counters& counters) {
  const Region outer{counters, "outer"};
  work(10);
  {
    const Region inner{counters, "inner"};
    work(30);
  }
  work(5);
}

TEST_F(CountedRegions, what_a_region_within_costs_is_not_the_outer_ones) {
  nested(*counters);  // creates the records
  const std::int64_t first = *result("outer").all.events.at(0).total.value;
  for (int i = 0; i < repetitions; ++i) nested(*counters);
  expect("inner", repetitions + 1, with_its_constant(30));
  const std::int64_t each = with_its_constant(10) + with_its_constant(30) + with_its_constant(5);
  const std::int64_t others = *result("outer").all.events.at(0).total.value - first;
  // The compiler decides how the caller passes the inner region's arguments: some instructions, the same each time. A
  // thread switch adds some to one entry.
  EXPECT_GE(others, (each - 6) * repetitions);
  EXPECT_LE(others, (each + 6) * repetitions);
}

TEST_F(CountedRegions, threads_count_their_own) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < repetitions; ++j) factorial(*counters);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const RegionResult all = result("factorial");
  const RegionEvent& instructions = all.all.events.at(0);
  EXPECT_EQ(all.all.entries, 4u * repetitions);
  EXPECT_EQ(all.all.dropped, 0u);
  EXPECT_EQ(instructions.least, with_its_constant(20));
  // A thread switch during the reading itself leaves some of its instructions in the entry.
  EXPECT_GE(instructions.total.value, std::int64_t{4} * repetitions * with_its_constant(20));
  if (sysconf(_SC_NPROCESSORS_ONLN) == 1 || !is_guest()) {
    EXPECT_LE(instructions.total.value, std::int64_t{4} * repetitions * with_its_constant(20) + 1000);
  }
  EXPECT_EQ(result("factorial").threads.size(), 4u);
}

// The thread is descheduled within both regions, and with two processors it continues on the other one.
[[gnu::noinline]] void away(Counters& counters, const cpu_set_t& to) {
  const Region outer{counters, "away around"};
  const Region inner{counters, "away"};
  work(20);
  constexpr timespec time{0, 100'000};
  syscall(SYS_nanosleep, &time, nullptr);
  syscall(SYS_sched_setaffinity, 0, sizeof to, &to);
  work(20);
}

TEST_F(CountedRegions, a_thread_between_processors_takes_its_counts_along) {
  cpu_set_t allowed, processors[2];
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int i = 0; i < 2; ++i) {
    CPU_ZERO(&processors[i]);
    CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) > 1 ? i : 0, &processors[i]);
  }
  away(*counters, processors[0]);
  open();  // the first call allocates; it is not measured
  for (int i = 0; i < repetitions; ++i) away(*counters, processors[i % 2]);
  ASSERT_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);  // for the tests after this one
  const RegionResult counted = result("away");
  const RegionEvent& instructions = counted.all.events.at(0);
  EXPECT_EQ(counted.all.dropped, 0u);
  EXPECT_EQ(counted.all.entries, 1000u);
  EXPECT_GT(instructions.least, 2 * with_its_constant(20));
  EXPECT_LT(instructions.least, 2 * with_its_constant(20) + 50) << "two system calls and no more";
  // QEMU's counters also count what its other processors execute.
  if (sysconf(_SC_NPROCESSORS_ONLN) == 1) {
    EXPECT_EQ(instructions.most, instructions.least);
  }
  const RegionCounts around = result("away around").all;
  EXPECT_EQ(around.dropped, 0u);
  EXPECT_GE(around.events.at(0).least, instructions.least);
  EXPECT_LE(around.events.at(0).least, *instructions.least + 120);
}

TEST_F(CountedRegions, readings_are_differences) {
  std::int64_t lowest = counters->measure([] { work(1000); })["instructions"].value.value_or(-1);
  // read() allocates memory after it has read the counters, with a few instructions more or fewer than when the library
  // measured the cost of two readings.
  EXPECT_GE(lowest, work_instructions(1000) - 10);
}

// The cost of begin and end with four events, in the loop that enters the region.
[[gnu::noinline]] void enter(Counters& counters, int times) {
  for (int i = 0; i < times; ++i) const Region region{counters, "cost"};
}

TEST_F(CountedRegions, four_counters_at_both_ends_are_220_instructions_and_none_of_the_kernels) {
  if (!is_guest()) GTEST_SKIP() << "under the engine each end is a system call";
  for (const bool extremes : {false, true}) {
    counters.reset();  // the PMU has too few counters for two of them
    open({"instructions:u", "cycles:u", "instructions:k", "cycles:k"}, {.extremes = extremes});
    ASSERT_EQ(counters->path(), "user mode");
    const auto least = [&](int times, const char* event) {
      std::int64_t all = std::numeric_limits<std::int64_t>::max();
      for (int i = 0; i < 20; ++i) {
        const Values spent = counters->measure([&] { enter(*counters, times); });
        all = std::min(all, spent[event].value.value());
      }
      return all;
    };
    EXPECT_LE(least(200, "instructions:u") - least(100, "instructions:u"), 100 * (extremes ? 300 : 220));
    EXPECT_EQ(least(200, "instructions:k"), least(100, "instructions:k"));
  }
}

TEST_F(CountedRegions, waiting_for_instructions_costs_what_it_executes_and_none_of_the_kernels) {
  if (!is_guest()) GTEST_SKIP() << "the engine needs no permission";
  // An isb before and after each end; with a dsb before it.
  std::int64_t read = 0;
  for (const auto& [how, more] : {std::pair{Serialize::none, 0}, {Serialize::fence, 2}, {Serialize::cpuid, 4}}) {
    counters.reset();
    open({"instructions"}, {.serialize = how});
    for (int i = 0; i < repetitions; ++i) factorial(*counters);
    expect("factorial", repetitions, with_its_constant(20));
    const std::int64_t overhead = result("factorial").all.events.at(0).overhead;
    if (how == Serialize::none) read = overhead;
    EXPECT_EQ(overhead, read + more);
  }
}

TEST_F(CountedRegions, each_region_has_instructions_per_cycle) {
  if (!is_guest()) GTEST_SKIP() << "the engine counts no cycles without a model";
  counters.reset();
  open({"instructions", "cycles"});
  for (int i = 0; i < repetitions; ++i) factorial(*counters);
  const auto metrics = result("factorial").all.metrics;
  ASSERT_FALSE(metrics.empty());
  EXPECT_EQ(metrics[0].name, "IPC");
  EXPECT_EQ(metrics[0].formula, "instructions:u / cycles:u");
  EXPECT_EQ(metrics[0].row_event.text(), "cycles:u");
  EXPECT_GT(metrics[0].ratio.value, 0.0);
}

TEST_F(CountedRegions, without_user_mode_reads_a_system_call_is_used) {
  if (!is_guest()) GTEST_SKIP() << "the engine needs no permission";
  const Setting refused(user_access, 0);
  open();
  EXPECT_EQ(counters->path(), "system call");
  for (int i = 0; i < repetitions; ++i) factorial(*counters);
  expect("factorial", repetitions, with_its_constant(20));
}

}  // namespace
}  // namespace tally::hardware_test
