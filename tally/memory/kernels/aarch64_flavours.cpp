// Store and load flavours of aarch64 (Arm ARM, DDI 0487). STNP and LDNP are hints: a core may treat them as STP and
// LDP.
#include <array>

#include "tally/memory/kernels/walk.hpp"

namespace tally::memory {
namespace {

struct NoEnd {
  static void done() {}
};

struct Plain : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile("fmov d0, %[next]\n\tstp q0, q0, [%[line]]\n\tstp q0, q0, [%[line], #32]"
                 :
                 : [line] "r"(line), [next] "r"(next)
                 : "memory", "v0");
  }
};
struct NonTemporal : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    asm volatile("fmov d0, %[next]\n\tstnp q0, q0, [%[line]]\n\tstnp q0, q0, [%[line], #32]"
                 :
                 : [line] "r"(line), [next] "r"(next)
                 : "memory", "v0");
  }
};
struct WithCvac : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Plain::store(line, next);
    asm volatile("dc cvac, %0" : : "r"(line) : "memory");
  }
};
struct WithCivac : NoEnd {
  static void store(std::byte* line, std::uint64_t next) {
    Plain::store(line, next);
    asm volatile("dc civac, %0" : : "r"(line) : "memory");
  }
};

struct Scalar : NoEnd {
  static void load(const std::byte* line) { (void)load_next(line); }
  static std::uint64_t load_next(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile("ldr %[next], [%[line]]" : [next] "=r"(next) : [line] "r"(line) : "memory");
    return next;
  }
};
struct PlainLoad : NoEnd {
  static void load(const std::byte* line) {
    asm volatile("ldp q1, q2, [%[line]]\n\tldp q3, q4, [%[line], #32]"
                 :
                 : [line] "r"(line)
                 : "memory", "v1", "v2", "v3", "v4");
  }
  static std::uint64_t load_next(const std::byte* line) {
    std::uint64_t next = 0;
    asm volatile("ldp q3, q4, [%[line], #32]\n\tldp q0, q1, [%[line]]\n\tfmov %[next], d0"
                 : [next] "=r"(next)
                 : [line] "r"(line)
                 : "memory", "v0", "v1", "v3", "v4");
    return next;
  }
};
struct NonTemporalLoad : NoEnd {
  static void load(const std::byte* line) {
    asm volatile("ldnp q1, q2, [%[line]]\n\tldnp q3, q4, [%[line], #32]"
                 :
                 : [line] "r"(line)
                 : "memory", "v1", "v2", "v3", "v4");
  }
  // The load that names the next block is never LDNP, whose address dependencies are ordered less strictly.
  static std::uint64_t load_next(const std::byte* line) { return PlainLoad::load_next(line); }
};

void dsb_ish() { asm volatile("dsb ish" : : : "memory"); }
void dsb_sy() { asm volatile("dsb sy" : : : "memory"); }
void dsb_ishst() { asm volatile("dsb ishst" : : : "memory"); }
void dmb_ish() { asm volatile("dmb ish" : : : "memory"); }
void no_fence() { asm volatile("" : : : "memory"); }

bool always() { return true; }

constexpr std::array all_stores{
    Store{"plain", "", always, write_blocks<Plain>},
    Store{"nt", "", always, write_blocks<NonTemporal>},
    Store{"plain+cvac", "", always, write_blocks<WithCvac>},
    Store{"plain+civac", "", always, write_blocks<WithCivac>},
};

constexpr std::array all_loads{
    Load{"scalar", "", always, read_blocks<Scalar>},
    Load{"plain", "", always, read_blocks<PlainLoad>},
    Load{"nt", "", always, read_blocks<NonTemporalLoad>},
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
