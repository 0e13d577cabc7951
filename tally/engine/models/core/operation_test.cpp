#include "tally/engine/models/core/operation.hpp"

#include <gtest/gtest.h>

namespace tally::models {
namespace {

TEST(Operation, ByName) {
  EXPECT_EQ(operation_of("add", {}), Operation::alu);
  EXPECT_EQ(operation_of("nop", {}), Operation::nop);
  EXPECT_EQ(operation_of("prefetchw", {}), Operation::nop);
  EXPECT_EQ(operation_of("scasq", {}), Operation::string_step);
  EXPECT_EQ(operation_of("addsd", {}), Operation::fp_add);
  EXPECT_EQ(operation_of("fsqrt", {}), Operation::x87_root);
}

TEST(Operation, PartsOfNamesAreNoNames) {
  for (const char* mnemonic : {"", "ad", "addx", "dd", " ", "no", "add sub", "fsqr", "fsqrtx", "v"})
    EXPECT_EQ(operation_of(mnemonic, {}), Operation::unknown) << mnemonic;
}

TEST(Operation, UnlistedMnemonicsAreUnknown) {
  for (const char* mnemonic : {"hlt", "vmcall", "in", "enqcmd"})
    EXPECT_EQ(operation_of(mnemonic, {}), Operation::unknown) << mnemonic;
}

TEST(Operation, AvxFormsAreFoundWithoutTheirV) {
  EXPECT_EQ(operation_of("vaddps", {}), Operation::fp_add);
  EXPECT_EQ(operation_of("vfmadd231pd", {}), Operation::fp_fma);
  EXPECT_EQ(operation_of("vpbroadcastd", {}), Operation::vector_insert_lane);
}

TEST(Operation, FormsChangeTheKind) {
  EXPECT_EQ(operation_of("imul", {.operands = 2}), Operation::multiply);
  EXPECT_EQ(operation_of("imul", {.operands = 3, .immediate = true}), Operation::multiply);
  EXPECT_EQ(operation_of("imul", {.operands = 1}), Operation::multiply_wide);
  EXPECT_EQ(operation_of("div", {.bits = 32, .operands = 1}), Operation::divide);
  EXPECT_EQ(operation_of("div", {.bits = 64, .operands = 1}), Operation::divide_wide);
  EXPECT_EQ(operation_of("idiv", {.bits = 64, .operands = 1}), Operation::divide_wide_signed);
  EXPECT_EQ(operation_of("shl", {.immediate = true}), Operation::shift);
  EXPECT_EQ(operation_of("shl", {.operands = 1}), Operation::shift);
  EXPECT_EQ(operation_of("shl", {.operands = 2}), Operation::shift_by_register);
  EXPECT_EQ(operation_of("shlx", {.operands = 3}), Operation::shift);
  EXPECT_EQ(operation_of("lea", {.address_parts = 2}), Operation::lea);
  EXPECT_EQ(operation_of("lea", {.address_parts = 3}), Operation::lea_slow);
  EXPECT_EQ(operation_of("lea", {.relative = true}), Operation::lea_relative);
  EXPECT_EQ(operation_of("lea", {.address_parts = 2, .scale = 0}), Operation::lea_constant);
  EXPECT_EQ(operation_of("lea", {.bits = 32, .address_parts = 2, .scale = 0}), Operation::lea);
  EXPECT_EQ(operation_of("lea", {.address_parts = 2, .scale = 4}), Operation::lea_scaled);
  EXPECT_EQ(operation_of("lea", {.address_parts = 3, .scale = 4}), Operation::lea_slow_scaled);
  EXPECT_EQ(operation_of("mov", {.bits = 32, .same_register = true}), Operation::move_self);
  EXPECT_EQ(operation_of("movzx", {.bits = 32, .low_byte = true}), Operation::extend_byte);
  EXPECT_EQ(operation_of("movzx", {.bits = 32, .same_register = true, .low_byte = true}), Operation::extend);
  EXPECT_EQ(operation_of("movzx", {.bits = 16, .low_byte = true}), Operation::extend);
  EXPECT_EQ(operation_of("bswap", {.bits = 32}), Operation::byte_swap);
  EXPECT_EQ(operation_of("bswap", {.bits = 64}), Operation::byte_swap_wide);
  EXPECT_EQ(operation_of("movzx", {.memory = true}), Operation::extend);
  EXPECT_EQ(operation_of("movsxd", {.memory = true}), Operation::extend_sign);
  EXPECT_EQ(operation_of("cmovz", {}), Operation::select);
  EXPECT_EQ(operation_of("cmovnbe", {}), Operation::select_unsigned);
  EXPECT_EQ(operation_of("cmovle", {}), Operation::select_signed);
  EXPECT_EQ(operation_of("xchg", {}), Operation::exchange);
  EXPECT_EQ(operation_of("xchg", {.memory = true}), Operation::locked);
  EXPECT_EQ(operation_of("add", {.memory = true, .locked = true}), Operation::locked);
  EXPECT_EQ(operation_of("vdivpd", {.bits = 256, .operands = 3}), Operation::fp_divide_double_wide);
  EXPECT_EQ(operation_of("vsqrtps", {.bits = 256}), Operation::fp_root_single_wide);
  EXPECT_EQ(operation_of("divsd", {.bits = 128}), Operation::fp_divide_double);
  EXPECT_EQ(operation_of("pslld", {.bits = 128, .immediate = true}), Operation::vector_shuffle);
  EXPECT_EQ(operation_of("pslld", {.bits = 128}), Operation::vector_shift_by_register);
  EXPECT_EQ(operation_of("movss", {.memory = true}), Operation::vector_move);
  EXPECT_EQ(operation_of("movss", {}), Operation::vector_shuffle);
  EXPECT_EQ(operation_of("movq", {.memory = true}), Operation::vector_move);
  EXPECT_EQ(operation_of("movq", {}), Operation::vector_to_integer);
  EXPECT_EQ(operation_of("bt", {.immediate = true, .memory = true}), Operation::bit_test);
  EXPECT_EQ(operation_of("bt", {.memory = true}), Operation::bit_test_memory);
  EXPECT_EQ(operation_of("bts", {}), Operation::bit_set);
  EXPECT_EQ(operation_of("bts", {.memory = true}), Operation::bit_test_memory);
  EXPECT_EQ(operation_of("cvtsi2sd", {.general = true}), Operation::fp_convert_general);
  EXPECT_EQ(operation_of("cvtsi2sd", {.memory = true}), Operation::fp_convert_width);
  EXPECT_EQ(operation_of("vbroadcastss", {.memory = true}), Operation::vector_move);
  EXPECT_EQ(operation_of("vpbroadcastb", {.memory = true}), Operation::vector_insert_lane);
}

TEST(Operation, RepeatedAndMaskForms) {
  EXPECT_EQ(operation_of("movsb", {.repeated = true}), Operation::string_move);
  EXPECT_EQ(operation_of("movsd", {.operands = 0, .repeated = true}), Operation::string_move);
  EXPECT_EQ(operation_of("movsb", {}), Operation::string_step);
  EXPECT_EQ(operation_of("stosq", {.repeated = true}), Operation::string_store);
  EXPECT_EQ(operation_of("stosq", {}), Operation::string_step);
  EXPECT_EQ(operation_of("scasb", {.repeated = true}), Operation::string_compare);
  EXPECT_EQ(operation_of("lodsb", {.repeated = true}), Operation::string_compare);
  EXPECT_EQ(operation_of("lodsb", {}), Operation::string_step);
  EXPECT_EQ(operation_of("kmovq", {}), Operation::mask_move);
  EXPECT_EQ(operation_of("kmovq", {.general = true}), Operation::mask_to_integer);
  EXPECT_EQ(operation_of("vpternlogd", {.bits = 512}), Operation::vector_ternary);
  EXPECT_EQ(operation_of("sub", {.immediate = true}), Operation::add_constant);
  EXPECT_EQ(operation_of("sub", {.bits = 32, .immediate = true}), Operation::alu);
  EXPECT_EQ(operation_of("add", {.immediate = true, .memory = true}), Operation::alu);
}

TEST(Operation, IdiomsThatClear) {
  EXPECT_EQ(operation_of("xor", {.same_register = true}), Operation::zeroing);
  EXPECT_EQ(operation_of("vpxor", {.same_register = true}), Operation::zeroing);
  EXPECT_EQ(operation_of("sub", {.same_register = true}), Operation::zeroing);
  EXPECT_EQ(operation_of("add", {.same_register = true}), Operation::alu);
  EXPECT_EQ(operation_of("xor", {}), Operation::alu);
  EXPECT_EQ(operation_of("vpcmpeqd", {.same_register = true}), Operation::vector_ones);
}

}  // namespace
}  // namespace tally::models
