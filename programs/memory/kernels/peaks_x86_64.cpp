// Twelve independent chains keep two units of up to six cycles busy. The values stay normal numbers.
#include <array>

#include "programs/memory/kernels/peaks.hpp"

namespace tally::memory {
namespace {

constexpr int chains = 12;

template <class T, std::size_t n>
constexpr std::array<T, n> filled(T value) {
  std::array<T, n> all{};
  all.fill(value);
  return all;
}

alignas(64) constexpr auto double_half = filled<double, 8>(0.5);
alignas(64) constexpr auto double_one = filled<double, 8>(1);
alignas(64) constexpr auto single_half = filled<float, 16>(0.5F);
alignas(64) constexpr auto single_one = filled<float, 16>(1);

alignas(64) constexpr auto half_half = filled<std::uint16_t, 32>(0x3800);
alignas(64) constexpr auto half_one = filled<std::uint16_t, 32>(0x3C00);
// Pairs of BF16 numbers, (1, 1) and (1, -1), whose product is 0.
alignas(64) constexpr auto bf16_ones = filled<std::uint32_t, 16>(0x3F803F80);
alignas(64) constexpr auto bf16_signs = filled<std::uint32_t, 16>(0xBF803F80);

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

// Chains of sums of two products: x = x + 1·1 + 1·(-1).
#define TALLY_BF16_PEAK(name, bank)                                                                             \
  void name(std::uint64_t rounds) {                                                                             \
    asm volatile(                                                                                               \
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\t"                                                      \
        "vmovups (%[one]), %%" bank                                                                             \
        "mm\\n\n\t"                                                                                             \
        ".endr\n\t"                                                                                             \
        "vmovups (%[ones]), %%" bank                                                                            \
        "mm12\n\t"                                                                                              \
        "vmovups (%[signs]), %%" bank                                                                           \
        "mm13\n\t"                                                                                              \
        ".balign 64\n"                                                                                          \
        "0:\t.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\tvdpbf16ps %%" bank "mm13, %%" bank "mm12, %%" bank \
        "mm\\n\n\t"                                                                                             \
        ".endr\n\t"                                                                                             \
        "decq %[rounds]\n\t"                                                                                    \
        "jnz 0b\n\t"                                                                                            \
        "vzeroupper"                                                                                            \
        : [rounds] "+r"(rounds)                                                                                 \
        : [one] "r"(single_one.data()), [ones] "r"(bf16_ones.data()), [signs] "r"(bf16_signs.data())            \
        : "memory", TALLY_PEAK_REGISTERS);                                                                      \
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
TALLY_FMA_PEAK(fma_half, half, "vfmadd213sh", "x")
TALLY_FMA_PEAK(fma_half_128, half, "vfmadd213ph", "x")
TALLY_FMA_PEAK(fma_half_256, half, "vfmadd213ph", "y")
TALLY_FMA_PEAK(fma_half_512, half, "vfmadd213ph", "z")
TALLY_BF16_PEAK(bf16_128, "x")
TALLY_BF16_PEAK(bf16_256, "y")
TALLY_BF16_PEAK(bf16_512, "z")
TALLY_PLAIN_PEAK(plain_single, single, "movups", "mulss", "addss", "x", "")
TALLY_PLAIN_PEAK(plain_single_128, single, "movups", "mulps", "addps", "x", "")
TALLY_PLAIN_PEAK(plain_single_256, single, "vmovups", "vmulps", "vaddps", "y", ", %%ymm\\n")
TALLY_PLAIN_PEAK(plain_double, double, "movups", "mulsd", "addsd", "x", "")
TALLY_PLAIN_PEAK(plain_double_128, double, "movups", "mulpd", "addpd", "x", "")
TALLY_PLAIN_PEAK(plain_double_256, double, "vmovups", "vmulpd", "vaddpd", "y", ", %%ymm\\n")

constexpr int x87_operations = 8 * 8;

// Eight times a copy of 1 that four multiplications and four additions change: each copy is a chain of its own, so the
// units decide, not the eight registers.
void x87(std::uint64_t rounds) {
  asm volatile(
      "fld1\n\t"
      ".balign 64\n"
      "0:\t.rept 8\n\t"
      "fld %%st(0)\n\t"
      ".rept 4\n\t"
      "fmul %%st(1), %%st\n\t"
      "fadd %%st(1), %%st\n\t"
      ".endr\n\t"
      "fstp %%st(0)\n\t"
      ".endr\n\t"
      "decq %[rounds]\n\t"
      "jnz 0b\n\t"
      "fstp %%st(0)"
      : [rounds] "+r"(rounds)
      :
      : "cc", "st", "st(1)");
}

bool always() { return true; }
bool has_fma() { return __builtin_cpu_supports("fma") != 0; }
bool has_no_fma() { return !has_fma(); }
bool has_avx() { return __builtin_cpu_supports("avx") != 0; }
bool has_only_avx() { return has_avx() && !has_fma(); }
bool has_avx512() { return __builtin_cpu_supports("avx512f") != 0; }
bool has_half() { return __builtin_cpu_supports("avx512fp16") != 0; }
bool has_bf16() { return __builtin_cpu_supports("avx512bf16") != 0; }
bool has_narrow_bf16() { return has_bf16() && __builtin_cpu_supports("avx512vl") != 0; }

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
    PeakKernel{"half", 0, has_half, fma(1), fma_half},
    PeakKernel{"half", 128, has_half, fma(8), fma_half_128},
    PeakKernel{"half", 256, has_half, fma(16), fma_half_256},
    PeakKernel{"half", 512, has_half, fma(32), fma_half_512},
    PeakKernel{"bf16", 128, has_narrow_bf16, fma(8), bf16_128},
    PeakKernel{"bf16", 256, has_narrow_bf16, fma(16), bf16_256},
    PeakKernel{"bf16", 512, has_bf16, fma(32), bf16_512},
    PeakKernel{"x87", 0, always, x87_operations, x87},
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

constexpr std::array triads{TriadKernel{always, triad_128}, TriadKernel{has_avx, triad_256},
                            TriadKernel{has_avx512, triad_512}};

}  // namespace

std::span<const PeakKernel> peak_kernels() { return all; }

std::span<const TriadKernel> triad_kernels() { return triads; }

}  // namespace tally::memory
