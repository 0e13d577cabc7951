// What is particular to Zen 5, against other cores.
#include "tally/engine/models/core/core_model.hpp"

#include <gtest/gtest.h>

#include "tally/engine/models/core/core_model_testing.hpp"
#include "tally/engine/models/core/cores.hpp"

namespace tally::models {
namespace {

using namespace testing;

// Cycles of unrolled copies on a Zen 5, 2026-11-29.
TEST(CoreZen5, MovesJoinWhatChangesTheirResults) {
  const auto move = [](Register to, Register from) {
    return CoreInstruction{.operation = Operation::move, .sources = {from}, .results = {to}};
  };
  EXPECT_EQ(per_iteration({move(r12, r11), add(r12, r13), nop(), nop(), nop(), nop(), nop(), nop(), nop()}, zen5_core),
            1)
      << "eight slots";
  EXPECT_GT(per_iteration({move(r12, r11), add(r13, r12), nop(), nop(), nop(), nop(), nop(), nop(), nop()}, zen5_core),
            1)
      << "of another register";
  Code constants;
  for (unsigned i = 0; i < 6; ++i) constants.push_back({.operation = Operation::move, .results = {general(i)}});
  EXPECT_EQ(per_iteration(constants, zen5_core), 1.0) << "six units";
  EXPECT_EQ(per_iteration(constants, zen4_core), 1.5) << "four units of six slots";
}

TEST(CoreZen5, OthersWaitForWhatTheFrontEndKnowsOfTheStackPointer) {
  constexpr Register stack = general(4);
  const CoreInstruction push{.operation = Operation::push, .memory = CoreInstruction::stores, .sources = {r11}};
  const CoreInstruction add_to_stack = arithmetic(Operation::add_constant, stack, no_register);
  EXPECT_EQ(per_iteration({add_to_stack, add_to_stack}, zen5_core), 2.0);
  EXPECT_EQ(per_iteration({add_to_stack, add_to_stack, push}, zen5_core), 3.0);
  EXPECT_EQ(per_iteration({add_to_stack, add_to_stack, push}, zen4_core), 2.0) << "not measured";
}

TEST(CoreZen5, LoadsAndStores) {
  CoreInstruction chase = load(r12, r12);
  EXPECT_EQ(per_iteration({chase}, zen5_core), 4.0);
  chase.at = {.base = r12, .index = r13, .bytes = 8};
  EXPECT_EQ(per_iteration({chase}, zen5_core), 5.0) << "with an index";
  chase.operation = Operation::extend;
  EXPECT_EQ(per_iteration({chase}, zen5_core), 5.0) << "extended";
  const auto access = [](CoreInstruction instruction, std::uint8_t bytes) {
    instruction.at = {.base = r13, .form = SymbolicAddress::has_base, .bytes = bytes};
    return instruction;
  };
  EXPECT_EQ(per_iteration({access(store(r13, vector_register(1)), 64)}, zen5_core), 1.0);
  EXPECT_EQ(
      per_iteration({access(load(vector_register(1), r13), 64), access(load(vector_register(2), r13), 64)}, zen5_core),
      1.0);
  CoreInstruction change = access(store(r13, no_register), 1);
  change.operation = Operation::alu;
  change.memory = CoreInstruction::loads | CoreInstruction::stores;
  EXPECT_EQ(per_iteration({change}, zen5_core), 1.0) << "a byte, renamed";
  Code slots(6, nop());
  slots.push_back(change);
  change.at.displacement = 64;
  slots.push_back(change);
  EXPECT_EQ(per_iteration(slots, zen5_core), 1.0) << "one slot each";
}

TEST(CoreZen5, TwoBranchesAreTakenInACycleAndAReturnInFour) {
  const auto cycles = [](const CoreInstruction& branch) {
    CoreState state;
    std::int64_t ticks = 0;
    for (int i = 0; i < 1000; ++i) {
      ticks += run(zen5_core, Code{branch}, state).ticks;
      state.fetched = 0;
    }
    return static_cast<double>(ticks) / 1000 / ticks_per_cycle;
  };
  EXPECT_NEAR(cycles({.operation = Operation::jump_always}), 0.5, 0.05);
  EXPECT_NEAR(cycles({.operation = Operation::ret}), 4.0, 0.05);
}

TEST(CoreZen5, TwoPartsOfALineAreFetchedInACycle) {
  // Loops at different offsets to a line, 2026-11-30.
  const auto cycles = [](std::size_t operations, std::size_t begins_line) {
    Code code(operations, nop());
    code.push_back(jump());
    if (begins_line < code.size()) code[begins_line].begins_line = true;
    CoreState state;
    std::int64_t ticks = 0;
    for (int i = 0; i < 1000; ++i) {
      ticks += run(zen5_core, code, state).ticks;
      state.fetched = 0;
    }
    return static_cast<double>(ticks) / 1000 / ticks_per_cycle;
  };
  EXPECT_NEAR(cycles(5, 99), 0.75, 0.01) << "six of eight slots";
  EXPECT_NEAR(cycles(6, 99), 1.0, 0.01) << "seven are two parts";
  EXPECT_NEAR(cycles(4, 2), 1.0, 0.01) << "the second line is fetched with the loop's begin";
  EXPECT_NEAR(cycles(7, 7), 2.0, 0.01) << "two parts of a line, and the jump in the next one";
}

TEST(CoreZen5, TheSecondOfAChainTakesItsPortTwice) {
  const CoreInstruction begin{.operation = Operation::lea, .sources = {r13}, .results = {r11}};
  const CoreInstruction end{.operation = Operation::alu, .sources = {r11, r13}, .results = {flags_register}};
  const auto chain = [&](std::size_t additions) {
    Code code(1 + additions, add(r11, r13));
    code[0] = begin;
    return per_iteration(code, zen5_core);
  };
  EXPECT_NEAR(per_iteration({begin, begin, begin}, zen5_core), 0.5, 0.01);
  EXPECT_NEAR(chain(1), 0.5, 0.01);
  EXPECT_NEAR(chain(2), 0.67, 0.01);
  EXPECT_NEAR(chain(3), 0.83, 0.01);
  EXPECT_NEAR(per_iteration({begin, end}, zen5_core), 0.5, 0.01);
  EXPECT_NEAR(per_iteration({begin, end, branch()}, zen5_core), 0.34, 0.02) << "a comparison with its jump does not";
  EXPECT_NEAR(per_iteration({load(r11, r12), load(r13, r11)}, zen5_core), 0.6, 0.01);
  EXPECT_NEAR(per_iteration({load(r11, r12), load(r13, r12)}, zen5_core), 0.5, 0.01);
}

TEST(CoreZen5, AnIndexOfThreeAddressPartsIsAddedLast) {
  const auto sum = [](Register base, Register index) {
    return CoreInstruction{.operation = Operation::lea_slow, .sources = {base, index}, .results = {r12}};
  };
  EXPECT_EQ(per_iteration({sum(r12, r13)}, zen5_core), 2.0);
  EXPECT_EQ(per_iteration({sum(r13, r12)}, zen5_core), 1.0);
  EXPECT_EQ(per_iteration({sum(r13, r12)}, zen4_core), 2.0);
}

TEST(CoreZen5, AnAdditionGetsTheResultOfAnotherEarlier) {
  const Register to = vector_register(0), from = vector_register(1);
  const CoreInstruction add{.operation = Operation::fp_add, .sources = {to, from}, .results = {to}};
  const CoreInstruction multiply{.operation = Operation::fp_multiply, .sources = {to, from}, .results = {to}};
  EXPECT_EQ(per_iteration({add}, zen5_core), 2.0);
  EXPECT_EQ(per_iteration({add, multiply}, zen5_core), 6.0);
  EXPECT_EQ(per_iteration({add, multiply, multiply}, zen5_core), 9.0);
  EXPECT_EQ(per_iteration({add, add, multiply}, zen5_core), 8.0);
}

TEST(CoreZen5, ASelectionByTwoFlagsMergesThem) {
  const auto select = [](Operation operation, Register flag) {
    return CoreInstruction{.operation = operation, .sources = {r12, r13, flag}, .results = {r12}};
  };
  const CoreInstruction by_two = select(Operation::select_signed, flags_register);
  EXPECT_EQ(per_iteration({compare(r12), by_two}, zen5_core), 3.0);
  EXPECT_EQ(per_iteration({compare(r12), select(Operation::select, flags_register)}, zen5_core), 2.0);
  EXPECT_EQ(per_iteration({by_two}, zen5_core), 1.0) << "of the register";
  EXPECT_EQ(per_iteration({compare(r12), by_two}, zen4_core), 2.0);
}

TEST(CoreZen5, LoadsOfTheFirstHalfOfWhatWasStoredTakeNoTime) {
  const auto cycles = [](std::uint8_t bytes, std::uint32_t displacement, const CoreTable& core) {
    CoreInstruction out = store(r13, r12), in = load(r12, r13);
    out.at = {.base = r13, .bytes = 8};
    in.at = {.base = r13, .bytes = bytes, .displacement = displacement};
    return per_iteration({out, in, add(r12, r11)}, core);
  };
  EXPECT_EQ(cycles(4, 0, zen5_core), 1.0);
  EXPECT_EQ(cycles(4, 4, zen5_core), 8.0);
  EXPECT_EQ(cycles(2, 0, zen5_core), 8.0);
  EXPECT_EQ(cycles(4, 0, zen4_core), 8.0);
}

TEST(CoreZen5, LoadsExtendByZerosInNoTime) {
  CoreInstruction extend = load(r12, r12);
  extend.operation = Operation::extend;
  EXPECT_EQ(per_iteration({extend}, zen5_core), 4.0);
  EXPECT_EQ(per_iteration({extend}, haswell_core), 5.0);
  extend.operation = Operation::extend_sign;
  EXPECT_EQ(per_iteration({extend}, zen5_core), 5.0);
  EXPECT_EQ(per_iteration({extend}, haswell_core), 5.0);
}

TEST(CoreZen5, ShiftsByARegisterDoNotWaitForFlags) {
  const CoreInstruction shift{.operation = Operation::shift_by_register,
                              .sources = {r11, r13, flags_register, carry_register},
                              .results = {r12, flags_register, carry_register}};
  EXPECT_LT(per_iteration({shift}, zen5_core), 0.5);
  EXPECT_LT(per_iteration({shift}, zen4_core), 1.0);
  EXPECT_EQ(per_iteration({shift}, zen2_core), 1.0);
}

}  // namespace
}  // namespace tally::models
