#include "tally/engine/models/core/core_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tally/engine/models/core/core_model_testing.hpp"
#include "tally/engine/models/core/cores.hpp"

namespace tally::models {
namespace {

using namespace testing;

// The article's measurements on its Xeon: 3.02 to 3.06, and 3.54 with nine nops.
TEST(Core, FactorialLoopsTakeTheLatencyOfTheMultiplication) {
  EXPECT_EQ(per_iteration(factorial5()), 3.0);
  EXPECT_EQ(per_iteration(factorial4()), 3.0);
  EXPECT_EQ(per_iteration(factorial3()), 3.0);
  EXPECT_EQ(per_iteration(factorial5(1)), 3.0) << "3 nops";
}

TEST(Core, NineNopsFillTheWidth) { EXPECT_EQ(per_iteration(factorial5(3)), 3.5); }

TEST(Core, AdditionsInPlaceOfTheMultiplication) {
  EXPECT_EQ(per_iteration({add(r12, r11), decrement(r11), branch()}), 1.0);
  EXPECT_EQ(per_iteration({add(r12, r11), add(r12, r11), decrement(r11), branch()}), 2.0) << "dependent";
  EXPECT_EQ(per_iteration({add(r12, r11), add(r13, r11), decrement(r11), branch()}), 1.0) << "independent";
}

TEST(Core, IndependentMultiplicationsAreLimitedByTheirUnit) {
  EXPECT_EQ(per_iteration({multiply(r12, r11), multiply(r13, r11), decrement(r11), branch()}), 3.0);
  EXPECT_EQ(per_iteration({multiply(r12, r11), multiply(r13, r11), multiply(general(14), r11),
                           multiply(general(15), r11), decrement(r11), branch()}),
            4.0);
}

TEST(Core, APointerChaseTakesTheLatencyOfTheLoad) { EXPECT_EQ(per_iteration({load(r12, r12)}), 5.0); }

TEST(Core, TwoLoadsAndOneStoreACycle) {
  EXPECT_EQ(per_iteration({load(r12, r11), load(r13, r11), load(r12, r11), load(r13, r11)}), 2.0);
  EXPECT_EQ(per_iteration({store(r11, r12), store(r11, r12)}), 2.0);
  EXPECT_EQ(per_iteration({store(r11, r12), nop(), nop(), nop()}), 1.0) << "one slot";
}

TEST(Core, AStoreOfAnArithmeticInstructionIsOneMoreOperation) {
  CoreInstruction in_memory = add(no_register, r12);
  in_memory.memory = CoreInstruction::loads | CoreInstruction::stores;
  in_memory.results[0] = no_register;
  EXPECT_EQ(per_iteration({in_memory, nop(), nop(), nop(), nop(), nop(), nop()}), 2.0);
}

TEST(Core, AZeroedRegisterWaitsForNothing) {
  const CoreInstruction zero{.operation = Operation::zeroing, .results = {r12, flags_register}};
  EXPECT_EQ(per_iteration({zero, multiply(r12, r11), multiply(r12, r11), nop()}), 2.0);
}

TEST(Core, DivisionsWaitForTheirUnit) {
  const auto divide = [](Register to) {
    return CoreInstruction{.operation = Operation::fp_divide_single, .sources = {to}, .results = {to}};
  };
  EXPECT_EQ(per_iteration({divide(vector_register(0))}), 13.0);
  EXPECT_EQ(per_iteration({divide(vector_register(0)), divide(vector_register(1))}), 14.0);
}

// A load from a fixed address into a division of 64 cycles: it has no sources to wait for, so it is done as early as
// the schedulers permit, 15 cycles ahead.
TEST(Core, TheSchedulersLimitWorkInAdvance) {
  constexpr int lead = 60 / 4;
  ASSERT_EQ(haswell_core.lead(), lead);
  CoreState state;
  CoreInstruction divide{.operation = Operation::divide_wide, .results = {r12}};
  EXPECT_EQ(run(haswell_core, Code{divide}, state).ticks, (64 - lead) * ticks_per_cycle) << "its unit";
  state = {};
  divide.operation = Operation::locked;
  EXPECT_EQ(run(haswell_core, Code{divide}, state).ticks, 76 / 4 * ticks_per_cycle) << "its slots";
  state = {};
  divide = {.operation = Operation::aes_key, .sources = {r11}, .results = {r12}};
  EXPECT_EQ(run(haswell_core, Code{divide}, state).ticks, 29 * ticks_per_cycle) << "its latency";
}

TEST(Core, AnIdleUnitCatchesUpOnTheLeadOnly) {
  constexpr int lead = 60 / 4;
  CoreState state;
  run(haswell_core, Code(4000, nop()), state);
  EXPECT_EQ(state.ready[r12], -48 * ticks_per_cycle) << "vectors may run ahead further";
  const CoreInstruction independent{.operation = Operation::multiply, .sources = {r11}, .results = {r12}};
  // 200 multiplications with 50 cycles' worth of slots: their unit began 15 cycles before the first.
  EXPECT_EQ(run(haswell_core, Code(200, independent), state).ticks, (200 - lead) * ticks_per_cycle);
  Code in_one(4000, nop());
  in_one.insert(in_one.end(), 200, independent);
  state = {};
  EXPECT_EQ(run(haswell_core, in_one, state).ticks, (1000 + 200 - lead) * ticks_per_cycle);
}

CoreTimes times_of(Cause cause, std::uint64_t ticks) {
  CoreTimes times;
  times.of(cause) = ticks;
  return times;
}

TEST(Core, UnknownInstructionsAreCountedAndTakeASlot) {
  CoreState state;
  const CoreInstruction unknown{};
  EXPECT_EQ(run(haswell_core, Code{unknown, nop(), unknown, nop()}, state),
            (CoreCost{.ticks = ticks_per_cycle, .causes = times_of(Cause::light, ticks_per_cycle), .unknown = 2}));
}

TEST(CoreInOrder, StartsTwoACycle) {
  EXPECT_EQ(per_iteration({nop(), nop(), nop(), nop()}, bonnell_core), 2.0);
  EXPECT_EQ(per_iteration({add(r12, r11), add(r13, r11)}, bonnell_core), 1.0) << "two chains";
  EXPECT_EQ(per_iteration({add(r12, r11), add(r12, r11)}, bonnell_core), 2.0) << "one";
}

TEST(CoreInOrder, AUseOfALoadWaitsAndDelaysAllLaterInstructions) {
  EXPECT_EQ(per_iteration({load(r12, r12)}, bonnell_core), 3.0) << "a chase";
  EXPECT_EQ(per_iteration({load(r12, r11), nop(), nop(), nop()}, bonnell_core), 2.0) << "no instruction reads it";
  // The addition starts 3 cycles after the load, and the following instructions start with it. An out-of-order core has
  // executed those meanwhile.
  const Code loop{load(r12, r11), add(r13, r12), add(general(14), r11), add(general(15), r11)};
  EXPECT_EQ(per_iteration(loop, bonnell_core), 4.5);
  EXPECT_EQ(per_iteration(loop), 1.0);
}

TEST(CoreInOrder, AResultInFlightIsWaitedForInTheNextRun) {
  CoreState state;
  const CoreInstruction divide{.operation = Operation::x87_root, .results = {r12}};
  EXPECT_EQ(run(bonnell_core, Code{divide}, state).ticks, 71 * ticks_per_cycle) << "it occupies both ports";
  state = {};
  EXPECT_EQ(run(bonnell_core, Code{load(r12, r11)}, state).ticks, ticks_per_cycle / 2);
  EXPECT_EQ(run(bonnell_core, Code{add(r13, r12)}, state).ticks, 3 * ticks_per_cycle) << "2.5 of them are the load's";
}

TEST(CoreInOrder, TakesLongerForTheFactorial) {
  EXPECT_EQ(per_iteration(factorial5(), bonnell_core), 8.0) << "only the time of the multiplication";
}

TEST(BonnellCore, NamesTheSourceOfEachRow) {
  for (unsigned i = 1; i < operations; ++i) {
    const Timing* row = bonnell_core.timing(static_cast<Operation>(i));
    if (row == nullptr) continue;
    EXPECT_NE(*row->source, 0) << i;
    for (const PortUse& use : row->uses) EXPECT_EQ(use.any == 0, use.cycles == 0) << i;
  }
  EXPECT_EQ(bonnell_core.timing(Operation::fp_fma), nullptr) << "it has none";
  EXPECT_EQ(ticks_per_cycle % bonnell_core.width, 0);
}

class OutOfOrder : public ::testing::TestWithParam<const CoreTable*> {};

TEST_P(OutOfOrder, HasARowForEveryKindAndASource) {
  const CoreTable& core = *GetParam();
  for (unsigned i = 1; i < operations; ++i) {
    const auto kind = static_cast<Operation>(i);
    const Timing* row = core.timing(kind);
    if (kind == Operation::scatter && row == nullptr) continue;  // of AVX-512
    ASSERT_NE(row, nullptr) << i;
    EXPECT_NE(*row->source, 0) << i;
    EXPECT_GT(row->slots, 0) << i;
    for (const PortUse& use : row->uses) EXPECT_EQ(use.any == 0, use.cycles == 0) << i;
  }
  EXPECT_EQ(core.timing(Operation::unknown), nullptr);
  EXPECT_EQ(ticks_per_cycle % core.width, 0);
}

INSTANTIATE_TEST_SUITE_P(Cores, OutOfOrder,
                         ::testing::Values(&haswell_core, &skylake_core, &icelake_server_core, &sapphire_rapids_core,
                                           &zen2_core, &zen3_core, &zen4_core, &zen5_core));

TEST(Core, OperationsTakeTheFirstFreePort) {
  const Code four{add(r12, r11), add(r13, r11), add(general(14), r11), add(general(15), r11)};
  Code eight = four;
  for (const CoreInstruction& one : four) eight.push_back(one);
  for (CoreInstruction& one : eight) one.sources[0] = no_register;
  EXPECT_EQ(per_iteration(eight, zen4_core), 2.0) << "four units of six slots";
  EXPECT_EQ(per_iteration(eight, sapphire_rapids_core), 8.0 / 5);
  EXPECT_EQ(per_iteration(Code(6, nop()), zen4_core), 1.0);
}

// Cycles on a Granite Rapids (2026-11-28), and on Golden Cove by uops.info: a scaled index.
TEST(CoreSapphireRapids, MovesAndAddsConstantsAtRenaming) {
  const auto chain = [](Operation operation) {
    const CoreInstruction code{.operation = operation, .sources = {r12}, .results = {r12}};
    return per_iteration({code}, sapphire_rapids_core);
  };
  for (const Operation operation : {Operation::add_constant, Operation::lea_constant, Operation::extend_byte})
    EXPECT_NEAR(chain(operation), 1.0 / 6, 0.001);
  for (const Operation operation : {Operation::move_self, Operation::extend, Operation::lea, Operation::lea_slow})
    EXPECT_EQ(chain(operation), 1.0);
  for (const Operation operation : {Operation::lea_scaled, Operation::lea_slow_scaled})
    EXPECT_EQ(chain(operation), 2.0);
  EXPECT_EQ(per_iteration(Code(6, {.operation = Operation::set}), sapphire_rapids_core), 3.0);
  EXPECT_EQ(per_iteration({{.operation = Operation::lea_scaled, .sources = {r12}, .results = {r12}}}, zen5_core), 1.0);
}

// A chain through memory: store, load, add. Measured on Zen 4: 1, and 20 where the store has only a part of the load.
TEST(Core, ALoadOfAStoredValueWaitsForIt) {
  const auto chain = [](std::uint8_t stored_bytes, std::uint32_t loaded_at = 0, std::uint32_t by = 0) {
    CoreInstruction in = store(r11, r12), out = load(r12, r11), advance = decrement(r11);
    in.at = {.base = r11, .bytes = stored_bytes};
    out.at = {.base = r11, .bytes = 8, .displacement = loaded_at};
    advance.moved = r11;
    advance.by = by;
    return Code{in, advance, out, add(r12, r13)};
  };
  EXPECT_EQ(per_iteration(chain(8), zen4_core), 1.0) << "renamed";
  EXPECT_EQ(per_iteration(chain(8), haswell_core), 6.0);
  CoreInstruction in = store(r11, r12), sum = load(r12, r11);
  in.at = sum.at = {.base = r11, .bytes = 8};
  sum.operation = Operation::alu;
  EXPECT_EQ(per_iteration({in, sum}, zen4_core), 8.0) << "an addition of a stored value";
  EXPECT_NEAR(per_iteration(chain(1), zen4_core), 20.0, 0.25);
  EXPECT_LE(per_iteration(chain(8, 64), haswell_core), 1.5) << "another at";
  EXPECT_LE(per_iteration(chain(8, 0, 8), haswell_core), 1.5) << "the register was changed";
  EXPECT_EQ(per_iteration(chain(8, 0u - 8, 8), haswell_core), 6.0) << "by a constant";
}

// The cause of most ticks of a loop.
Cause main_cause(const Code& loop, const CoreTable& core) {
  CoreState state;
  CoreTimes times;
  for (int i = 0; i < 100; ++i) {
    const CoreCost cost = run(core, loop, state);
    EXPECT_EQ(cost.causes.sum(), static_cast<std::uint64_t>(cost.ticks));
    times.add(cost.causes);
  }
  return static_cast<Cause>(std::max_element(times.by.begin(), times.by.end()) - times.by.begin());
}

TEST(Core, EachTickHasACause) {
  CoreInstruction in = store(r11, r12), out = load(r12, r11);
  in.at = {.base = r11, .bytes = 1};
  out.at = {.base = r11, .bytes = 8};
  for (const CoreTable* core : {&haswell_core, &zen4_core, &bonnell_core}) {
    EXPECT_EQ(main_cause({nop(), nop(), nop(), nop()}, *core), Cause::light);
    EXPECT_EQ(main_cause({load(r12, r12)}, *core), Cause::l1) << core->name;
    EXPECT_EQ(main_cause({multiply(r12, r12)}, *core), Cause::core) << core->name;
    EXPECT_EQ(main_cause({arithmetic(Operation::locked, r12, r11)}, *core), Cause::locks) << core->name;
    if (!core->in_order()) EXPECT_EQ(main_cause({in, out}, *core), Cause::forwarding) << core->name;
  }
}

// The store ends after the loads before it, so loads that wait for stores do not overlap, even if nothing needs them.
TEST(Core, LoadsOfWhichAStoreHasOnlyAPartWaitForEachOther) {
  CoreInstruction in = store(r11, r12), out = load(r13, r11);
  in.at = {.base = r11, .bytes = 1};
  out.at = {.base = r11, .bytes = 8};
  for (const CoreTable* core : {&haswell_core, &zen4_core}) {
    EXPECT_GE(per_iteration({in, out, nop()}, *core), core->forward_blocked) << core->name;
    in.at.bytes = 8;
    EXPECT_LE(per_iteration({in, out, nop()}, *core), 1.0) << core->name;
    in.at.bytes = 1;
  }
}

TEST(Core, AComparisonAndItsBranchAreOneOperation) {
  const Code loop{compare(r11), branch(), compare(r12), branch(), nop(), nop(), nop(), nop()};
  EXPECT_EQ(per_iteration(loop, zen4_core), 1.0);
  const Code pairs{compare(r11), branch(), compare(r12), branch(), compare(r13), branch(), compare(r11), branch()};
  EXPECT_EQ(per_iteration(pairs, zen4_core), 2.0) << "two ports execute conditional branches";
}

// Cycles of unrolled stores and loads on a Zen 4, 2026-11-29.
TEST(Core, LinesAreWrittenOneAfterTheOther) {
  const auto cycles = [](const Code& code) {
    CoreState state;
    std::int64_t ticks = 0;
    for (int i = 0; i < 1000; ++i) ticks += run(zen4_core, code, state).ticks;
    return static_cast<double>(ticks) / 1000 / ticks_per_cycle;
  };
  const auto access = [](CoreInstruction instruction, std::uint8_t bytes, std::uint32_t displacement) {
    instruction.at = {.base = r13, .form = SymbolicAddress::has_base, .bytes = bytes, .displacement = displacement};
    return instruction;
  };
  const CoreInstruction scalar = store(r13, r11);
  EXPECT_NEAR(cycles({access(scalar, 8, 0), access(scalar, 8, 8)}), 1, 0.01);
  EXPECT_NEAR(cycles({access(scalar, 8, 0), access(scalar, 8, 64)}), 2, 0.01);
  EXPECT_NEAR(cycles({scalar, scalar}), 2, 0.01) << "at unknown places";
  CoreInstruction vector = store(r13, vector_register(1));
  EXPECT_NEAR(cycles({access(vector, 32, 0), access(vector, 32, 32)}), 2, 0.01);
  EXPECT_NEAR(cycles({access(vector, 64, 0)}), 2, 0.01);
  const CoreInstruction two_loads[] = {load(vector_register(1), r13), load(vector_register(2), r13)};
  EXPECT_NEAR(cycles({access(two_loads[0], 64, 0), access(two_loads[1], 64, 64)}), 2, 0.01);
  EXPECT_NEAR(cycles({access(two_loads[0], 32, 0), access(two_loads[1], 32, 64)}), 1, 0.01);
}

TEST(Core, AfterAFenceNothingRunsAhead) {
  const auto cycles = [](Operation first) {
    Code code{{.operation = first}};
    code.resize(1 + 60, compare(r11));
    CoreState state;
    std::vector<CoreTimes> each(code.size());
    run(zen5_core, code, state, each);
    std::uint64_t ticks = 0;
    for (std::size_t i = 1; i < each.size(); ++i) ticks += each[i].sum();
    return static_cast<double>(ticks) / ticks_per_cycle;
  };
  EXPECT_NEAR(cycles(Operation::pause), 60 / 8.0, 0.1) << "limited by the width";
  EXPECT_NEAR(cycles(Operation::fence), 60 / 6.0, 1.1) << "by the ports";
}

TEST(Core, LoadsOfWhatLooksStoredAreNamed) {
  const auto aliases = [](std::uint32_t displacement) {
    CoreInstruction in = store(r11, r12), out = load(r12, r11);
    in.at = {.base = r11, .bytes = 8};
    out.at = {.base = r11, .bytes = 8, .displacement = displacement};
    CoreState state;
    return run(zen4_core, Code{in, out}, state).aliases;
  };
  EXPECT_EQ(aliases(4096), 1U);
  EXPECT_EQ(aliases(0u - 8192 + 7), 1U);
  EXPECT_EQ(aliases(4096 + 8), 0U);
  EXPECT_EQ(aliases(0), 0U) << "it is what was stored";
}

TEST(Core, AStoreDelaysLoads4KiBAwayOnlyWhileItIsPending) {
  const auto aliases = [](std::uint32_t step) {
    CoreInstruction in = load(r12, r11), out = store(r11, r12), advance = decrement(r11);
    in.at = out.at = {.base = r11, .bytes = 8};
    advance.moved = r11;
    advance.by = step;
    CoreState state;
    std::uint32_t sum = 0;
    for (int i = 0; i < 100; ++i) sum += run(zen4_core, {{in, add(r12, r13), out, advance, branch()}}, state).aliases;
    return sum;
  };
  EXPECT_GT(aliases(4096), 95U) << "the store of the previous iteration";
  EXPECT_GT(aliases(512), 85U) << "eight iterations ago";
  EXPECT_EQ(aliases(256), 0U) << "sixteen";
  EXPECT_EQ(aliases(768), 0U) << "16 times 768 is 12 KiB";
}

}  // namespace
}  // namespace tally::models
