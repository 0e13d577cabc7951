#include "programs/memory/kernels/peaks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

namespace tally::memory {
namespace {

TEST(Peaks, one_kernel_is_present_for_each_precision_and_width) {
  std::set<std::pair<std::string_view, int>> widths;
  for (const PeakKernel& kernel : peak_kernels()) {
    if (!kernel.present()) continue;
    EXPECT_TRUE(widths.emplace(kernel.precision, kernel.bits).second) << kernel.precision << kernel.bits;
    EXPECT_GT(kernel.operations, 0);
    kernel.run(3);
  }
  for (const char* const precision : {"single", "double"})
    for (const int bits : {0, 128}) EXPECT_TRUE(widths.count({precision, bits})) << precision << bits;
#if defined(__x86_64__)
  EXPECT_TRUE(widths.count({"x87", 0}));
  EXPECT_EQ(widths.count({"bf16", 512}), __builtin_cpu_supports("avx512bf16") != 0 ? 1U : 0U);
#endif
}

TEST(Peaks, a_triad_writes_each_number_of_its_range_and_no_other) {
  constexpr std::size_t numbers = 64, more = 8;
  constexpr double half = 0.5;
  struct alignas(64) Array : std::array<double, numbers + more> {};
  for (const TriadKernel& kernel : triad_kernels()) {
    if (!kernel.present()) continue;
    Array a{}, b{}, c{};
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = static_cast<double>(i);
      c[i] = static_cast<double>(1000 + i);
    }
    kernel.run(reinterpret_cast<std::byte*>(a.data()), reinterpret_cast<const std::byte*>(b.data()),
               reinterpret_cast<const std::byte*>(c.data()), numbers * sizeof(double));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], i < numbers ? b[i] + half * c[i] : 0) << i;
  }
}

}  // namespace
}  // namespace tally::memory
