#include "tally/engine/models/core/core_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tally/engine/models/core/core_model_testing.hpp"
#include "tally/engine/models/core/cores.hpp"
#include "tally/engine/models/core/restart_waits.hpp"

namespace tally::models {
namespace {

using namespace testing;

constexpr std::uint64_t n = 1'000'000;

CoreTotal total_of(const std::vector<CoreBlock>& blocks, const std::vector<CoreEdge>& edges,
                   const CoreTable& core = haswell_core, const CoreRestarts& restarts = {}) {
  std::vector<CoreState> ends(blocks.size());
  std::vector<CoreMark> marks(blocks.size());
  std::vector<CoreSpent> spent(blocks.size());
  return total(core, blocks, edges, {ends, marks, spent}, nullptr, restarts);
}

// Three loads decide the branch. In a running loop they take no time of their own, after a misprediction all of it.
TEST(CoreFlow, AfterAMispredictionNothingRunsAhead) {
  const Code loop{load(r12, r11), load(r12, r12), load(r12, r12), compare(r12), branch()};
  CoreRestart restarts[] = {{0, 0, n}};
  CoreState ready;
  const auto alone = static_cast<std::uint64_t>(run(zen5_core, loop, ready).ticks);
  const CoreTotal running = total_of({{loop, n}}, {{0, 0, n}}, zen5_core);
  const CoreTotal restarted = total_of({{loop, n}}, {{0, 0, n}}, zen5_core, {restarts});
  EXPECT_EQ(running.cycles.of(Cause::mispredicts), 0U);
  EXPECT_GT(alone, 12U * ticks_per_cycle);
  EXPECT_NEAR(static_cast<double>(restarted.cycles.of(Cause::mispredicts)),
              static_cast<double>(n * alone / ticks_per_cycle - running.cycles.sum() - n * 5), 10)
      << "a load and a comparison are part of the core's penalty";
  const CoreTotal waiting = total_of({{loop, n}}, {{0, 0, n}}, zen5_core, {restarts, 3 * n});
  EXPECT_NEAR(static_cast<double>(waiting.cycles.sum() - restarted.cycles.sum()), 3.0 * n, 1);
}

// A virtual call: its target is wrong, and the loads of the next one are after the return.
TEST(CoreFlow, AfterAWrongTargetNothingRunsAheadUntilTheNextCall) {
  const Code loop{load(r12, r11), load(r12, r12), load(r12, r12), compare(r12), branch()}, callee{jump()};
  const std::vector<CoreBlock> blocks{
      {.instructions = loop, .executions = n, .begin = 0x1000, .end = 0x1020},
      {.instructions = callee, .executions = n, .begin = 0x2000, .end = 0x2010, .last = Operation::ret}};
  const auto missed = [&](std::uint32_t to, std::uint64_t after_call) {
    CoreRestart restarts[] = {{CoreRestart::anywhere, to, n}};
    return total_of(blocks, {{0, 0, n}}, zen5_core, {restarts, 0, after_call}).cycles.of(Cause::mispredicts);
  };
  EXPECT_GT(missed(0, 0), 4 * n);
  EXPECT_EQ(missed(1, 0), 6 * n) << "where it returns is not known: only what a wrong target costs";
  EXPECT_GT(missed(1, 0x1000), 3 * n);
}

TEST(CoreFlow, BranchesWaitForHalfOfTheMissedLoadsNearThem) {
  const MissedLoads loads{.l2 = 1000, .memory = 100}, exposed{.l2 = 10, .llc = 40, .memory = 500};
  EXPECT_EQ(cycles_before_restarts(loads, exposed, 1000, 100'000, 448), (1000 * 10 + 100 * 500) / 2U);
  EXPECT_EQ(cycles_before_restarts(loads, exposed, 1000, 1'792'000, 448), (1000 * 10 + 100 * 500) / 8U)
      << "few are near";
  EXPECT_EQ(cycles_before_restarts(loads, exposed, 110, 10'000, 448), (1000 * 10 + 100 * 500) / 10U - 1)
      << "a branch waits for one of those before it";
  EXPECT_EQ(cycles_before_restarts(loads, exposed, 0, 10'000, 448), 0U);
}

TEST(CoreFlow, TheFirstLineFromL2AfterAMispredictionIsNotFetchedAhead) {
  const MissedLoads missed{.code = 1000}, exposed{.code = 8};
  EXPECT_EQ(cycles_before_restarts(missed, exposed, 100, 64'000, 448), 100U * 8) << "each finds a line";
  EXPECT_EQ(cycles_before_restarts(missed, exposed, 100, 256'000, 448), 100U * 8 / 4) << "every fourth one";
  EXPECT_EQ(cycles_before_restarts(missed, exposed, 0, 64'000, 448), 0U);
}

TEST(CoreFlow, OnlyLoadsThatDecideBranchesAreWaitedFor) {
  HierarchyCounts caches;
  caches.l1d.load_misses = caches.l2.loads = 100;
  caches.l2.load_misses = 30;
  caches.misses.deciding_l2 = 7;
  caches.misses.deciding_memory = 3;
  EXPECT_EQ(missed_loads(caches).l2, 7U);
  EXPECT_EQ(missed_loads(caches).memory, 3U);
}

TEST(CoreFlow, ALoopOfOneBlock) {
  const Code loop = factorial3();
  const CoreTotal result = total_of({{loop, n}}, {{0, 0, n - 1}});
  EXPECT_EQ(result.cycles.sum(), 3 * n);
  EXPECT_EQ(result.cycles.of(Cause::light), 3 * n / 4);
  EXPECT_EQ(result.cycles.of(Cause::core), 3 * n - 3 * n / 4) << "it waits for the multiplication";
  EXPECT_EQ(result.instructions, 3 * n);
  EXPECT_EQ(result.unknown, 0U);
}

// As the engine sees it: the block ends at the conditional branch, and the rest of the loop is another block. The chain
// passes through a block that does not use its register.
TEST(CoreFlow, ALoopOfTwoBlocks) {
  for (const int nops : {0, 1, 3}) {
    const Code code = factorial5(nops);
    const std::span<const CoreInstruction> all = code;
    const std::vector<CoreBlock> blocks{{all.first(2), n}, {all.subspan(2), n - 1}};
    const std::vector<CoreEdge> edges{{1, 0, n - 1}, {0, 1, n - 1}};
    const CoreTotal result = total_of(blocks, edges);
    EXPECT_NEAR(static_cast<double>(result.cycles.sum()), nops == 3 ? 3.5e6 : 3e6, 3) << nops;
    EXPECT_EQ(result.instructions, code.size() * (n - 1) + 2);
  }
}

// A taken branch ends a fetch, as does the end of a line, and a cycle fetches eight operations of one. Cycles of
// unrolled blocks on a Zen 4, 2026-11-29: 1.03, 1.35, 2.00 with 5, 7 and 8 operations before the jump.
TEST(CoreFlow, FetchingEndsAtTakenBranches) {
  const auto cycles = [](std::size_t operations, std::uint64_t end, std::size_t begins_line = 99) {
    Code code;
    for (std::size_t i = 0; i < operations; ++i) code.push_back(load(general(static_cast<unsigned>(i)), r13));
    for (std::size_t i = 0; i < operations; i += 2) code[i] = nop();
    code.push_back(jump());
    if (begins_line < code.size()) code[begins_line].begins_line = true;
    const CoreTotal result = total_of({{code, n, 0x1000, end}}, {{0, 0, n}}, zen4_core);
    return static_cast<double>(result.cycles.sum()) / n;
  };
  EXPECT_NEAR(cycles(2, 0x1020), 1, 0.001);
  EXPECT_NEAR(cycles(2, 0x1000), 0.5, 0.001) << "it continues at its end";
  EXPECT_NEAR(cycles(7, 0x1020), 8 / 6.0, 0.001);
  EXPECT_NEAR(cycles(8, 0x1020), 2, 0.001);
  EXPECT_NEAR(cycles(2, 0x1020, 2), 2, 0.001) << "the jump is in another line";
  Code code{nop(), jump()};
  const CoreTotal result = total_of({{code, n, 0x1000, 0x1010}}, {{0, 0, n}}, zen4_core);
  EXPECT_EQ(result.cycles.of(Cause::front_end), n - n / 3);
  code[1].is_indirect = true;  // so the engine has no edge
  EXPECT_EQ(total_of({{code, n, 0x1000, 0x1010}}, {}, zen4_core).cycles.sum(), 4 * n);
}

// Three taken branches: a call, its return and the end of the loop. 1.7 cycles on a Granite Rapids (2026-11-28).
TEST(CoreFlow, ShortLoopsAreNotFetchedAgain) {
  const auto cycles = [](std::size_t nops, std::uint64_t rounds) {
    const Code in{jump()}, body{nop(), jump()};
    Code back(nops, nop());
    back.push_back(jump());
    const std::vector<CoreBlock> blocks{{in, n, 0x1000, 0x1010}, {body, n, 0x1040, 0x1050}, {back, n, 0x1080, 0x1090}};
    const std::uint64_t repeated = n - n / rounds;
    const std::vector<CoreEdge> edges{{2, 0, repeated}, {0, 1, n}, {1, 2, n}};
    return static_cast<double>(total_of(blocks, edges, sapphire_rapids_core).cycles.sum()) / n;
  };
  EXPECT_LT(cycles(3, 100), 2);
  EXPECT_NEAR(cycles(3, 10), 3, 0.01) << "the queue is filled again too often";
}

// The blocks' order in memory differs from their order of execution.
TEST(CoreFlow, ALoopOfFiveBlocksInAnyOrder) {
  const Code links[] = {{multiply(r12, r11)}, {decrement(r11)}, {nop()}, {compare(r11)}, {branch()}};
  const std::vector<CoreBlock> blocks{{links[3], n}, {links[0], n}, {links[4], n}, {links[2], n}, {links[1], n}};
  const std::vector<CoreEdge> edges{{3, 0, n}, {2, 1, n}, {0, 2, n}, {4, 3, n}, {1, 4, n}};
  EXPECT_EQ(total_of(blocks, edges).cycles.sum(), 3 * n);
}

// Half of the iterations take a long path: each path costs what it does from its entry state.
TEST(CoreFlow, EdgesAreWeighed) {
  const Code head{nop(), nop(), nop(), nop()}, way(8, nop()), longer(24, nop());
  const std::vector<CoreBlock> blocks{{head, n}, {way, n / 4}, {longer, n - n / 4}};
  const std::vector<CoreEdge> edges{{1, 0, n / 4}, {2, 0, n - n / 4}, {0, 1, n / 4}, {0, 2, n - n / 4}};
  EXPECT_EQ(total_of(blocks, edges).cycles.sum(), n + 2 * (n / 4) + 6 * (n - n / 4));
}

TEST(CoreFlow, ARareEdgeHasItsOwnCost) {
  // The block waits for a division when it is entered after one, and for nothing when it follows itself. Of
  // the division itself, the schedulers hide 15 cycles.
  const Code divide{{.operation = Operation::divide_wide, .sources = {r11}, .results = {r12}}};
  const Code use{add(r13, r12), nop(), nop(), nop()};
  const std::vector<CoreBlock> blocks{{divide, 10}, {use, 1000}};
  EXPECT_EQ(total_of(blocks, {{0, 1, 10}, {1, 1, 990}}).cycles.sum(), 10U * (64U - 15U) + 990 + 10U * 7U / 4);
}

// A block that is entered after a long time finds all its sources ready.
TEST(CoreFlow, TheStateOfARareEdgeIsThatOfItsBlock) {
  const Code idle(400, nop());
  const Code use{add(r13, r12), nop()};
  const std::vector<CoreBlock> blocks{{idle, 10}, {use, 1000}};
  EXPECT_EQ(total_of(blocks, {{0, 1, 10}, {1, 1, 990}}).cycles.sum(), 10U * 100 + 990 + 10 / 2);
}

// The end state of a block depends on its most frequent entry edge, whichever edge is listed first.
TEST(CoreFlow, TheUsualEdgeIsTheMostFrequentOne) {
  const Code idle(400, nop());
  const Code chain{multiply(r12, r12)};
  const std::vector<CoreBlock> blocks{{idle, 10}, {chain, n}, {idle, 10}};
  const std::uint64_t cycles = total_of(blocks, {{0, 1, 10}, {1, 1, n - 20}, {2, 1, 10}}).cycles.sum();
  EXPECT_EQ(cycles, 2000U + (n - 20) * 3 + 5);
}

TEST(CoreFlow, ExecutionsWithoutAnEdgeCostTheSameAsTheUsualOnes) {
  const Code loop = factorial3();
  EXPECT_EQ(total_of({{loop, n}}, {{0, 0, n / 2}}).cycles.sum(), 3 * n);
}

// Whatever leads to a block without an edge keeps the pipeline busy: the block's chain of 9 cycles overlaps it.
TEST(CoreFlow, CodeWithoutAnEdgeDoesNotWaitForAnEmptyPipeline) {
  const Code chain{multiply(r12, r12), multiply(r12, r12), multiply(r12, r12), nop()};
  EXPECT_EQ(total_of({{chain, n}}, {}).cycles.sum(), n) << "four instructions";
}

// Runs every block in every round, in any order: the same states result after many rounds.
std::uint64_t cycles_after_many_rounds(const std::vector<CoreBlock>& blocks, const std::vector<CoreEdge>& edges) {
  std::vector<CoreState> ends(blocks.size());
  CoreState running;
  std::fill(std::begin(running.ready), std::end(running.ready), -haswell_core.lead() * ticks_per_cycle);
  std::fill(std::begin(running.free), std::end(running.free), -haswell_core.lead() * ticks_per_cycle);
  std::uint64_t ticks = 0;
  constexpr int rounds = 200, rounds_that_count = 60;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      const CoreEdge* usual = nullptr;
      for (const CoreEdge& edge : edges)
        if (edge.to == i && (usual == nullptr || edge.count > usual->count)) usual = &edge;
      CoreState end = usual != nullptr ? ends[usual->from] : running;
      const std::int64_t cost = run(haswell_core, blocks[i].instructions, end).ticks;
      std::uint64_t left = blocks[i].executions;
      std::uint64_t taken = 0;
      for (const CoreEdge& edge : edges) {
        if (edge.to != i || &edge == usual) continue;
        CoreState state = ends[edge.from];
        const std::uint64_t times = std::min(edge.count, left);
        taken += static_cast<std::uint64_t>(run(haswell_core, blocks[i].instructions, state).ticks) * times;
        left -= times;
      }
      ends[i] = end;
      if (round >= rounds - rounds_that_count) ticks += taken + static_cast<std::uint64_t>(cost) * left;
    }
  }
  return ticks / rounds_that_count / ticks_per_cycle;
}

struct RandomProgram {
  std::vector<Code> codes;
  std::vector<CoreBlock> blocks;
  std::vector<CoreEdge> edges;
};

// Blocks of up to nine instructions.
RandomProgram random_program(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  const std::uint32_t count = 1 + below(12);
  RandomProgram program;
  program.codes.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t length = 1 + below(9); length > 0; --length) {
      const auto to = static_cast<Register>(r11 + below(3)), from = static_cast<Register>(r11 + below(3));
      program.codes[i].push_back(below(3) == 0 ? multiply(to, from) : below(2) == 0 ? add(to, from) : nop());
    }
    program.blocks.push_back({program.codes[i], 1 + below(2000)});
  }
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t from = 0; from < count; ++from)
      if (below(3) == 0) program.edges.push_back({from, i, 1 + below(program.blocks[from].executions / 3 + 1)});
  return program;
}

TEST(CoreFlow, CyclesAreThoseOfSettledStates) {
  std::mt19937_64 random(7);
  int different = 0;
  for (int i = 0; i < 200; ++i) {
    const RandomProgram program = random_program(random);
    different +=
        total_of(program.blocks, program.edges).cycles.sum() != cycles_after_many_rounds(program.blocks, program.edges);
  }
  EXPECT_LE(different, 8) << "loops with chains that use up the lead of the front slowly";
}

TEST(CoreFlow, UnknownInstructionsAreWeighedToo) {
  const Code code{nop(), {}, nop(), nop()};
  CoreTotal expected{.instructions = 20, .unknown = 5};
  expected.cycles.of(Cause::light) = 5;
  EXPECT_EQ(total_of({{code, 5}, {code, 0}}, {}), expected);
}

TEST(CoreFlow, DividesCyclesAmongTheInstructionsThatSpendThem) {
  const Code chain{load(r12, r12), multiply(r11, r11), nop(), nop()};
  std::vector<CoreState> ends(1);
  std::vector<CoreMark> marks(1);
  std::vector<CoreSpent> spent(1);
  const std::vector<CoreBlock> blocks{{chain, n}};
  const std::vector<CoreEdge> edges{{0, 0, n - 1}};
  const CoreTotal result = total(haswell_core, blocks, edges, {ends, marks, spent});
  struct Parts final : CoreParts {
    std::span<CoreTimes> memory(std::uint32_t) override { return each; }
    void take(std::uint32_t) override { ++taken; }
    std::vector<CoreTimes> each;
    int taken = 0;
  } parts;
  std::vector<CoreTimes>& each = parts.each;
  each.resize(chain.size());
  divide(haswell_core, blocks, edges, {ends, marks, spent}, nullptr, parts);
  EXPECT_EQ(parts.taken, 1);
  CoreTimes sum;
  for (const CoreTimes& one : each) sum.add(one);
  EXPECT_EQ(sum, result.cycles);
  EXPECT_EQ(each[0].of(Cause::l1), 4 * n) << "of the 5 of a load, the slots take 1";
  EXPECT_EQ(result.cycles.of(Cause::core), 0U);
  for (const CoreTimes& one : each) EXPECT_EQ(one.of(Cause::light), n / 4);
}

}  // namespace
}  // namespace tally::models
