// The payloads in Intel syntax. r14 points to memory, r15 counts the iterations.
#include "programs/discovery/payloads.hpp"

namespace tally::discover {
namespace {

// Every page that a walk reads must be written first: unwritten pages all map to the zero page.
constexpr const char* touch_8m =
    "xor ebx, ebx\n1: mov qword ptr [r14 + rbx + 8], rbx\nadd rbx, 4096\ncmp rbx, 8388608\njb 1b\nxor ebx, ebx";
// A linear congruential generator (multiplier of Knuth's MMIX); its upper bits are pseudo-random.
constexpr const char* generator = "mov r12, 88172645463325252\nmovabs r13, 6364136223846793005";
constexpr const char* leaf = "jmp 9f\ntally_leaf: ret\n9:";
constexpr std::uint64_t large = 8 << 20;

}  // namespace

std::vector<Payload> table() {
  const std::string_view integer = "integer-operations", loads = "loads", stores = "stores", taken = "branches-taken",
                         conditional = "conditional-branches";
  return {
      payload("nop", "empty", "instructions", "", "nop", 1, {}),
      payload("empty", "", "", "", "", 0, {}),
      payload("add", "nop", integer, "", "add rax, rbx", 1, {{integer}}),
      payload("multiply", "nop", "multiplications", "", "imul r12, r11", 1, {{"multiplications"}}),
      payload("divide", "divide-control", "divisions", "mov ebx, 3", "xor edx, edx; mov eax, 1000; div ebx", 3,
              {{integer}, {"divisions"}}),
      payload("divide-control", "", "", "mov ebx, 3", "xor edx, edx; mov eax, 1000; nop", 3, {{integer}}),
      payload("load", "nop", loads, "", "mov rax, [r14]", 1, {{loads}}),
      payload("two-loads", "load", loads, "", "mov rax, [r14]; mov rcx, [r14 + 8]", 2, {{loads, 2}}),
      payload("store", "nop", stores, "", "mov [r14 + 64], rax", 1, {{stores}}),
      payload("load-store", "load", stores, "", "mov rax, [r14]; mov [r14 + 64], rax", 2, {{loads}, {stores}}),
      payload("read-modify-write", "load", stores, "", "add qword ptr [r14 + 64], 1", 1,
              {{loads}, {stores}, {integer}}),
      // Advances by 33 lines each time: over all 2,048 lines in turn, or always to the same one.
      payload("load-hit", "nop", loads, touch_8m, "mov rax, [r14 + rbx]; add rbx, 2112; and rbx, 63", 3,
              {{loads}, {integer, 2}}, large),
      payload("load-miss", "load-hit", "L1-dcache-load-misses", touch_8m,
              "mov rax, [r14 + rbx]; add rbx, 2112; and rbx, 0x1ffff", 3,
              {{loads}, {integer, 2}, {"L1-dcache-load-misses"}}, large),
      // Advances by a page and a line each time.
      payload("tlb-miss", "load-miss", "dTLB-load-misses", touch_8m,
              "mov rax, [r14 + rbx]; add rbx, 4160; and rbx, 0x7fffff", 3,
              {{loads}, {integer, 2}, {"L1-dcache-load-misses"}, {"dTLB-load-misses"}}, large),
      payload("store-hit", "nop", stores, touch_8m, "mov [r14 + rbx], rax; add rbx, 2112; and rbx, 63", 3,
              {{stores}, {integer, 2}}, large),
      payload("store-miss", "store-hit", "L1-dcache-store-misses", touch_8m,
              "mov [r14 + rbx], rax; add rbx, 2112; and rbx, 0x1ffff", 3,
              {{stores}, {integer, 2}, {"L1-dcache-store-misses"}}, large),
      payload("never-taken", "add", conditional, "", "test r14, r14; jz 1f; 1:", 2, {{integer}, {conditional}}),
      payload("always-taken", "never-taken", taken, "", "test r14, r14; jnz 1f; 1:", 2,
              {{integer}, {conditional}, {taken}}),
      payload("jump", "nop", "direct-jumps", "", "jmp 1f; 1:", 1, {{"direct-jumps"}}),
      payload("address-jump", "jump", integer, "", "lea rax, [rip + 1f]; jmp 1f; 1:", 2, {{integer}, {"direct-jumps"}}),
      payload("indirect-jump", "address-jump", "indirect-jumps", "", "lea rax, [rip + 1f]; jmp rax; 1:", 2,
              {{integer}, {"indirect-jumps"}}),
      payload("call", "load-store", "calls", leaf, "call tally_leaf", 2, {{"calls"}, {"returns"}, {loads}, {stores}}),
      payload("call-alone", "read-modify-write", "calls", "", "call 1f; 1: add rsp, 8", 2,
              {{"calls"}, {stores}, {integer}}),
      payload("return-miss", "indirect-jump", "return-misses", "", "lea rax, [rip + 1f]; push rax; ret; 1:", 3,
              {{"returns"}, {"return-misses"}, {loads}, {stores}, {integer}}),
      payload("steady", "multiply", conditional, generator, "imul r12, r13; add r12, 12345; bt r14, 60; jc 1f; 1:", 4,
              {{"multiplications"}, {integer, 2}, {conditional}}),
      payload("random", "steady", "conditional-branch-misses", generator,
              "imul r12, r13; add r12, 12345; bt r12, 60; jc 1f; 1:", 4,
              {{"multiplications"}, {integer, 2}, {conditional}, {taken, 0.5}, {"conditional-branch-misses", 0.5}}),
      payload("steady-target", "steady", "indirect-jumps", generator,
              "imul r12, r13; add r12, 12345; bt r14, 60; lea rax, [rip + 1f]; lea rcx, [rip + 2f]; cmovc rax, rcx; "
              "jmp rax; "
              "1: nop; 2:",
              8, {{"multiplications"}, {integer, 5}, {"indirect-jumps"}}),
      payload("random-target", "steady-target", "indirect-branch-misses", generator,
              "imul r12, r13; add r12, 12345; bt r12, 60; lea rax, [rip + 1f]; lea rcx, [rip + 2f]; cmovc rax, rcx; "
              "jmp rax; "
              "1: nop; 2:",
              7.5, {{"multiplications"}, {integer, 5}, {"indirect-jumps"}, {"indirect-branch-misses", 0.5}}),
      payload("simd", "nop", "simd-operations", "", "paddd xmm0, xmm1", 1, {{"simd-operations"}}),
      payload("fp-add", "nop", "fp-operations", "", "addsd xmm0, xmm1", 1, {{"fp-operations"}}),
      payload("fp-multiply", "nop", "fp-operations", "", "mulsd xmm0, xmm1", 1, {{"fp-operations"}}),
      payload("simd-load", "nop", loads, "", "movaps xmm2, [r14]", 1, {{loads}}),
      payload("simd-store", "nop", stores, "", "movaps [r14 + 64], xmm2", 1, {{stores}}),
      payload("load-barrier", "nop", "barriers", "", "lfence", 1, {{"barriers"}}),
      payload("memory-barrier", "nop", "barriers", "", "mfence", 1, {{"barriers"}}),
      payload("atomic", "read-modify-write", "atomics", "", "lock add qword ptr [r14 + 64], 1", 1,
              {{loads}, {stores}, {integer}, {"atomics"}}),
      payload("string-store", "store", "string-instructions", "", "lea rdi, [r14 + 4096]; mov ecx, 8; rep stosq", 3,
              {{integer}, {stores, 8}, {"string-instructions"}}),
      payload("string-load", "load", "string-instructions", "", "lea rsi, [r14]; lodsq", 2,
              {{integer}, {loads}, {"string-instructions"}}),
      payload("non-temporal", "store", "non-temporal-stores", "", "movnti [r14 + 64], rax", 1,
              {{stores}, {"non-temporal-stores"}}),
  };
}

}  // namespace tally::discover
