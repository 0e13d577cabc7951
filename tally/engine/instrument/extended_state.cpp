#include "tally/engine/instrument/extended_state.hpp"

#include "tally/engine/records.hpp"

namespace tally::engine::instrument {
namespace {

struct Leaf {
  u32 a, b, c, d;
};
Leaf state_leaf(u32 sub) {
  Leaf l{13, 0, sub, 0};
  asm volatile("cpuid" : "+a"(l.a), "=b"(l.b), "+c"(l.c), "=d"(l.d));
  return l;
}

}  // namespace

const ExtendedState& extended_state() {
  static ExtendedState s;
  static bool known;
  if (__atomic_load_n(&known, __ATOMIC_ACQUIRE)) return s;
  const u64 enabled = extended_control(0);
  s.reports_use = state_leaf(1).a >> 2 & 1;
  for (u32 i = 2; i < 63; i++) {
    if (!(enabled >> i & 1)) continue;
    const Leaf l = state_leaf(i);
    s.layout.component[i] = {l.b, l.a, (l.c & 2) != 0};
  }
  __atomic_store_n(&known, true, __ATOMIC_RELEASE);
  return s;
}

u64 extended_control(u32 which) {
  u32 low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
  return u64{high} << 32 | low;
}

u64 movable_components() {
  const channel::PresentedCpu& cpu = settings().cpu;
  const u64 enabled = extended_control(0);
  return cpu.features.has(channel::Feature::xsave) ? enabled & cpu.components : enabled;
}

}  // namespace tally::engine::instrument
