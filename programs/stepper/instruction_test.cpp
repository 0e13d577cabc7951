// The single-stepper's decoder, by what the manuals say of single instructions.
#include "programs/stepper/instruction.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally::stepper {
namespace {

using Bytes = std::vector<uint8_t>;

Instruction of(const Bytes& bytes) {
  const Instruction in = decode(bytes);
  EXPECT_EQ(in.length, bytes.size()) << "byte " << +bytes.front();
  return in;
}

TEST(StepperDecode, finds_how_an_instruction_leaves) {
  const struct {
    Flow flow;
    Bytes bytes;
  } cases[] = {
      {Flow::next, {0x90}},
      {Flow::conditional, {0x74, 0x05}},
      {Flow::conditional, {0x0f, 0x85, 1, 0, 0, 0}},
      {Flow::conditional, {0xe2, 0xfe}},
      {Flow::conditional, {0xe3, 0x05}},
      {Flow::direct_jump, {0xeb, 0x05}},
      {Flow::indirect_jump, {0xff, 0xe0}},
      {Flow::direct_call, {0xe8, 0, 0, 0, 0}},
      {Flow::indirect_call, {0xff, 0xd0}},
      {Flow::ret, {0xc3}},
      {Flow::far, {0xcb}},
      {Flow::far, {0x0f, 0x05}},
      {Flow::far, {0xcd, 0x80}},
  };
  for (const auto& one : cases) EXPECT_EQ(of(one.bytes).flow, one.flow) << +one.bytes.front();
}

TEST(StepperDecode, counts_accesses) {
  const struct {
    int loads, stores;
    Bytes bytes;
  } cases[] = {
      {0, 0, {0x8d, 0x07}},              // lea eax, [rdi]
      {1, 0, {0x8b, 0x07}},              // mov eax, [rdi]
      {1, 1, {0x01, 0x07}},              // add [rdi], eax
      {0, 1, {0x50}},                    // push rax
      {1, 1, {0xff, 0x15, 0, 0, 0, 0}},  // call [rip]
      {2, 0, {0xa6}},                    // cmpsb
      {1, 1, {0xf3, 0xa4}},              // rep movsb, one iteration
      {0, 0, {0x0f, 0x1f, 0x00}},        // nop [rax]
  };
  for (const auto& one : cases) {
    EXPECT_EQ(of(one.bytes).loads, one.loads) << +one.bytes.front();
    EXPECT_EQ(of(one.bytes).stores, one.stores) << +one.bytes.front();
  }
  EXPECT_TRUE(of({0x0f, 0x18, 0x0f}).prefetches);
  EXPECT_EQ(of({0x0f, 0x18, 0x0f}).loads, 0);
}

TEST(StepperDecode, finds_instructions_that_need_special_treatment) {
  const struct {
    Special special;
    Bytes bytes;
  } cases[] = {
      {Special::none, {0xa4}},
      {Special::repeated_string, {0xf3, 0xa4}},
      {Special::repeated_string, {0xf2, 0xae}},
      {Special::push_flags, {0x9c}},
      {Special::pop_flags, {0x9d}},
      {Special::syscall, {0x0f, 0x05}},
      {Special::trap, {0xcc}},
      {Special::trap, {0xf1}},
      {Special::stack_segment, {0x8e, 0xd0}},                   // mov ss, eax
      {Special::none, {0x8e, 0xd8}},                            // mov ds, eax
      {Special::emulated, {0x0f, 0xa2}},                        // cpuid
      {Special::emulated, {0x0f, 0x01, 0x00}},                  // sgdt [rax]
      {Special::emulated, {0x0f, 0x01, 0xe0}},                  // smsw eax
      {Special::none, {0xf3, 0x90}},                            // pause
      {Special::gather, {0xc4, 0xe2, 0x71, 0x90, 0x04, 0x10}},  // vpgatherdd
  };
  for (const auto& one : cases) EXPECT_EQ(of(one.bytes).special, one.special) << +one.bytes.front();
}

TEST(StepperDecode, finds_the_condition_of_a_branch) {
  EXPECT_EQ(of({0x74, 0}).condition, 4);
  EXPECT_EQ(of({0x7f, 0}).condition, 15);
  EXPECT_EQ(of({0x7f, 1}).condition, condition_by_address);
  EXPECT_EQ(of({0x0f, 0x80, 1, 0, 0, 0}).condition, condition_by_address);
  EXPECT_EQ(of({0x66, 0x74, 1}).condition, 4);
  EXPECT_EQ(of({0x66, 0xe2, 1}).condition, 0xe2);
  // To the next instruction both outcomes lead to the same address: the flags decide.
  EXPECT_EQ(of({0x0f, 0x80, 0, 0, 0, 0}).condition, 0);
  EXPECT_EQ(of({0xe2, 0}).condition, 0xe2);
}

TEST(StepperDecode, counts_in_ecx_with_32_address_bits) {
  EXPECT_FALSE(of({0xf3, 0xa4}).narrow_counter);
  EXPECT_TRUE(of({0x67, 0xf3, 0xa4}).narrow_counter);
  EXPECT_TRUE(of({0x67, 0xe3, 0x00}).narrow_counter);
}

TEST(StepperDecode, finds_the_mask_of_a_gather) {
  const ElementMask by_vector = of({0xc4, 0xe2, 0x71, 0x90, 0x04, 0x10}).mask;  // vpgatherdd xmm0, [rax+xmm2], xmm1
  EXPECT_FALSE(by_vector.opmask);
  EXPECT_EQ(by_vector.elements, 4);
  EXPECT_EQ(by_vector.element_bytes, 4);
  EXPECT_EQ(by_vector.register_index, 1);
}

TEST(StepperDecode, reads_32_bit_code) {
  const auto of32 = [](const Bytes& bytes) { return decode(bytes, CodeMode::bits32); };
  EXPECT_EQ(of32({0x49, 0x75, 0xfb}).length, 1) << "dec ecx, a prefix in 64-bit code";
  EXPECT_EQ(of32({0xcd, 0x80}).special, Special::syscall);
  EXPECT_EQ(of({0xcd, 0x80}).special, Special::int_syscall);
  EXPECT_EQ(of({0xcd, 0x04}).special, Special::trap);
  EXPECT_EQ(of32({0xcd, 0x04}).special, Special::trap);
  EXPECT_EQ(of32({0x0f, 0x34}).special, Special::syscall);
  EXPECT_EQ(of32({0x60}).stores, 8) << "pushad";
  EXPECT_EQ(of32({0x61}).loads, 8) << "popad";
  EXPECT_EQ(of32({0x9c}).special, Special::push_flags);
  EXPECT_EQ(of32({0x9d}).special, Special::pop_flags);
  EXPECT_EQ(of32({0x9d}).operand_bytes, 4);
  EXPECT_TRUE(of32({0xf3, 0xa4}).narrow_counter);
}

TEST(StepperDecode, needs_all_bytes) {
  EXPECT_EQ(decode(Bytes{0xe9, 0, 0, 0}).length, 0);
  EXPECT_EQ(decode(Bytes{0x06}).length, 0);
  EXPECT_EQ(decode(Bytes{}).length, 0);
}

}  // namespace
}  // namespace tally::stepper
