// The payloads for aarch64. x27 points to memory, x28 counts the iterations.
#include "programs/discovery/payloads.hpp"

namespace tally::discover {
namespace {

// Every page that a walk reads must be written first: unwritten pages all map to the zero page.
constexpr const char* touch_8m =
    "mov x3, #0\nmov x5, #8388608\nmov x4, #4096\nadd x6, x27, #8\n1: str x3, [x6, x3]\nadd x3, x3, x4\ncmp x3, x5\n"
    "b.lo 1b\nmov x3, #0\nmov x4, #4160";
// A linear congruential generator (multiplier of Knuth's MMIX); its upper bits are pseudo-random.
constexpr const char* generator = "ldr x12, =88172645463325252\nldr x13, =6364136223846793005";
constexpr const char* leaf = "b 9f\ntally_leaf: ret\n9:";
constexpr std::uint64_t large = (8 << 20) + 65536;

}  // namespace

std::vector<Payload> table() {
  const std::string_view integer = "integer-operations", loads = "loads", stores = "stores", taken = "branches-taken",
                         conditional = "conditional-branches";
  return {
      payload("nop", "empty", "instructions", "", "nop", 1, {}),
      payload("empty", "", "", "", "", 0, {}),
      payload("add", "nop", integer, "", "add x0, x0, x1", 1, {{integer}}),
      payload("multiply", "nop", "multiplications", "", "mul x12, x12, x11", 1, {{"multiplications"}}),
      payload("divide", "nop", "divisions", "mov x1, #1000\nmov x2, #3", "udiv x0, x1, x2", 1, {{"divisions"}}),
      payload("load", "nop", loads, "", "ldr x0, [x27]", 1, {{loads}}),
      payload("two-loads", "load", loads, "", "ldr x0, [x27]; ldr x1, [x27, #8]", 2, {{loads, 2}}),
      payload("store", "nop", stores, "", "str x0, [x27, #64]", 1, {{stores}}),
      payload("load-store", "load", stores, "", "ldr x0, [x27]; str x0, [x27, #64]", 2, {{loads}, {stores}}),
      payload("load-hit", "nop", loads, touch_8m, "ldr x0, [x27, x3]; add x3, x3, #2112; and x3, x3, #0x3f", 3,
              {{loads}, {integer, 2}}, large),
      payload("load-miss", "load-hit", "L1-dcache-load-misses", touch_8m,
              "ldr x0, [x27, x3]; add x3, x3, #2112; and x3, x3, #0x3ffff", 3,
              {{loads}, {integer, 2}, {"L1-dcache-load-misses"}}, large),
      payload("tlb-miss", "load-miss", "dTLB-load-misses", touch_8m,
              "ldr x0, [x27, x3]; add x3, x3, x4; and x3, x3, #0x7fffff", 3,
              {{loads}, {integer, 2}, {"L1-dcache-load-misses"}, {"dTLB-load-misses"}}, large),
      payload("store-hit", "nop", stores, touch_8m, "str x0, [x27, x3]; add x3, x3, #2112; and x3, x3, #0x3f", 3,
              {{stores}, {integer, 2}}, large),
      payload("store-miss", "store-hit", "L1-dcache-store-misses", touch_8m,
              "str x0, [x27, x3]; add x3, x3, #2112; and x3, x3, #0x3ffff", 3,
              {{stores}, {integer, 2}, {"L1-dcache-store-misses"}}, large),
      payload("never-taken", "nop", conditional, "", "cbz x27, 1f; 1:", 1, {{conditional}}),
      payload("always-taken", "never-taken", taken, "", "cbnz x27, 1f; 1:", 1, {{conditional}, {taken}}),
      payload("jump", "nop", "direct-jumps", "", "b 1f; 1:", 1, {{"direct-jumps"}}),
      payload("address-jump", "jump", integer, "", "adr x0, 1f; b 1f; 1:", 2, {{integer}, {"direct-jumps"}}),
      payload("indirect-jump", "address-jump", "indirect-jumps", "", "adr x0, 1f; br x0; 1:", 2,
              {{integer}, {"indirect-jumps"}}),
      payload("call", "jump", "calls", leaf, "bl tally_leaf", 2, {{"calls"}, {"returns"}}),
      payload("call-alone", "nop", "calls", "", "bl 1f; 1:", 1, {{"calls"}}),
      payload("return-miss", "indirect-jump", "return-misses", "", "adr x30, 1f; ret; 1:", 2,
              {{"returns"}, {"return-misses"}, {integer}}),
      payload("steady", "multiply", conditional, generator,
              "mul x12, x12, x13; add x12, x12, #1234; tbnz x27, #60, 1f; 1:", 3,
              {{"multiplications"}, {integer}, {conditional}}),
      payload("random", "steady", "conditional-branch-misses", generator,
              "mul x12, x12, x13; add x12, x12, #1234; tbnz x12, #60, 1f; 1:", 3,
              {{"multiplications"}, {integer}, {conditional}, {taken, 0.5}, {"conditional-branch-misses", 0.5}}),
      payload("simd", "nop", "simd-operations", "", "add v0.4s, v0.4s, v1.4s", 1, {{"simd-operations"}}),
      payload("fp-add", "nop", "fp-operations", "", "fadd d0, d0, d1", 1, {{"fp-operations"}}),
      payload("fp-multiply", "nop", "fp-operations", "", "fmul d0, d0, d1", 1, {{"fp-operations"}}),
      payload("simd-load", "nop", loads, "", "ldr q2, [x27]", 1, {{loads}}),
      payload("simd-store", "nop", stores, "", "str q2, [x27, #64]", 1, {{stores}}),
      payload("memory-barrier", "nop", "barriers", "", "dmb ish", 1, {{"barriers"}}),
      payload("instruction-barrier", "nop", "barriers", "", "isb", 1, {{"barriers"}}),
      payload("exclusive", "load-store", "atomics", "add x5, x27, #64", "ldxr x0, [x5]; stxr w1, x0, [x5]", 2,
              {{loads}, {stores}, {"atomics"}}),
  };
}

}  // namespace tally::discover
