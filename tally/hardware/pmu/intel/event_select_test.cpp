#include "tally/hardware/pmu/intel/event_select.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tally::pmu::intel {
namespace {

TEST(EventSelect, retired_branches_in_user_mode) {
  EventSelect expected;
  expected.event = 0xC4;
  expected.usr = true;
  expected.enable = true;
  EXPECT_EQ(decode_event_select(0x4100C4), expected);
  EXPECT_EQ(encode(expected), 0x4100C4U);
}

TEST(EventSelect, kernel_instead_of_user) {
  const EventSelect select = decode_event_select(0x4200C4);
  EXPECT_FALSE(select.usr);
  EXPECT_TRUE(select.os);
}

TEST(EventSelect, both_modes_and_an_interrupt) {
  // The value of the first experiment in the Intel perfmon notes.
  const EventSelect select = decode_event_select(0x5300C0);
  EXPECT_EQ(select.event, 0xC0);
  EXPECT_EQ(select.umask, 0);
  EXPECT_TRUE(select.usr && select.os && select.interrupt && select.enable);
  EXPECT_FALSE(select.edge || select.pin_control || select.any_thread || select.invert);
}

TEST(EventSelect, last_level_cache) {
  EXPECT_EQ(decode_event_select(0x414F2E).umask, 0x4F);
  EXPECT_EQ(decode_event_select(0x41412E).umask, 0x41);
  EXPECT_EQ(decode_event_select(0x41412E).event, 0x2E);
}

TEST(EventSelect, each_bit_is_one_member) {
  EXPECT_TRUE(decode_event_select(1ULL << 18).edge);
  EXPECT_TRUE(decode_event_select(1ULL << 19).pin_control);
  EXPECT_TRUE(decode_event_select(1ULL << 20).interrupt);
  EXPECT_TRUE(decode_event_select(1ULL << 21).any_thread);
  EXPECT_TRUE(decode_event_select(1ULL << 22).enable);
  EXPECT_TRUE(decode_event_select(1ULL << 23).invert);
  EXPECT_EQ(decode_event_select(0x0500'0000).cmask, 5);
  EXPECT_TRUE(decode_event_select(1ULL << 32).in_tx);
  EXPECT_TRUE(decode_event_select(1ULL << 33).in_tx_checkpointed);
  EXPECT_TRUE(decode_event_select(1ULL << 34).adaptive);
  EXPECT_TRUE(decode_event_select(1ULL << 35).branch_counter);
  EXPECT_TRUE(decode_event_select(1ULL << 36).equal);
  EXPECT_TRUE(decode_event_select(1ULL << 37).rdpmc_user_disable);
  EXPECT_EQ(decode_event_select(0x12ULL << 40).umask2, 0x12);
  EXPECT_EQ(decode_event_select(1ULL << 63).reserved, 1ULL << 63);
}

TEST(EventSelect, decoded_values_encode_to_themselves) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random();
    ASSERT_EQ(encode(decode_event_select(value)), value);
  }
}

}  // namespace
}  // namespace tally::pmu::intel
