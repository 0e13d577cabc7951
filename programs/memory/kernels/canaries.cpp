// B7: checks that kernels preserve the registers and memory of the program around them. Compiled at several
// optimization levels, so that the kernels are inlined and a clobber missing from their assembly shows. Exit code 0:
// everything was preserved, and memory holds what the kernels wrote.
#include <cstdio>
#include <cstring>

// Includes definitions, not declarations, so that the compiler can inline them.
#include "programs/memory/kernels/flavours_x86_64.cpp"  // NOLINT(bugprone-suspicious-include)
#include "programs/memory/kernels/kernels_x86_64.cpp"   // NOLINT(bugprone-suspicious-include)

namespace tally::memory {
namespace {

#if defined(__AVX__)
constexpr std::size_t wide_bytes = 32;
#else
constexpr std::size_t wide_bytes = 16;
#endif
using Wide = double __attribute__((vector_size(wide_bytes)));
constexpr int wides = 12;
constexpr int words = 5;

// Volatile, so that the compiler holds values in registers instead of reading them again.
volatile Wide wide_source[wides];
volatile Wide wide_seen[wides];
volatile std::uint64_t word_source[words];
volatile std::uint64_t word_seen[words];

constexpr std::uint32_t order[] = {0, 2, 1, 3, 0};
constexpr std::uint64_t stride = 128;
alignas(64) std::byte region[4 * stride];
const Chain chain{region, order, Blocks{4}, Bytes{stride}, Lines{2}};

std::uint64_t word_at(std::uint64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, region + offset, sizeof word);
  return word;
}

bool same() {
  for (int i = 0; i < wides; ++i) {
    const Wide before = wide_source[i];
    const Wide after = wide_seen[i];
    for (std::size_t part = 0; part < wide_bytes / sizeof(double); ++part) {
      if (before[part] != after[part]) return false;
    }
  }
  for (int i = 0; i < words; ++i) {
    if (word_source[i] != word_seen[i]) return false;
  }
  return true;
}

template <class Kernel>
[[gnu::flatten, gnu::noinline]] bool keeps(Kernel kernel) {
  Wide wide[wides];
  std::uint64_t word[words];
#pragma GCC unroll 16
  for (int i = 0; i < wides; ++i) wide[i] = wide_source[i];
#pragma GCC unroll 16
  for (int i = 0; i < words; ++i) word[i] = word_source[i];
  std::memset(region, 0x11, sizeof region);
  const bool worked = kernel();
#pragma GCC unroll 16
  for (int i = 0; i < wides; ++i) wide_seen[i] = wide[i];
#pragma GCC unroll 16
  for (int i = 0; i < words; ++i) word_seen[i] = word[i];
  return worked && same();
}

bool is_written() {
  for (int k = 0; k < 4; ++k) {
    if (word_at(order[k] * stride) != order[k + 1] * stride) return false;
    if (word_at(order[k] * stride + 64) != order[k + 1] * stride) return false;
  }
  return true;
}

template <class Line>
bool stores_keep(bool present) {
  return !present || keeps([] {
    write_blocks<Line>(chain);
    mfence();
    return is_written();
  });
}

template <class Line>
bool loads_keep(bool present) {
  return !present || keeps([] {
    write_blocks<Nt64>(chain);
    mfence();
    touch_blocks<Line>(chain);
    return read_blocks<Line>(chain, 0) == 0;
  });
}

// Two chases in one function, because labels in the assembly must be local.
bool chases_keep() {
  return keeps([] {
    write_blocks<Nt64>(chain);
    mfence();
    const std::uint64_t half = chase(region, 0, 2).offset;
    std::uint64_t rings[] = {0, stride};
    (void)chase_together(region, rings, 2, 4);
    (void)adds(64);
    const std::uint64_t stored = store_and_load(region, 0, 64, 1).offset;
    return half == stride && chase(region, half, 1).offset == 3 * stride && rings[0] == 0 && rings[1] == stride &&
           stored == 2 * stride && word_at(0) == 0;
  });
}

int run() {
  for (int i = 0; i < wides; ++i) wide_source[i] = Wide{} + (i + 0.5);  // in all elements
  for (int i = 0; i < words; ++i) word_source[i] = 0x1234'5678u * static_cast<std::uint64_t>(i + 1);
  const struct {
    const char* name;
    bool kept;
  } results[] = {
      {"plain128", stores_keep<Store128<false>>(true)},
      {"nt128", stores_keep<Store128<true>>(true)},
      {"nt32", stores_keep<Nt32>(true)},
      {"nt64", stores_keep<Nt64>(true)},
      {"nt256", stores_keep<Store256<true>>(has_avx())},
      {"nt512", stores_keep<Store512<true>>(has_avx512())},
      {"dir64", stores_keep<Direct64>(features().movdir64b)},
      {"scalar loads", loads_keep<Scalar>(true)},
      {"plain128 loads", loads_keep<Vector<Load128<false>>>(true)},
      {"plain256 loads", loads_keep<Vector<Load256<false>>>(has_avx())},
      {"plain512 loads", loads_keep<Vector<Load512<false>>>(has_avx512())},
      {"chases", chases_keep()},
  };
  int lost = 0;
  for (const auto& one : results) {
    if (one.kept) continue;
    std::printf("%s: something was lost\n", one.name);
    lost = 1;
  }
  return lost;
}

}  // namespace
}  // namespace tally::memory

int main() {
#if defined(__AVX__)
  if (__builtin_cpu_supports("avx2") == 0) return 77;  // skipped: compiled for AVX2
#endif
  return tally::memory::run();
}
