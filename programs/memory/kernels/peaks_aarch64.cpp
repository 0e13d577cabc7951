// Twenty-four independent chains keep four units of up to six cycles busy. The values stay normal numbers.
#include <array>

#include "programs/memory/kernels/peaks.hpp"

namespace tally::memory {
namespace {

constexpr int chains = 24;

// Chains of multiply-adds: x = x + 0.5·0.5.
#define TALLY_FMA_PEAK(name, instruction)                                                                              \
  void name(std::uint64_t rounds) {                                                                                    \
    asm volatile(                                                                                                      \
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23\n\t"             \
        "movi v\\n\\().2d, #0\n\t"                                                                                     \
        ".endr\n\t"                                                                                                    \
        "fmov v30.2d, #0.5\n\t"                                                                                        \
        ".balign 64\n"                                                                                                 \
        "0:\t"                                                                                                         \
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23\n\t" instruction \
        "\n\t.endr\n\t"                                                                                                \
        "subs %[rounds], %[rounds], #1\n\t"                                                                            \
        "b.ne 0b"                                                                                                      \
        : [rounds] "+r"(rounds)                                                                                        \
        :                                                                                                              \
        : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",  \
          "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30");                                              \
  }

TALLY_FMA_PEAK(fma_single, "fmadd s\\n, s30, s30, s\\n")
TALLY_FMA_PEAK(fma_single_128, "fmla v\\n\\().4s, v30.4s, v30.4s")
TALLY_FMA_PEAK(fma_double, "fmadd d\\n, d30, d30, d\\n")
TALLY_FMA_PEAK(fma_double_128, "fmla v\\n\\().2d, v30.2d, v30.2d")

bool always() { return true; }

constexpr std::array all{
    PeakKernel{"single", 0, always, 2 * chains, fma_single},
    PeakKernel{"single", 128, always, 2 * chains * 4, fma_single_128},
    PeakKernel{"double", 0, always, 2 * chains, fma_double},
    PeakKernel{"double", 128, always, 2 * chains * 2, fma_double_128},
};

void triad_128(std::byte* a, const std::byte* b, const std::byte* c, std::uint64_t bytes) {
  std::byte* const end = a + bytes;
  asm volatile(
      "fmov v30.2d, #0.5\n\t"
      ".balign 64\n"
      "0:\tldp q0, q1, [%[b]], #32\n\t"
      "ldp q2, q3, [%[c]], #32\n\t"
      "fmla v0.2d, v2.2d, v30.2d\n\t"
      "fmla v1.2d, v3.2d, v30.2d\n\t"
      "stp q0, q1, [%[a]], #32\n\t"
      "cmp %[a], %[end]\n\t"
      "b.lo 0b"
      : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c)
      : [end] "r"(end)
      : "memory", "cc", "v0", "v1", "v2", "v3", "v30");
}

constexpr std::array triads{TriadKernel{always, triad_128}};

}  // namespace

std::span<const PeakKernel> peak_kernels() { return all; }

std::span<const TriadKernel> triad_kernels() { return triads; }

}  // namespace tally::memory
