// Twelve independent chains keep two units of up to six cycles busy. The values stay normal numbers.
#include <array>

#include "programs/memory/kernels/peaks.hpp"

namespace tally::memory {
namespace {

constexpr int chains = 12;
alignas(64) constexpr std::array<double, 8> double_half{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
alignas(64) constexpr std::array<double, 8> double_one{1, 1, 1, 1, 1, 1, 1, 1};
alignas(64) constexpr std::array<float, 16> single_half{0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F,
                                                        0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F};
alignas(64) constexpr std::array<float, 16> single_one{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

#define TALLY_PEAK_REGISTERS                                                                                       \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13"

// Chains of multiply-adds: x = x·0.5 + 1.
#define TALLY_FMA_PEAK(name, precision, instruction, bank)                                                            \
  void name(std::uint64_t rounds) {                                                                                   \
    asm volatile(                                                                                                     \
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13\n\t"                                                        \
        "vmovups (%[one]), %%" bank                                                                                   \
        "mm\\n\n\t"                                                                                                   \
        ".endr\n\t"                                                                                                   \
        "vmovups (%[half]), %%" bank                                                                                  \
        "mm12\n\t"                                                                                                    \
        ".balign 64\n"                                                                                                \
        "0:\t.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\t" instruction " %%" bank "mm13, %%" bank "mm12, %%" bank \
        "mm\\n\n\t"                                                                                                   \
        ".endr\n\t"                                                                                                   \
        "decq %[rounds]\n\t"                                                                                          \
        "jnz 0b\n\t"                                                                                                  \
        "vzeroupper"                                                                                                  \
        : [rounds] "+r"(rounds)                                                                                       \
        : [half] "r"(precision##_half.data()), [one] "r"(precision##_one.data())                                      \
        : "memory", TALLY_PEAK_REGISTERS);                                                                            \
  }

// Without multiply-adds: as many chains of multiplications by 1 as of additions. `three` repeats the operand that
// instructions of three operands name twice.
#define TALLY_PLAIN_PEAK(name, precision, move, multiply, add, bank, three)                           \
  void name(std::uint64_t rounds) {                                                                   \
    asm volatile(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12\n\t" move " (%[one]), %%" bank     \
                 "mm\\n\n\t"                                                                          \
                 ".endr\n\t"                                                                          \
                 ".balign 64\n"                                                                       \
                 "0:\t.irp n, 0, 1, 2, 3, 4, 5\n\t" multiply " %%" bank "mm12, %%" bank "mm\\n" three \
                 "\n\t.endr\n\t"                                                                      \
                 ".irp n, 6, 7, 8, 9, 10, 11\n\t" add " %%" bank "mm12, %%" bank "mm\\n" three        \
                 "\n\t.endr\n\t"                                                                      \
                 "decq %[rounds]\n\t"                                                                 \
                 "jnz 0b"                                                                             \
                 : [rounds] "+r"(rounds)                                                              \
                 : [one] "r"(precision##_one.data())                                                  \
                 : "memory", TALLY_PEAK_REGISTERS);                                                   \
  }

TALLY_FMA_PEAK(fma_single, single, "vfmadd213ss", "x")
TALLY_FMA_PEAK(fma_single_128, single, "vfmadd213ps", "x")
TALLY_FMA_PEAK(fma_single_256, single, "vfmadd213ps", "y")
TALLY_FMA_PEAK(fma_single_512, single, "vfmadd213ps", "z")
TALLY_FMA_PEAK(fma_double, double, "vfmadd213sd", "x")
TALLY_FMA_PEAK(fma_double_128, double, "vfmadd213pd", "x")
TALLY_FMA_PEAK(fma_double_256, double, "vfmadd213pd", "y")
TALLY_FMA_PEAK(fma_double_512, double, "vfmadd213pd", "z")
TALLY_PLAIN_PEAK(plain_single, single, "movups", "mulss", "addss", "x", "")
TALLY_PLAIN_PEAK(plain_single_128, single, "movups", "mulps", "addps", "x", "")
TALLY_PLAIN_PEAK(plain_single_256, single, "vmovups", "vmulps", "vaddps", "y", ", %%ymm\\n")
TALLY_PLAIN_PEAK(plain_double, double, "movups", "mulsd", "addsd", "x", "")
TALLY_PLAIN_PEAK(plain_double_128, double, "movups", "mulpd", "addpd", "x", "")
TALLY_PLAIN_PEAK(plain_double_256, double, "vmovups", "vmulpd", "vaddpd", "y", ", %%ymm\\n")

bool has_fma() { return __builtin_cpu_supports("fma") != 0; }
bool has_no_fma() { return !has_fma(); }
bool has_avx() { return __builtin_cpu_supports("avx") != 0; }
bool has_only_avx() { return has_avx() && !has_fma(); }
bool has_avx512() { return __builtin_cpu_supports("avx512f") != 0; }

constexpr int fma(int lanes) { return 2 * chains * lanes; }
constexpr int plain(int lanes) { return chains * lanes; }

constexpr std::array all{
    PeakKernel{"single", 0, has_fma, fma(1), fma_single},
    PeakKernel{"single", 0, has_no_fma, plain(1), plain_single},
    PeakKernel{"single", 128, has_fma, fma(4), fma_single_128},
    PeakKernel{"single", 128, has_no_fma, plain(4), plain_single_128},
    PeakKernel{"single", 256, has_fma, fma(8), fma_single_256},
    PeakKernel{"single", 256, has_only_avx, plain(8), plain_single_256},
    PeakKernel{"single", 512, has_avx512, fma(16), fma_single_512},
    PeakKernel{"double", 0, has_fma, fma(1), fma_double},
    PeakKernel{"double", 0, has_no_fma, plain(1), plain_double},
    PeakKernel{"double", 128, has_fma, fma(2), fma_double_128},
    PeakKernel{"double", 128, has_no_fma, plain(2), plain_double_128},
    PeakKernel{"double", 256, has_fma, fma(4), fma_double_256},
    PeakKernel{"double", 256, has_only_avx, plain(4), plain_double_256},
    PeakKernel{"double", 512, has_avx512, fma(8), fma_double_512},
};

// A register a round, which is faster than several. `compute` ends with the result in register 0.
#define TALLY_TRIAD(name, move, bank, width, compute, end)                                                \
  void name(std::byte* a, const std::byte* b, const std::byte* c, std::uint64_t bytes) {                  \
    std::uint64_t at = 0;                                                                                 \
    asm volatile(move " (%[half]), %%" bank                                                               \
                      "mm12\n\t"                                                                          \
                      ".balign 64\n"                                                                      \
                      "0:\t" compute "\n\t" move " %%" bank                                               \
                      "mm0, (%[a],%[at])\n\t"                                                             \
                      "addq $" width                                                                      \
                      ", %[at]\n\t"                                                                       \
                      "cmpq %[bytes], %[at]\n\t"                                                          \
                      "jb 0b\n\t" end                                                                     \
                 : [at] "+r"(at)                                                                          \
                 : [a] "r"(a), [b] "r"(b), [c] "r"(c), [bytes] "r"(bytes), [half] "r"(double_half.data()) \
                 : "memory", TALLY_PEAK_REGISTERS);                                                       \
  }

TALLY_TRIAD(triad_512, "vmovups", "z", "64",
            "vmulpd (%[c],%[at]), %%zmm12, %%zmm0\n\tvaddpd (%[b],%[at]), %%zmm0, %%zmm0", "vzeroupper")
TALLY_TRIAD(triad_256, "vmovups", "y", "32",
            "vmulpd (%[c],%[at]), %%ymm12, %%ymm0\n\tvaddpd (%[b],%[at]), %%ymm0, %%ymm0", "vzeroupper")
TALLY_TRIAD(triad_128, "movups", "x", "16",
            "movapd (%[c],%[at]), %%xmm0\n\tmulpd %%xmm12, %%xmm0\n\taddpd (%[b],%[at]), %%xmm0", "")

bool always() { return true; }

constexpr std::array triads{TriadKernel{always, triad_128}, TriadKernel{has_avx, triad_256},
                            TriadKernel{has_avx512, triad_512}};

}  // namespace

std::span<const PeakKernel> peak_kernels() { return all; }

std::span<const TriadKernel> triad_kernels() { return triads; }

}  // namespace tally::memory
