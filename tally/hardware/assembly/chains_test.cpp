#include "tally/hardware/assembly/chains.hpp"

#include <gtest/gtest.h>

namespace tally::assembly {
namespace {

#if defined(__x86_64__)

struct Case {
  const char* code;
  const char* latency;     // the only text, or with a '!' a part of the reason
  const char* throughput;  // the second text, or a part of the reason
};

class Instructions : public testing::TestWithParam<Case> {};

std::string shown(const Repetition& one, std::size_t which) {
  if (one.texts.empty()) return "! " + one.why_not;
  return one.texts[which % one.texts.size()];
}

TEST_P(Instructions, are_chained_and_spread) {
  const Chains chains = chains_of(GetParam().code);
  EXPECT_EQ(shown(chains.latency, 0), GetParam().latency);
  EXPECT_EQ(shown(chains.throughput, 1), GetParam().throughput);
}

INSTANTIATE_TEST_SUITE_P(
    assembly, Instructions,
    testing::Values(
        Case{"imul r12, r11", "imul r12, r11", "imul rcx, r11"},
        Case{"IMUL R12, R11 ;", "imul r12, r11", "imul rcx, r11"},
        Case{"popcnt rax, rbx", "popcnt rax, rax", "popcnt rcx, rbx"},
        Case{"movzx eax, bl", "movzx eax, al", "movzx ecx, bl"},
        Case{"mov rax, [r14]", "mov rax, [rax]", "mov rcx, [r14]"},
        Case{"mov rax, [rax]", "mov rax, [rax]", "mov rdx, [rax]"},
        Case{"lea rax, [rax + 1]", "lea rax, [rax + 1]", "lea rdx, [rax + 1]"},
        Case{"lea rax, [rbx + rcx * 4]", "lea rax, [rax + rcx * 4]", "lea rdx, [rbx + rcx * 4]"},
        Case{"xor eax, eax", "! its result depends on no operand", "xor ecx, ecx"},
        Case{"adc rax, rbx", "adc rax, rbx", "! each copy waits for the flags of the one before it"},
        Case{"mul rbx", "! it has no result in a register that its text names",
             "! its results go to registers that cannot be chosen"},
        Case{"nop", "! it has no result in a register that its text names", "nop"},
        Case{"addsd xmm0, xmm1", "addsd xmm0, xmm1", "addsd xmm2, xmm1"},
        Case{"vaddsd xmm0, xmm1, xmm2", "vaddsd xmm0, xmm0, xmm2", "vaddsd xmm3, xmm1, xmm2"},
        Case{"movsd xmm0, qword ptr [r14]", "! its result and its operands are in different kinds of registers",
             "movsd xmm1, qword ptr [r14]"},
        Case{"shl r8d, cl", "shl r8d, cl", "shl edx, cl"},
        Case{"cmp rax, rbx", "! it has no result in a register that its text names", "cmp rax, rbx"},
        Case{"vfmadd213pd ymm3, ymm1, ymm2", "vfmadd213pd ymm3, ymm1, ymm2", "vfmadd213pd ymm3, ymm1, ymm2"},
        Case{"mov qword ptr [r14 + 8], rax", "! it has no result in a register that its text names",
             "mov qword ptr [r14 + 8], rax"},
        Case{"nop; nop", "! the code is more than one instruction", "! the code is more than one instruction"}));

#endif

}  // namespace
}  // namespace tally::assembly
