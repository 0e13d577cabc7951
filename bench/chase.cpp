// An independent check of `tally memory`: a pointer chase in thirty lines that shares no code with it. Prints ns per
// load for each size in MiB given as argument: the best of five walks of a ring in transparent huge pages.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

int main(int count, char** words) {
  for (int word = 1; word < count; ++word) {
    const std::size_t bytes = std::strtoull(words[word], nullptr, 10) << 20;
    const std::size_t lines = bytes / 64;
    void* const at = mmap(nullptr, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || lines == 0) return 1;
    auto* const base = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(at) + (2 << 20) - 1) & ~0x1FFFFFULL);
    madvise(base, bytes, MADV_HUGEPAGE);
    std::vector<std::size_t> order(lines);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i < lines; ++i)
      *reinterpret_cast<char**>(base + order[i] * 64) = base + order[(i + 1) % lines] * 64;
    char* volatile place = base;
    double best = 1e9;
    for (int walk = 0; walk < 5; ++walk) {
      const auto start = std::chrono::steady_clock::now();
      char* p = place;
      for (std::size_t i = 0; i < lines; ++i) p = *reinterpret_cast<char**>(p);
      place = p;
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
      best = std::min(best, time.count() / static_cast<double>(lines));
    }
    std::printf("%s M: %.2f ns per load\n", words[word], best);
    munmap(at, bytes + (2 << 20));
  }
}
