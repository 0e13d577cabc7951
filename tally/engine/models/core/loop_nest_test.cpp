#include "tally/engine/models/core/loop_nest.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tally/engine/models/core/core_flow.hpp"
#include "tally/engine/models/core/core_model_testing.hpp"
#include "tally/engine/models/core/cores.hpp"
#include "tally/engine/models/core/repeated_loop.hpp"

namespace tally::models {
namespace {

using namespace testing;

constexpr std::uint64_t rounds = 10'000;

// A product of all values in memory: a chain of 3 cycles for each.
Code product() { return {load(r13, r11), multiply(r12, r13), decrement(r11), branch()}; }
// The end of one product, and the start of the next one from a constant or from the last product.
Code next_product(bool is_chained) {
  const CoreInstruction first{.operation = Operation::move, .results = {r12}};
  return {store(general(1), r12), is_chained ? nop() : first, decrement(general(1)), branch()};
}

NestTimes times(std::uint32_t trips, bool is_chained, const CoreTable& core = zen5_core) {
  const Code loop = product(), outside = next_product(is_chained);
  const NestBlock inner{loop, true}, outer{outside, false};
  return times_of(core, {{&inner, 1}, {&outer, 1}, trips, 1});
}

double cycles(std::int64_t ticks) { return static_cast<double>(ticks) / ticks_per_cycle; }

TEST(LoopNest, ChainsOfSuccessiveLoopsOverlapUntilTheSchedulersAreFull) {
  EXPECT_NEAR(cycles(times(100, false).endless), 300, 1);
  EXPECT_NEAR(cycles(times(100, false).predicted), 300 - 3 * zen5_core.waiting, 20) << "40 products wait";
  EXPECT_NEAR(cycles(times(300, false).predicted), 900 - 3 * zen5_core.waiting, 20);
  EXPECT_NEAR(cycles(times(100, false, zen4_core).predicted), 300 - 3 * 28, 20);
  EXPECT_LT(cycles(times(8, false).predicted), 12) << "several chains at a time";
}

TEST(LoopNest, AChainThroughAllLoopsDoesNotOverlap) { EXPECT_NEAR(cycles(times(100, true).predicted), 300, 1); }

TEST(LoopNest, TheRestartAfterALoopOverlapsWithItsChain) {
  const NestTimes nest = times(100, false);
  EXPECT_GT(nest.mispredicted, nest.predicted);
  EXPECT_LT(cycles(nest.mispredicted - nest.predicted), zen5_core.mispredict);
  EXPECT_GT(cycles(times(4, false).mispredicted), zen5_core.mispredict - zen5_core.load_latency - 1)
      << "a short chain does not hide it";
}

struct Flow {
  Code loop = product(), before = {nop()}, outside;
  std::vector<CoreBlock> blocks;
  std::vector<CoreEdge> edges;

  Flow(std::uint64_t trips, bool is_chained) : outside(next_product(is_chained)) {
    blocks = {{before, 1, 0, 8}, {loop, trips * rounds, 8, 16}, {outside, rounds, 16, 24}};
    edges = {{0, 1, 1}, {1, 1, (trips - 1) * rounds}, {2, 1, rounds - 1}, {1, 2, rounds}};
  }

  double cycles_of_round(std::uint64_t mispredicted = 0) {
    CoreRestart restarts[] = {{1, 2, mispredicted}};
    std::vector<CoreState> ends(blocks.size());
    std::vector<CoreMark> marks(blocks.size());
    std::vector<CoreSpent> spent(blocks.size());
    const CoreTotal all =
        total(zen5_core, blocks, edges, {ends, marks, spent}, nullptr, {{restarts, mispredicted != 0 ? 1U : 0U}});
    return static_cast<double>(all.cycles.sum()) / static_cast<double>(rounds);
  }
};

TEST(LoopNest, TheOverlapIsTakenFromTheWaitsOfTheLoop) {
  EXPECT_NEAR(Flow(100, false).cycles_of_round(), cycles(times(100, false).predicted), 3);
  EXPECT_NEAR(Flow(8, false).cycles_of_round(), cycles(times(8, false).predicted), 6);
  EXPECT_NEAR(Flow(10'000, false).cycles_of_round(), 30'000 - 3 * zen5_core.waiting, 30);
  EXPECT_NEAR(Flow(100, true).cycles_of_round(), 300, 3);
}

TEST(LoopNest, MispredictedEndsOverlapToo) {
  const double predicted = Flow(100, false).cycles_of_round();
  EXPECT_NEAR(Flow(100, false).cycles_of_round(rounds) + zen5_core.mispredict, cycles(times(100, false).mispredicted),
              3)
      << "the core's penalty is added elsewhere";
  EXPECT_LT(Flow(100, false).cycles_of_round(rounds), predicted) << "and hidden here";
}

TEST(LoopNest, FindsALoopThatItsFirstBlockLeaves) {
  const std::vector<CoreBlock> blocks(4, CoreBlock{.executions = 100});
  std::vector<CoreBlock> counted = blocks;
  counted[1].executions = 1100;
  counted[2].executions = 1000;
  const std::vector<CoreEdge> edges{{0, 1, 1}, {2, 1, 1000}, {3, 1, 99}, {1, 2, 1000}, {1, 3, 100}};
  std::vector<CoreMark> marks(4);
  marks[1] = {.usual = 3, .follower = 4, .is_in_loop = true};
  marks[2] = {.usual = 2, .follower = 2, .is_in_loop = true};
  marks[3] = {.usual = 2, .follower = 3};
  RepeatedLoop found;
  ASSERT_TRUE(find_repeated(counted, edges, marks, 1, found));
  EXPECT_EQ(found.trips, 11U);
  EXPECT_EQ(found.entries, 100U);
  EXPECT_EQ(found.loop_size, 2U);
  EXPECT_EQ(found.last, 1U) << "the last trip ends after the first block";
  EXPECT_EQ(found.outside_size, 1U);
  EXPECT_EQ(found.outside[0], 3U);
  RepeatedLoop other;
  EXPECT_FALSE(find_repeated(counted, edges, marks, 2, other)) << "not its first block";
  marks[3].follower = 0;
  EXPECT_FALSE(find_repeated(counted, edges, marks, 1, other)) << "nothing leads back";
}

// A search in a tree: each round runs one of two blocks.
TEST(LoopNest, FindsALoopOfTwoArms) {
  std::vector<CoreBlock> blocks(5, CoreBlock{.executions = 100});
  blocks[1].executions = 1100;
  blocks[2].executions = 550;
  blocks[4].executions = 450;
  const std::vector<CoreEdge> edges{{0, 1, 1},   {2, 1, 550}, {3, 1, 99}, {4, 1, 450},
                                    {1, 2, 550}, {1, 3, 100}, {1, 4, 450}};
  std::vector<CoreMark> marks(5);
  marks[1] = {.usual = 3, .follower = 5, .is_in_loop = true};
  marks[2] = {.usual = 2, .follower = 2, .is_in_loop = true};
  marks[3] = {.usual = 2, .follower = 3};
  marks[4] = {.usual = 2, .follower = 4};
  RepeatedLoop repeated;
  ASSERT_TRUE(find_repeated(blocks, edges, marks, 1, repeated));
  EXPECT_EQ(repeated.entries, 100U);
  EXPECT_EQ(repeated.trips, 11U);
  ASSERT_EQ(repeated.arm_count, 1U);
  EXPECT_EQ(repeated.arms[0], 4U);
  EXPECT_EQ(repeated.outside[0], 3U);
}

}  // namespace
}  // namespace tally::models
