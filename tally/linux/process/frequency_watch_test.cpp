// The measured frequency × processor time is the number of cycles of loops whose cycles are known.
#include "tally/linux/process/frequency_watch.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <functional>

namespace tally::linux {
namespace {

TEST(FrequencyOf, is_the_mean_of_cpus_without_interrupted_measurements) {
  EXPECT_EQ(frequency_of({}), std::nullopt);
  EXPECT_EQ(frequency_of({{}, {}}), std::nullopt);
  const auto steady = frequency_of({{.hertz = {4e9, 4e9, 1e9, 4e9}}});
  ASSERT_TRUE(steady);
  EXPECT_EQ(*steady, (MeasuredFrequency{4e9, 4e9, 4e9, 0}));
  const auto two = frequency_of({{.hertz = {4e9, 4e9}}, {}, {.hertz = {3e9, 3e9}}});
  ASSERT_TRUE(two);
  EXPECT_DOUBLE_EQ(two->hertz, 3.5e9);
  EXPECT_NEAR(two->error, 1 / 7.0, 1e-12) << "it may have run on either";
  EXPECT_GT(frequency_of({{.hertz = {4e9, 3.8e9, 4e9}}})->error, 0);
}

TEST(FrequencyOf, subtracts_the_time_of_interrupts) {
  const auto interrupted = frequency_of({{.hertz = {4e9, 4e9}, .charged = {0.98, 0.98, 0.5, 0.98}}});
  ASSERT_TRUE(interrupted);
  EXPECT_NEAR(interrupted->interrupted, 0.02, 1e-12) << "without the one that lost half of its time";
  EXPECT_NEAR(interrupted->charged_hertz(), 3.92e9, 1);
  EXPECT_NEAR(interrupted->error, 0, 1e-9);
  EXPECT_GT(frequency_of({{.hertz = {4e9, 4e9}, .charged = {0.98, 0.96}}})->error, 0.01);
}

TEST(FrequencyOf, says_how_much_another_thread_of_the_core_took) {
  const std::vector<double> alone(10, 0.25);
  std::vector<double> shared = alone;
  shared.insert(shared.end(), {0.4, 0.4, 0.4, 0.4, 0.4, 9});
  EXPECT_EQ(frequency_of({{.hertz = {4e9}, .independent = alone}})->shared, 0);
  EXPECT_NEAR(frequency_of({{.hertz = {4e9}, .independent = shared}})->shared, 1 - 0.25 / 0.3, 1e-9)
      << "without the interrupted one";
}

#if defined(__x86_64__)
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Estimated cycles of `work`, on this CPU, relative to the known ones. Wide limits: other programs share the caches.
void expect_known(double cycles, const std::function<void(long)>& work, long rounds) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int processor = sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  FrequencyWatch watch({processor});
  const double start = processor_seconds();
  work(rounds);
  const double seconds = processor_seconds() - start;
  const auto frequency = watch.stop();
  sched_setaffinity(0, sizeof before, &before);
  ASSERT_TRUE(frequency);
  const double estimate = seconds * frequency->charged_hertz() / (cycles * static_cast<double>(rounds));
  EXPECT_GT(estimate, 0.9);
  EXPECT_LT(estimate, 1.15);
  testing::Test::RecordProperty("estimate", std::to_string(estimate));
}

TEST(FrequencyWatch, estimates_the_cycles_of_additions) {
  expect_known(
      100,
      [](long n) { asm volatile("1: .rept 100\n add %%rcx, %%rax\n .endr\n dec %0\n jnz 1b"
                                : "+r"(n)::"rax", "cc"); },
      2'000'000);
}

TEST(FrequencyWatch, estimates_the_cycles_of_multiplications) {
  expect_known(
      300,
      [](long n) { asm volatile("1: .rept 100\n imul %%rcx, %%rax\n .endr\n dec %0\n jnz 1b"
                                : "+r"(n)::"rax", "cc"); },
      700'000);
}
#endif

}  // namespace
}  // namespace tally::linux
