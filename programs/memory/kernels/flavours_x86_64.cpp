// Store and load flavours of x86-64. Features: Intel SDM vol. 2A, CPUID, and vol. 1, 13.3 and 14.3: a vector register
// may be used if the system saves it (OSXSAVE, then XCR0).
#include <cpuid.h>

#include <array>

#include "programs/memory/kernels/walk.hpp"

namespace tally::memory {
namespace {

struct Features {
  bool sse41 = false, avx = false, avx2 = false, avx512 = false;
  bool clflush = false, clflushopt = false, clwb = false, cldemote = false, movdir64b = false, serialize = false;
};

std::uint64_t saved_state() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

Features read_features() {
  Features features;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return features;
  features.sse41 = (c >> 19 & 1) != 0;
  features.clflush = (d >> 19 & 1) != 0;
  const bool has_avx = (c >> 28 & 1) != 0;
  const std::uint64_t saved = (c >> 27 & 1) != 0 ? saved_state() : 0;
  features.avx = has_avx && (saved & 0x6) == 0x6;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return features;
  features.avx2 = features.avx && (b >> 5 & 1) != 0;
  features.avx512 = (b >> 16 & 1) != 0 && (saved & 0xE6) == 0xE6;
  features.clflushopt = (b >> 23 & 1) != 0;
  features.clwb = (b >> 24 & 1) != 0;
  features.cldemote = (c >> 25 & 1) != 0;
  features.movdir64b = (c >> 28 & 1) != 0;
  features.serialize = (d >> 14 & 1) != 0;
  return features;
}

const Features& features() {
  static const Features detected = read_features();
  return detected;
}

struct NoEnd {
  static void done() {}
};
// After use, the upper halves of vector registers must be cleared, or later legacy SSE code is slow.
struct ClearUpper {
  static void done() {
    // The compiler has no name for the upper halves alone, so whole registers are clobbered.
    asm volatile("vzeroupper"
                 :
                 :
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                   "xmm12", "xmm13", "xmm14", "xmm15");
  }
};

// Each instruction has a temporal and a non-temporal form; the assembler chooses, so that the surrounding code exists
// once.

// ---- stores ----

template <bool non_temporal>
struct Store128 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile(
        "movq %[next], %%xmm0\n\t"
        ".irp at, 0, 16, 32, 48\n\t"
        ".if %c[nt]\n\tmovntdq %%xmm0, \\at(%[line])\n\t"
        ".else\n\tmovdqa %%xmm0, \\at(%[line])\n\t.endif\n\t"
        ".endr"
        :
        : [line] "r"(line), [next] "r"(next), [nt] "i"(non_temporal)
        : "memory", "xmm0");
  }
};
template <bool non_temporal>
struct Store256 : ClearUpper {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile(
        "vmovq %[next], %%xmm0\n\t"
        ".irp at, 0, 32\n\t"
        ".if %c[nt]\n\tvmovntdq %%ymm0, \\at(%[line])\n\t"
        ".else\n\tvmovdqa %%ymm0, \\at(%[line])\n\t.endif\n\t"
        ".endr"
        :
        : [line] "r"(line), [next] "r"(next), [nt] "i"(non_temporal)
        : "memory", "xmm0");
  }
};
template <bool non_temporal>
struct Store512 : ClearUpper {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile(
        "vmovq %[next], %%xmm0\n\t"
        ".if %c[nt]\n\tvmovntdq %%zmm0, (%[line])\n\t"
        ".else\n\tvmovdqa64 %%zmm0, (%[line])\n\t.endif"
        :
        : [line] "r"(line), [next] "r"(next), [nt] "i"(non_temporal)
        : "memory", "xmm0");
  }
};
struct Nt32 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    const std::uint64_t high = next >> 32;
    for (int at = 0; at < 64; at += 8) {
      asm volatile("movntil %k[low], (%[word])\n\tmovntil %k[high], 4(%[word])"
                   :
                   : [word] "r"(line + at), [low] "r"(next), [high] "r"(high)
                   : "memory");
    }
  }
};
struct Nt64 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    for (int at = 0; at < 64; at += 8) {
      asm volatile("movntiq %[next], (%[word])" : : [word] "r"(line + at), [next] "r"(next) : "memory");
    }
  }
};
struct Direct64 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    alignas(64) const std::array<std::uint64_t, 8> source{next};
    asm volatile("movdir64b (%[source]), %[line]" : : [line] "r"(line), [source] "r"(source.data()) : "memory");
  }
};

// A plain store, followed by an operation on the line.
template <void (*after)(std::byte*)>
struct Followed : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Store128<false>::store(line, next);
    after(line);
  }
};
void clwb(std::byte* line) { asm volatile("clwb (%0)" : : "r"(line) : "memory"); }
void clflushopt(std::byte* line) { asm volatile("clflushopt (%0)" : : "r"(line) : "memory"); }
void clflush(std::byte* line) { asm volatile("clflush (%0)" : : "r"(line) : "memory"); }
void cldemote(std::byte* line) { asm volatile("cldemote (%0)" : : "r"(line) : "memory"); }

// ---- loads ----

struct Scalar : NoEnd {
  static void load(const std::byte* line) { (void)load_next(line); }
  static std::uint64_t load_next(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile("movq (%[line]), %[next]" : [next] "=r"(next) : [line] "r"(line) : "memory");
    return next;
  }
};

