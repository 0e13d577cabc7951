// Programs whose cycles have one known cause each: bench_programs rows|columns|sort SIZE, or chase KIB ROUNDS.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

// A product of matrices in the order of rows, or in the order of columns, which misses caches.
double multiply(std::size_t n, bool by_rows) {
  std::vector<double> a(n * n, 1.5), b(n * n, 2.5), c(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) {
        if (by_rows)
          c[i * n + k] += a[i * n + j] * b[j * n + k];
        else
          c[k * n + i] += a[k * n + j] * b[j * n + i];
      }
    }
  }
  return c[n + 1];
}

// Comparisons of random numbers, which no predictor knows.
double sort_numbers(std::size_t n) {
  std::vector<std::uint32_t> numbers(n);
  std::mt19937 random(1);
  for (auto& number : numbers) number = static_cast<std::uint32_t>(random());
  std::sort(numbers.begin(), numbers.end());
  return numbers[n / 2];
}

// Loads of which each needs the one before: some rounds through `bytes`.
double chase(std::size_t bytes, std::size_t rounds) {
  const std::size_t lines = bytes / 64;
  std::vector<std::uint32_t> order(lines), next(lines * 16);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (std::size_t i = 0; i < lines; ++i) next[order[i] * 16UL] = order[(i + 1) % lines] * 16;
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < rounds * lines; ++i) at = next[at];
  return at;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string kind = words[1];
  const auto number = [&](int i) { return i < count ? std::strtoull(words[i], nullptr, 10) : 0; };
  const double result = kind == "sort"    ? sort_numbers(number(2))
                        : kind == "chase" ? chase(number(2) << 10, number(3))
                                          : multiply(number(2), kind == "rows");
  std::printf("%g\n", result);
}
