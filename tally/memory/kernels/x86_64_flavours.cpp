// Store and load flavours of x86-64. Features: Intel SDM vol. 2A, CPUID, and vol. 1, 13.3 and 14.3: a vector register
// may be used where the system saves it (OSXSAVE, then XCR0).
#include <cpuid.h>

#include <array>

#include "tally/memory/kernels/walk.hpp"

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

Features look() {
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
  static const Features seen = look();
  return seen;
}

struct NoEnd {
  static void done() {}
};
// What used the upper halves of vector registers must clear them, or legacy SSE code behind it becomes slow.
struct ClearUpper {
  static void done() { asm volatile("vzeroupper"); }
};

// ---- stores ----

struct Plain128 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile(
        "movq %[next], %%xmm0\n\tmovdqa %%xmm0, (%[line])\n\tmovdqa %%xmm0, 16(%[line])\n\t"
        "movdqa %%xmm0, 32(%[line])\n\tmovdqa %%xmm0, 48(%[line])"
        :
        : [line] "r"(line), [next] "r"(next)
        : "memory", "xmm0");
  }
};
struct Plain256 : ClearUpper {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile("vmovq %[next], %%xmm0\n\tvmovdqa %%ymm0, (%[line])\n\tvmovdqa %%ymm0, 32(%[line])"
                 :
                 : [line] "r"(line), [next] "r"(next)
                 : "memory", "xmm0");
  }
};
struct Plain512 : ClearUpper {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile("vmovq %[next], %%xmm0\n\tvmovdqa64 %%zmm0, (%[line])"
                 :
                 : [line] "r"(line), [next] "r"(next)
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
struct Nt128 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile(
        "movq %[next], %%xmm0\n\tmovntdq %%xmm0, (%[line])\n\tmovntdq %%xmm0, 16(%[line])\n\t"
        "movntdq %%xmm0, 32(%[line])\n\tmovntdq %%xmm0, 48(%[line])"
        :
        : [line] "r"(line), [next] "r"(next)
        : "memory", "xmm0");
  }
};
struct Nt256 : ClearUpper {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile("vmovq %[next], %%xmm0\n\tvmovntdq %%ymm0, (%[line])\n\tvmovntdq %%ymm0, 32(%[line])"
                 :
                 : [line] "r"(line), [next] "r"(next)
                 : "memory", "xmm0");
  }
};
struct Nt512 : ClearUpper {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile("vmovq %[next], %%xmm0\n\tvmovntdq %%zmm0, (%[line])"
                 :
                 : [line] "r"(line), [next] "r"(next)
                 : "memory", "xmm0");
  }
};
struct Direct64 : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    alignas(64) const std::array<std::uint64_t, 8> source{next};
    asm volatile("movdir64b (%[source]), %[line]" : : [line] "r"(line), [source] "r"(source.data()) : "memory");
  }
};

// A plain store, and then what is done with the line.
struct WithClwb : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Plain128::store(line, next);
    asm volatile("clwb (%0)" : : "r"(line) : "memory");
  }
};
struct WithClflushopt : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Plain128::store(line, next);
    asm volatile("clflushopt (%0)" : : "r"(line) : "memory");
  }
};
struct WithClflush : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Plain128::store(line, next);
    asm volatile("clflush (%0)" : : "r"(line) : "memory");
  }
};
struct WithCldemote : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Plain128::store(line, next);
    asm volatile("cldemote (%0)" : : "r"(line) : "memory");
  }
};

// ---- loads ----

struct Scalar : NoEnd {
  static void load(const std::byte* line) { (void)load_next(line); }
  static std::uint64_t load_next(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile("movq (%[line]), %[next]" : [next] "=r"(next) : [line] "r"(line) : "memory");
    return next;
  }
};

