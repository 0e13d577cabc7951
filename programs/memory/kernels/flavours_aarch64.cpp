// Store and load flavours of aarch64 (Arm ARM, DDI 0487). STNP and LDNP are hints: a core may treat them as STP and
// LDP.
#include <array>

#include "programs/memory/kernels/walk.hpp"

namespace tally::memory {
namespace {

struct NoEnd {
  static void done() {}
};

// The assembler chooses between the two forms of an instruction, so that the surrounding code exists once.
template <bool non_temporal>
struct Pairs : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile(
        "fmov d0, %[next]\n\t"
        ".if %c[nt]\n\tstnp q0, q0, [%[line]]\n\tstnp q0, q0, [%[line], #32]\n\t"
        ".else\n\tstp q0, q0, [%[line]]\n\tstp q0, q0, [%[line], #32]\n\t.endif"
        :
        : [line] "r"(line), [next] "r"(next), [nt] "i"(non_temporal)
        : "memory", "v0");
  }
};

// A plain store, followed by an operation on the line.
template <void (*after)(std::byte*)>
struct Followed : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Pairs<false>::store(line, next);
    after(line);
  }
};
void cvac(std::byte* line) { asm volatile("dc cvac, %0" : : "r"(line) : "memory"); }
void civac(std::byte* line) { asm volatile("dc civac, %0" : : "r"(line) : "memory"); }

struct Scalar : NoEnd {
  static void load(const std::byte* line) { (void)load_next(line); }
  static std::uint64_t load_next(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile("ldr %[next], [%[line]]" : [next] "=r"(next) : [line] "r"(line) : "memory");
    return next;
  }
};
template <bool non_temporal>
struct PairLoads : NoEnd {
  static void load(const std::byte* line) {
    asm volatile(
        ".if %c[nt]\n\tldnp q1, q2, [%[line]]\n\tldnp q3, q4, [%[line], #32]\n\t"
        ".else\n\tldp q1, q2, [%[line]]\n\tldp q3, q4, [%[line], #32]\n\t.endif"
        :
        : [line] "r"(line), [nt] "i"(non_temporal)
        : "memory", "v1", "v2", "v3", "v4");
  }
  // The load that yields the next block is never LDNP, because its address dependencies are ordered less strictly.
  static std::uint64_t load_next(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile("ldp q3, q4, [%[line], #32]\n\tldp q0, q1, [%[line]]\n\tfmov %[next], d0"
                 : [next] "=r"(next)
                 : [line] "r"(line)
                 : "memory", "v0", "v1", "v3", "v4");
    return next;
  }
};

void dsb_ish() { asm volatile("dsb ish" : : : "memory"); }
void dsb_sy() { asm volatile("dsb sy" : : : "memory"); }
void dsb_ishst() { asm volatile("dsb ishst" : : : "memory"); }
void dmb_ish() { asm volatile("dmb ish" : : : "memory"); }
void no_fence() { asm volatile("" : : : "memory"); }

bool always() { return true; }

constexpr std::array all_stores{
    Store{"plain", "", always, write_blocks<Pairs<false>>},
    Store{"nt", "", always, write_blocks<Pairs<true>>},
    Store{"plain+cvac", "", always, write_blocks<Followed<cvac>>},
    Store{"plain+civac", "", always, write_blocks<Followed<civac>>},
};

constexpr std::array all_loads{
    Load{"scalar", "", always, read_blocks<Scalar>, touch_blocks<Scalar>},
    Load{"plain", "", always, read_blocks<PairLoads<false>>, touch_blocks<PairLoads<false>>},
    Load{"nt", "", always, read_blocks<PairLoads<true>>, touch_blocks<PairLoads<true>>},
};

constexpr std::array all_fences{
    Fence{"dsb-ish", "", always, dsb_ish},     Fence{"dsb-sy", "", always, dsb_sy},
    Fence{"dsb-ishst", "", always, dsb_ishst}, Fence{"dmb-ish", "", always, dmb_ish},
    Fence{"none", "", always, no_fence},
};

}  // namespace

std::span<const Store> stores() { return all_stores; }
std::span<const Load> loads() { return all_loads; }
std::span<const Fence> fences() { return all_fences; }

const Store& usual_store() { return all_stores[1]; }
const Load& usual_load() { return all_loads[1]; }
const Fence& usual_fence() { return all_fences[0]; }

}  // namespace tally::memory