// Loads the parts of a line from its end to its first word, and returns that word (the next block) if `named`.
template <bool non_temporal>
struct Load128 : NoEnd {
  template <bool named>
  static std::uint64_t words(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile(
        ".irp at, 48, 32, 16, 0\n\t"
        ".if %c[nt]\n\tmovntdqa \\at(%[line]), %%xmm0\n\t"
        ".else\n\tmovdqa \\at(%[line]), %%xmm0\n\t.endif\n\t"
        ".endr\n\t"
        ".if %c[named]\n\tmovq %%xmm0, %[next]\n\t.endif"
        : [next] "=r"(next)
        : [line] "r"(line), [nt] "i"(non_temporal), [named] "i"(named)
        : "memory", "xmm0");
    return next;
  }
};
template <bool non_temporal>
struct Load256 : ClearUpper {
  template <bool named>
  static std::uint64_t words(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile(
        ".irp at, 32, 0\n\t"
        ".if %c[nt]\n\tvmovntdqa \\at(%[line]), %%ymm0\n\t"
        ".else\n\tvmovdqa \\at(%[line]), %%ymm0\n\t.endif\n\t"
        ".endr\n\t"
        ".if %c[named]\n\tvmovq %%xmm0, %[next]\n\t.endif"
        : [next] "=r"(next)
        : [line] "r"(line), [nt] "i"(non_temporal), [named] "i"(named)
        : "memory", "xmm0");
    return next;
  }
};
template <bool non_temporal>
struct Load512 : ClearUpper {
  template <bool named>
  static std::uint64_t words(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile(
        ".if %c[nt]\n\tvmovntdqa (%[line]), %%zmm0\n\t"
        ".else\n\tvmovdqa64 (%[line]), %%zmm0\n\t.endif\n\t"
        ".if %c[named]\n\tvmovq %%xmm0, %[next]\n\t.endif"
        : [next] "=r"(next)
        : [line] "r"(line), [nt] "i"(non_temporal), [named] "i"(named)
        : "memory", "xmm0");
    return next;
  }
};

template <class Words>
struct Vector : Words {
  static void load(const std::byte* line) { (void)Words::template words<false>(line); }
  static std::uint64_t load_next(const std::byte* line) { return Words::template words<true>(line); }
};

// ---- fences ----

void mfence() { asm volatile("mfence" : : : "memory"); }
void sfence() { asm volatile("sfence" : : : "memory"); }
void lfence() { asm volatile("lfence" : : : "memory"); }
void serialize() { asm volatile("serialize" : : : "memory"); }
void no_fence() { asm volatile("" : : : "memory"); }

bool always() { return true; }
bool has_avx() { return features().avx; }
bool has_avx512() { return features().avx512; }

constexpr std::array all_stores{
    Store{"plain128", "", always, write_blocks<Store128<false>>},
    Store{"plain256", "AVX", has_avx, write_blocks<Store256<false>>},
    Store{"plain512", "AVX-512F", has_avx512, write_blocks<Store512<false>>},
    Store{"nt32", "", always, write_blocks<Nt32>},
    Store{"nt64", "", always, write_blocks<Nt64>},
    Store{"nt128", "", always, write_blocks<Store128<true>>},
    Store{"nt256", "AVX", has_avx, write_blocks<Store256<true>>},
    Store{"nt512", "AVX-512F", has_avx512, write_blocks<Store512<true>>},
    Store{"dir64", "MOVDIR64B", [] { return features().movdir64b; }, write_blocks<Direct64>},
    Store{"plain+clwb", "CLWB", [] { return features().clwb; }, write_blocks<Followed<clwb>>},
    Store{"plain+clflushopt", "CLFLUSHOPT", [] { return features().clflushopt; }, write_blocks<Followed<clflushopt>>},
    Store{"plain+clflush", "CLFLUSH", [] { return features().clflush; }, write_blocks<Followed<clflush>>},
    Store{"plain+cldemote", "CLDEMOTE", [] { return features().cldemote; }, write_blocks<Followed<cldemote>>},
};

constexpr std::array all_loads{
    Load{"scalar", "", always, read_blocks<Scalar>, touch_blocks<Scalar>},
    Load{"plain128", "", always, read_blocks<Vector<Load128<false>>>, touch_blocks<Vector<Load128<false>>>},
    Load{"plain256", "AVX", has_avx, read_blocks<Vector<Load256<false>>>, touch_blocks<Vector<Load256<false>>>},
    Load{"plain512", "AVX-512F", has_avx512, read_blocks<Vector<Load512<false>>>, touch_blocks<Vector<Load512<false>>>},
    Load{"nt128", "SSE4.1", [] { return features().sse41; }, read_blocks<Vector<Load128<true>>>,
         touch_blocks<Vector<Load128<true>>>},
    Load{"nt256", "AVX2", [] { return features().avx2; }, read_blocks<Vector<Load256<true>>>,
         touch_blocks<Vector<Load256<true>>>},
    Load{"nt512", "AVX-512F", has_avx512, read_blocks<Vector<Load512<true>>>, touch_blocks<Vector<Load512<true>>>},
};

constexpr std::array all_fences{
    Fence{"mfence", "", always, mfence},
    Fence{"sfence", "", always, sfence},
    Fence{"lfence", "", always, lfence},
    Fence{"serialize", "SERIALIZE", [] { return features().serialize; }, serialize},
    Fence{"none", "", always, no_fence},
};

}  // namespace

std::span<const Store> stores() { return all_stores; }
std::span<const Load> loads() { return all_loads; }
std::span<const Fence> fences() { return all_fences; }

const Store& usual_store() { return all_stores[features().avx512 ? 7 : features().avx ? 6 : 5]; }
const Load& usual_load() { return all_loads[features().avx512 ? 3 : features().avx ? 2 : 1]; }
const Fence& usual_fence() { return all_fences[0]; }

}  // namespace tally::memory
