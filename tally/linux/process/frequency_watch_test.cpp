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
  const auto steady = frequency_of({{4e9, 4e9, 1e9, 4e9}});
  ASSERT_TRUE(steady);
  EXPECT_EQ(*steady, (MeasuredFrequency{4e9, 4e9, 4e9, 0}));
  const auto two = frequency_of({{4e9, 4e9}, {}, {3e9, 3e9}});
  ASSERT_TRUE(two);
  EXPECT_DOUBLE_EQ(two->hertz, 3.5e9);
  EXPECT_NEAR(two->error, 1 / 7.0, 1e-12) << "it may have run on either";
  EXPECT_GT(frequency_of({{4e9, 3.8e9, 4e9}})->error, 0);
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
  const double estimate = seconds * frequency->hertz / (cycles * static_cast<double>(rounds));
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