// The word that names the next block comes out of the load of its line.
template <class Vector, class End>
struct VectorLoad : End {
  static void load(const std::byte* line) { Vector::load(line); }
  static std::uint64_t load_next(const std::byte* line) {
    Vector::load_behind(line);
    return Vector::load_first(line);
  }
};
#define TALLY_LOADS(type, instruction, vector, move, behind)                                         \
  struct type {                                                                                      \
    static void load(const std::byte* line) {                                                        \
      asm volatile(instruction " (%[line]), %%" vector "1" : : [line] "r"(line) : "memory", "xmm1"); \
      load_behind(line);                                                                             \
    }                                                                                                \
    static void load_behind([[maybe_unused]] const std::byte* line) { behind }                       \
    static std::uint64_t load_first(const std::byte* line) {                                         \
      std::uint64_t next = 0;                                                                        \
      asm volatile(instruction " (%[line]), %%" vector "0\n\t" move " %%xmm0, %[next]"               \
                   : [next] "=r"(next)                                                               \
                   : [line] "r"(line)                                                                \
                   : "memory", "xmm0");                                                              \
      return next;                                                                                   \
    }                                                                                                \
  };
#define TALLY_THREE_MORE(instruction)                                                                    \
  asm volatile(instruction " 16(%[line]), %%xmm2\n\t" instruction " 32(%[line]), %%xmm3\n\t" instruction \
                           " 48(%[line]), %%xmm4"                                                        \
               :                                                                                         \
               : [line] "r"(line)                                                                        \
               : "memory", "xmm2", "xmm3", "xmm4");
#define TALLY_ONE_MORE(instruction) \
  asm volatile(instruction " 32(%[line]), %%ymm2" : : [line] "r"(line) : "memory", "xmm2");
TALLY_LOADS(Load128, "movdqa", "xmm", "movq", TALLY_THREE_MORE("movdqa"))
TALLY_LOADS(Load256, "vmovdqa", "ymm", "vmovq", TALLY_ONE_MORE("vmovdqa"))
TALLY_LOADS(Load512, "vmovdqa64", "zmm", "vmovq", )
TALLY_LOADS(NtLoad128, "movntdqa", "xmm", "movq", TALLY_THREE_MORE("movntdqa"))
TALLY_LOADS(NtLoad256, "vmovntdqa", "ymm", "vmovq", TALLY_ONE_MORE("vmovntdqa"))
TALLY_LOADS(NtLoad512, "vmovntdqa", "zmm", "vmovq", )
#undef TALLY_LOADS
#undef TALLY_THREE_MORE
#undef TALLY_ONE_MORE

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
    Store{"plain128", "", always, write_blocks<Plain128>},
    Store{"plain256", "AVX", has_avx, write_blocks<Plain256>},
    Store{"plain512", "AVX-512F", has_avx512, write_blocks<Plain512>},
    Store{"nt32", "", always, write_blocks<Nt32>},
    Store{"nt64", "", always, write_blocks<Nt64>},
    Store{"nt128", "", always, write_blocks<Nt128>},
    Store{"nt256", "AVX", has_avx, write_blocks<Nt256>},
    Store{"nt512", "AVX-512F", has_avx512, write_blocks<Nt512>},
    Store{"dir64", "MOVDIR64B", [] { return features().movdir64b; }, write_blocks<Direct64>},
    Store{"plain+clwb", "CLWB", [] { return features().clwb; }, write_blocks<WithClwb>},
    Store{"plain+clflushopt", "CLFLUSHOPT", [] { return features().clflushopt; }, write_blocks<WithClflushopt>},
    Store{"plain+clflush", "CLFLUSH", [] { return features().clflush; }, write_blocks<WithClflush>},
    Store{"plain+cldemote", "CLDEMOTE", [] { return features().cldemote; }, write_blocks<WithCldemote>},
};

constexpr std::array all_loads{
    Load{"scalar", "", always, read_blocks<Scalar>},
    Load{"plain128", "", always, read_blocks<VectorLoad<Load128, NoEnd>>},
    Load{"plain256", "AVX", has_avx, read_blocks<VectorLoad<Load256, ClearUpper>>},
    Load{"plain512", "AVX-512F", has_avx512, read_blocks<VectorLoad<Load512, ClearUpper>>},
    Load{"nt128", "SSE4.1", [] { return features().sse41; }, read_blocks<VectorLoad<NtLoad128, NoEnd>>},
    Load{"nt256", "AVX2", [] { return features().avx2; }, read_blocks<VectorLoad<NtLoad256, ClearUpper>>},
    Load{"nt512", "AVX-512F", has_avx512, read_blocks<VectorLoad<NtLoad512, ClearUpper>>},
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
