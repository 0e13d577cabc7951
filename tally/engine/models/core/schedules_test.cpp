#include "tally/engine/models/core/schedules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "tally/engine/models/core/core_flow.hpp"
#include "tally/engine/models/core/core_model_testing.hpp"
#include "tally/engine/models/core/cores.hpp"

namespace tally::models {
namespace {

using namespace testing;

constexpr std::uint64_t program_at = 0x55d0'4321'0000, library_at = 0x7f30'8765'2000;

Register some_register(std::mt19937_64& random) { return static_cast<Register>(r11 + random() % 3); }

// Blocks of two files, with stores and loads by registers and of each file's own data.
struct Program {
  std::vector<Code> codes;
  std::vector<CoreBlock> blocks;
  std::vector<CoreEdge> edges;
  std::vector<CoreRestart> restarts;
};

CoreInstruction access(std::mt19937_64& random, std::uint64_t data) {
  CoreInstruction made;
  made.operation = Operation::move;
  made.memory = random() % 2 == 0 ? CoreInstruction::stores : CoreInstruction::loads;
  (made.memory == CoreInstruction::stores ? made.sources[0] : made.results[0]) = some_register(random);
  made.at = {.bytes = 8, .displacement = static_cast<std::uint32_t>(data + random() % 4 * 8)};
  if (random() % 2 == 0) {
    made.at = {.base = r13, .form = SymbolicAddress::has_base, .bytes = 8, .displacement = 8};
    made.address[0] = r13;
  }
  return made;
}

// The same program each time, with its files at these addresses.
Program made_program(std::uint64_t seed, std::uint64_t program, std::uint64_t library) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  const std::uint32_t count = 2 + below(12);
  Program made;
  made.codes.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t file = below(4) == 0 ? library : program;
    for (std::uint32_t length = 1 + below(9); length > 0; --length) {
      const Register to = some_register(random), from = some_register(random);
      const std::uint32_t kind = below(4);
      made.codes[i].push_back(kind == 0   ? multiply(to, from)
                              : kind == 1 ? access(random, file + 0x100000)
                              : kind == 2 ? add(to, from)
                                          : CoreInstruction{});
    }
    const std::uint64_t begin = file + i * 0x1000, end = begin + made.codes[i].size() * 4;
    made.blocks.push_back({made.codes[i], 1 + below(2000), begin, end, 1000 + i});
  }
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t from = 0; from < count; ++from)
      if (below(3) == 0) made.edges.push_back({from, i, 1 + below(made.blocks[from].executions / 3 + 1)});
  for (const CoreEdge& edge : made.edges)
    if (below(3) == 0) made.restarts.push_back({edge.from, edge.to, 1 + edge.count / 4});
  std::ranges::stable_sort(made.restarts, {}, &CoreRestart::from);
  constexpr Operation lasts[] = {Operation::call, Operation::ret, Operation::unknown};
  for (CoreBlock& block : made.blocks) block.last = lasts[below(3)];
  return made;
}

class Kept final : public ScheduleStore, public CoreSource {
 public:
  const Schedule* find(std::uint64_t key) override {
    const auto found = all.find(key);
    (found == all.end() ? missed : hits)++;
    return found == all.end() ? nullptr : &found->second;
  }
  void add(const Schedule& schedule) override { all[schedule.key] = schedule; }
  std::span<const CoreInstruction> read(std::uint32_t, bool&) override { return {}; }
  ScheduleStore* schedules() override { return this; }

  std::map<std::uint64_t, Schedule> all;
  unsigned hits = 0, missed = 0;
};

CoreTotal total_of(const Program& program, CoreSource* source) {
  std::vector<CoreState> ends(program.blocks.size());
  std::vector<CoreMark> marks(program.blocks.size());
  std::vector<CoreSpent> spent(program.blocks.size());
  std::vector<CoreRestart> restarts = program.restarts;
  return total(zen4_core, program.blocks, program.edges, {ends, marks, spent}, source, {restarts, 1000});
}

void each_program(const std::function<void(std::uint64_t seed)>& each) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    each(seed);
  }
}

TEST(Schedules, ChangeNoCycles) {
  each_program([](std::uint64_t seed) {
    const Program program = made_program(seed, program_at, library_at);
    Kept kept;
    const CoreTotal plain = total_of(program, nullptr);
    EXPECT_EQ(total_of(program, &kept), plain) << "while they are computed";
    kept.missed = 0;
    EXPECT_EQ(total_of(program, &kept), plain);
    EXPECT_EQ(kept.missed, 0U);
  });
}

