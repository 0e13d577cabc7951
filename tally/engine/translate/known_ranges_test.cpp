// Ranges of executable memory: joined, cut, and forgotten.
#include "tally/engine/translate/known_ranges.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace tally::engine {

// The table is all that this part reserves.
u64 reserve(u64 bytes, int protection) {
  return reinterpret_cast<u64>(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

namespace translate {
namespace {

class KnownRanges : public testing::Test {
 protected:
  void SetUp() override {
    static const bool once = (ranges_init(), true);
    ASSERT_TRUE(once);
    forget_all_ranges();
  }

  static void expect(u64 pc, u64 start, u64 end, bool writable) {
    const Range* const found = find_range(pc);
    ASSERT_NE(found, nullptr) << std::hex << pc;
    EXPECT_EQ(found->start, start) << std::hex << pc;
    EXPECT_EQ(found->end, end) << std::hex << pc;
    EXPECT_EQ(found->writable, writable) << std::hex << pc;
  }
  static void expect_none(u64 pc) { EXPECT_EQ(find_range(pc), nullptr) << std::hex << pc; }
};

TEST_F(KnownRanges, contain_their_start_and_not_their_end) {
  add_range(0x1000, 0x3000, false);
  expect_none(0xfff);
  expect(0x1000, 0x1000, 0x3000, false);
  expect(0x2fff, 0x1000, 0x3000, false);
  expect_none(0x3000);
}

TEST_F(KnownRanges, are_joined_with_neighbours_that_are_as_writable) {
  add_range(0x3000, 0x4000, false);
  add_range(0x2000, 0x3000, false);
  add_range(0x4000, 0x5000, false);
  expect(0x3000, 0x2000, 0x5000, false);
  add_range(0x5000, 0x6000, true);
  expect(0x4fff, 0x2000, 0x5000, false);
  expect(0x5000, 0x5000, 0x6000, true);
}

TEST_F(KnownRanges, replace_what_they_overlap) {
  add_range(0x1000, 0x5000, false);
  add_range(0x2000, 0x3000, true);
  expect(0x1fff, 0x1000, 0x2000, false);
  expect(0x2000, 0x2000, 0x3000, true);
  expect(0x3000, 0x3000, 0x5000, false);
}

TEST_F(KnownRanges, are_cut_at_both_ends_in_the_middle_and_dropped) {
  add_range(0x1000, 0x9000, true);
  forget(0x0, 0x2000);
  expect_none(0x1fff);
  expect(0x2000, 0x2000, 0x9000, true);
  forget(0x8000, 0xa000);
  expect(0x7fff, 0x2000, 0x8000, true);
  expect_none(0x8000);
  forget(0x4000, 0x5000);
  expect(0x3fff, 0x2000, 0x4000, true);
  expect_none(0x4000);
  expect(0x5000, 0x5000, 0x8000, true);
  forget(0x2000, 0x8000);
  expect_none(0x2000);
  expect_none(0x7fff);
}

TEST_F(KnownRanges, forget_every_range_inside) {
  for (u64 start = 0x1000; start < 0x9000; start += 0x2000) add_range(start, start + 0x1000, false);
  forget(0x1000, 0x8000);
  for (u64 pc = 0x1000; pc < 0x9000; pc += 0x1000) expect_none(pc);
}

TEST_F(KnownRanges, overlap_a_range_by_one_byte) {
  add_range(0x2000, 0x3000, false);
  EXPECT_FALSE(any_range(0x1000, 0x1000));
  EXPECT_TRUE(any_range(0x1000, 0x1001));
  EXPECT_TRUE(any_range(0x2fff, 1));
  EXPECT_FALSE(any_range(0x3000, 0x1000));
  EXPECT_FALSE(any_range(0x2800, 0) && any_range(0x3000, 0));
}

// 4,096 ranges have room. One more drops half of the table; a cut that would need one more drops the rest of the range.
TEST_F(KnownRanges, do_not_overflow_the_table) {
  constexpr u64 limit = 4096;
  for (u64 i = 0; i < limit; i++) add_range(0x10000 + i * 0x4000, 0x10000 + i * 0x4000 + 0x3000, false);
  for (u64 i = 0; i < limit; i++) expect(0x10000 + i * 0x4000, 0x10000 + i * 0x4000, 0x13000 + i * 0x4000, false);
  forget(0x11000, 0x12000);
  expect(0x10000, 0x10000, 0x11000, false);
  expect_none(0x12000);
  add_range(0x10000000, 0x10001000, true);
  expect(0x10000000, 0x10000000, 0x10001000, true);
  u64 known = 0;
  for (u64 i = 0; i < limit; i++) known += find_range(0x10000 + i * 0x4000) != nullptr;
  EXPECT_EQ(known, limit / 2);
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
