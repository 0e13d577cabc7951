// Compares play() on paths and records written by hand with direct calls of the models.
#include "tally/engine/models/access_log.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tally/engine/models/table_memory.hpp"

namespace tally::models {
namespace {

HierarchyShape small() {
  HierarchyShape shape;
  shape.l1i = shape.l1d = {.sets = 4, .ways = 2};
  return shape;
}

class TestMachine {
 public:
  TestMachine() : caches(small(), tables_in(small(), words_.data(), nullptr)) {}
  Models models() { return {&caches, nullptr, &branches, true, true}; }

 private:
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(private_words(small()));

 public:
  Hierarchy caches;
  Branches branches;
};

TEST(AccessLog, a_record_follows_its_path) {
  const Op ops[] = {
      {.at = 0x1000, .target = 0, .word = 0, .bytes = 1, .what = Step::fetch},
      {.at = 0, .target = 0, .word = 1, .bytes = 8, .what = Step::load},
      {.at = 0x1004, .target = 0x1100, .word = 0, .bytes = 2, .what = Step::conditional},
      {.at = 0, .target = 0, .word = 2, .bytes = 4, .what = Step::store},
      {.at = 0x1008, .target = 0x1100, .word = 0, .bytes = 2, .what = Step::conditional},
      {.at = 0x1010, .target = 0x2000, .word = 0, .bytes = 5, .what = Step::call},
      {.at = 0x2000, .target = 0, .word = 0, .bytes = 1, .what = Step::ret},
  };
  // The whole path, and the one that exits at the first branch.
  const LogPath ways[] = {{.first = 0, .count = 7, .words = 4, .outcomes = 0b01, .branches = 2},
                          {.first = 0, .count = 3, .words = 2, .outcomes = 0b1, .branches = 1}};
  const std::uint64_t access_log[] = {0, 0x7000, 0x7ffe, 0x1015, 1, 0x7010, 0, 0x7000, 0x7ffe, 0x1015};
  TestMachine played, replayed;
  play(played.models(), ways, ops, access_log, access_log + 10);
  for (const bool leaves : {false, true, false}) {
    replayed.caches.access(0x1000, 1, Access::fetch);
    replayed.caches.access(leaves ? 0x7010 : 0x7000, 8, Access::load);
    replayed.branches.conditional(0x1004, leaves);
    if (leaves) continue;
    replayed.caches.access(0x7ffe, 4, Access::store);
    replayed.branches.conditional(0x1008, true);
    replayed.branches.call(0x1015);
    replayed.branches.ret(0x1015);
  }
  EXPECT_EQ(played.caches.counts(), replayed.caches.counts());
  EXPECT_EQ(played.branches.counts(), replayed.branches.counts());
  EXPECT_EQ(played.branches.counts().conditional, 5U);
  EXPECT_EQ(played.branches.counts().return_misses, 0U);
  EXPECT_EQ(played.caches.counts().l1d_across.stores, 2U);
}

TEST(AccessLog, indirect_targets_are_the_last_word_unless_the_path_has_them) {
  const Op ops[] = {{.at = 0x1000, .target = 0x3000, .word = 0, .bytes = 2, .what = Step::indirect_jump},
                    {.at = 0x1000, .target = 0, .word = 0, .bytes = 2, .what = Step::indirect_call}};
  const LogPath ways[] = {{.first = 0, .count = 2, .words = 2, .outcomes = 0, .branches = 0}};
  const std::uint64_t access_log[] = {0, 0x3000, 0, 0x4000};
  TestMachine machine;
  play(machine.models(), ways, ops, access_log, access_log + 4);
  // Wrong at first, then the same target twice, then another one.
  EXPECT_EQ(machine.branches.counts().indirect, 4U);
  EXPECT_EQ(machine.branches.counts().indirect_misses, 2U);
}

TEST(AccessLog, the_record_has_the_number_of_element_accesses) {
  const Op ops[] = {{.at = 0, .target = 0, .word = 1, .bytes = 0, .what = Step::element_accesses}};
  const LogPath ways[] = {{.first = 0, .count = 1, .words = 8, .outcomes = 0, .branches = 0}};
  const ElementAccess load{0x7000, 4, Access::load}, store{0x703e, 8, Access::store};
  const std::uint64_t access_log[] = {0, 2, load.address, load.word(), store.address, store.word(), 1, 2};
  TestMachine played, replayed;
  play(played.models(), ways, ops, access_log, access_log + 8);
  replayed.caches.access(0x7000, 4, Access::load);
  replayed.caches.access(0x703e, 8, Access::store);
  EXPECT_EQ(played.caches.counts(), replayed.caches.counts());
  EXPECT_EQ(played.caches.counts().l1d.stores, 2U);
}

// rep movsb of 100 bytes downwards, interrupted with 40 left, and rep stosd with the low halves of the registers.
TEST(AccessLog, string_instructions_are_their_elements) {
  const Repeat bytes{.bytes = 1, .from = true, .to = true, .to_stores = true, .low = false};
  const Repeat words{.bytes = 4, .from = false, .to = true, .to_stores = true, .low = true};
  const Op ops[] = {{.at = bytes.bits(), .target = 0, .word = 1, .bytes = 0, .what = Step::repeat},
                    {.at = words.bits(), .target = 0, .word = 7, .bytes = 0, .what = Step::repeat}};
  const LogPath ways[] = {{.first = 0, .count = 2, .words = 13, .outcomes = 0, .branches = 0}};
  constexpr std::uint64_t junk = 0xabcd00000000;
  const std::uint64_t access_log[] = {
      0, 100, 0x5100, 0x6100, 60, 0x5100 - 40, 0x6100 - 40, junk + 3, 0, junk + 0x10000ff8, junk, 0, 0x10001004};
  TestMachine played, replayed;
  play(played.models(), ways, ops, access_log, access_log + 13);
  for (std::uint64_t i = 0; i < 40; ++i) {
    replayed.caches.access(0x5100 - i, 1, Access::load);
    replayed.caches.access(0x6100 - i, 1, Access::store);
  }
  for (const std::uint64_t at : {0x10000ff8ull, 0x10000ffcull, 0x10001000ull})
    replayed.caches.access(at, 4, Access::store);
  EXPECT_EQ(played.caches.counts().l1d, replayed.caches.counts().l1d);
  EXPECT_EQ(played.caches.counts().l1d.loads, 40U);
  EXPECT_EQ(played.caches.counts().l1d.stores, 43U);
  EXPECT_EQ(played.caches.counts().string_steps, 2U + 1) << "of 32 bytes";
  constexpr Repeat scan{.bytes = 4, .from = false, .to = true, .to_stores = false, .low = false};
  EXPECT_EQ(scan.steps(10), 20U);
}

}  // namespace
}  // namespace tally::models