// States before the missing ones are computed again, also those of loops.
TEST(Schedules, MayBeIncomplete) {
  each_program([](std::uint64_t seed) {
    const Program program = made_program(seed, program_at, library_at);
    Kept kept;
    const CoreTotal plain = total_of(program, &kept);
    std::mt19937_64 random(seed);
    std::erase_if(kept.all, [&](const auto&) { return random() % 3 == 0; });
    EXPECT_EQ(total_of(program, &kept), plain);
  });
}

// The kernel places programs and libraries at other addresses in each run.
TEST(Schedules, DoNotDependOnWhereFilesAre) {
  each_program([](std::uint64_t seed) {
    Kept kept;
    const CoreTotal before = total_of(made_program(seed, program_at, library_at), &kept);
    kept.missed = 0;
    const Program moved = made_program(seed, program_at + 0x1234'5000, library_at - 0x98'7000);
    EXPECT_EQ(total_of(moved, &kept), before);
    EXPECT_EQ(kept.missed, 0U);
    EXPECT_EQ(total_of(moved, nullptr), before);
  });
}

TEST(Schedules, NamesOfStatesDoNotDependOnWhereFilesAre) {
  const auto name = [](std::uint64_t file, std::uint64_t data) {
    CoreState state;
    state.stores[3].at = {.bytes = 8, .displacement = static_cast<std::uint32_t>(file + data)};
    return name_of(state, file + 0x40);
  };
  EXPECT_EQ(name(program_at, 0x100), name(library_at, 0x100));
  EXPECT_NE(name(program_at, 0x100), name(program_at, 0x108));
  EXPECT_NE(name(0x400000, 0x100), name(0x600000, 0x100)) << "absolute addresses reach it";
  EXPECT_EQ(name(program_at, 0x100) & 1, 1U);
  EXPECT_EQ(name_of({}, program_at) & 1, 0U);
}

TEST(Schedules, OfOtherCodeAreNotFound) {
  Program program = made_program(1, program_at, library_at);
  program.restarts.clear();  // they find what the same run has kept
  Kept kept;
  (void)total_of(program, &kept);
  for (CoreBlock& block : program.blocks) block.code += 100;
  kept.hits = 0;
  (void)total_of(program, &kept);
  EXPECT_EQ(kept.hits, 0U);
}

TEST(Schedules, OfUnreadableCodeAreNotKept) {
  Program program = made_program(1, program_at, library_at);
  for (CoreBlock& block : program.blocks) block.code = 0;
  Kept kept;
  (void)total_of(program, &kept);
  EXPECT_TRUE(kept.all.empty());
}

TEST(Schedules, AreFoundInATable) {
  for (const std::uint32_t n : {1U, 2U, 100U, 5000U}) {
    std::mt19937_64 random(n);
    std::vector<std::uint64_t> memory(ScheduleTable::bytes_for(n) / 8);
    std::vector<Schedule> all(n);
    for (Schedule& one : all) {
      one.key = random() | 1;
      one.end = random();
      ScheduleTable::add(memory.data(), n, one);
    }
    ScheduleTable table(memory.data(), memory.size() * 8);
    for (unsigned round = 0; round < 2; ++round) {  // in the order of the table, then in another
      for (const Schedule& one : all) {
        ASSERT_NE(table.find(one.key), nullptr);
        EXPECT_EQ(table.find(one.key)->end, one.end);
        EXPECT_EQ(table.find(one.key & ~std::uint64_t{1}), nullptr);
      }
      std::shuffle(all.begin(), all.end(), random);
    }
  }
}

TEST(Schedules, ATableMayContainAnything) {
  EXPECT_EQ(ScheduleTable().find(1), nullptr);
  std::vector<std::uint64_t> memory(ScheduleTable::bytes_for(10) / 8);
  const std::uint64_t bytes = memory.size() * 8;
  const auto find = [&](std::uint64_t key, std::uint64_t size) { return ScheduleTable(memory.data(), size).find(key); };
  ScheduleTable::add(memory.data(), 10, {.key = 7});
  EXPECT_NE(find(7, bytes), nullptr);
  EXPECT_EQ(find(7, bytes - 16), nullptr) << "truncated";
  EXPECT_EQ(find(7, 8), nullptr);
  for (std::uint64_t value : {std::uint64_t{9} << 32 | 9, ~std::uint64_t{0}, std::uint64_t{0}}) {
    std::fill(memory.begin(), memory.end(), value);  // no slot is free, or more schedules than there is room for
    EXPECT_EQ(find(7, bytes), nullptr);
  }
}

}  // namespace
}  // namespace tally::models
