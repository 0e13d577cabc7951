// Tests reads of counters in user mode, with pages that no kernel wrote.
#include "tally/linux/perf/user_counter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace tally::linux {
namespace {

std::uint64_t raw_value;
int raw_reads;
CounterPage* moved;  // moves to another register during a read

// In the kernel's layout.
constexpr std::uint64_t place(std::uint64_t index, std::uint64_t lock) { return index << 32 | lock; }

// Readers have an argument on some architectures.
constexpr auto fake_word = [](auto...) -> std::int64_t {
  ++raw_reads;
  return static_cast<std::int64_t>(raw_value);
};

// The thread loses the CPU between the read of the page and that of the register, and comes back.
constexpr auto moving_word = [](auto...) -> std::int64_t {
  if (moved == nullptr) return static_cast<std::int64_t>(raw_value);
  moved->sequence = place(3, 4);
  moved->offset = 5000;
  moved = nullptr;
  return 77;  // the value of another counter
};

struct Fake {
  CounterPage page{};
  UserCounter counter;

  explicit Fake(std::uint16_t width = 48) {
    raw_reads = 0;
    page.sequence = place(1, 2);
    page.width = width;
    page.capabilities = 1u << 1 | 1u << 2;
    counter.page = &page;
    counter.reader_of = [](std::uint32_t, std::uint32_t) -> ReadWord { return fake_word; };
  }
};

TEST(UserCounter, a_counter_that_was_armed_below_zero_is_read_with_its_sign) {
  for (const std::uint32_t width : {1u, 32u, 40u, 47u, 48u, 63u, 64u}) {
    const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    EXPECT_EQ(signed_word(all, width), -1) << width;
    if (width == 1) continue;
    const std::int64_t period = std::int64_t{1} << (width - 2);
    EXPECT_EQ(signed_word(static_cast<std::uint64_t>(-period + 5) & all, width), -period + 5) << width;
    EXPECT_EQ(signed_word(7, width), 7) << "it went through zero; " << width;
  }
}

TEST(UserCounter, its_value_is_the_kernels_offset_plus_the_register) {
  Fake fake;
  fake.page.offset = 1 << 20;  // count 0 = offset + (−period)
  std::int64_t value = 0;
  raw_value = static_cast<std::uint64_t>(-(1 << 20) + 5);
  ASSERT_TRUE(fake.counter.read(value));
  EXPECT_EQ(value, 5);
}

TEST(UserCounter, a_thread_that_moves_while_it_is_read_is_read_again) {
  Fake fake;
  fake.counter.reader_of = [](std::uint32_t, std::uint32_t) -> ReadWord { return moving_word; };
  raw_value = 10;
  std::int64_t value = 0;
  ASSERT_TRUE(fake.counter.read(value));
  EXPECT_EQ(value, 10);
  moved = &fake.page;
  ASSERT_TRUE(fake.counter.read(value));
  EXPECT_EQ(value, 5010);
}

TEST(UserCounter, a_counter_without_a_register_is_not_read) {
  Fake fake;
  std::int64_t value = 0;
  ASSERT_TRUE(fake.counter.read(value));
  fake.page.sequence = place(0, 4);
  raw_reads = 0;
  EXPECT_FALSE(fake.counter.read(value));
  EXPECT_EQ(raw_reads, 0);
}

TEST(UserCounter, a_page_that_allows_no_reads_is_not_read) {
  for (const std::uint64_t capabilities : {0u, 1u, 1u << 1, 1u << 2}) {
    Fake fake;
    fake.page.capabilities = capabilities;
    std::int64_t value = 0;
    EXPECT_FALSE(fake.counter.read(value)) << capabilities;
  }
}

TEST(UserCounter, multiplexing_is_noticed_and_a_thread_switch_is_not_multiplexing) {
  Fake fake;
  std::uint64_t turns = 0;
  fake.counter.turns = &turns;
  fake.page.time_enabled = 100;
  fake.page.time_running = 80;
  std::int64_t value = 0;
  ASSERT_TRUE(fake.counter.read(value));
  EXPECT_EQ(turns, 0u) << "counts before the first read belong to no one";
  fake.page.time_enabled += 50;
  fake.page.time_running += 50;
  ++fake.page.sequence;
  ASSERT_TRUE(fake.counter.read(value));
  EXPECT_EQ(turns, 0u);
  fake.page.time_enabled += 50;
  fake.page.time_running += 20;
  ++fake.page.sequence;
  ASSERT_TRUE(fake.counter.read(value));
  EXPECT_EQ(turns, 1u);
}

TEST(UserCounter, gives_up_on_a_page_that_always_changes) {
  Fake fake;
  static CounterPage* page;
  page = &fake.page;
  fake.counter.reader_of = [](std::uint32_t, std::uint32_t) -> ReadWord {
    return [](auto...) -> std::int64_t {
      ++page->sequence;
      return 1;
    };
  };
  std::int64_t value = 0;
  EXPECT_FALSE(fake.counter.read(value));
  page = nullptr;
}

TEST(UserCounter, has_a_reader_for_each_number_but_0_and_each_width_that_kernels_report) {
  EXPECT_EQ(word_reader(0, 64), nullptr);
  std::set<ReadWord> all;
#if defined(__aarch64__)
  for (const std::uint32_t width : {32u, 64u}) {
    for (std::uint32_t index = 1; index <= 32; ++index) all.insert(word_reader(index, width));
    EXPECT_EQ(word_reader(33, width), nullptr);
  }
  EXPECT_EQ(word_reader(1, 48), nullptr);
  EXPECT_EQ(all.size(), 64u);
#elif defined(__x86_64__)
  for (std::uint32_t width = 1; width <= 64; ++width) all.insert(word_reader(1, width));
  EXPECT_EQ(all.size(), 64u);
  EXPECT_EQ(word_reader(1, 0), nullptr);
  EXPECT_EQ(word_reader(1, 65), nullptr);
  EXPECT_NE(word_reader(0x40000001, 48), nullptr) << "fixed counters: bit 30 is the selector's";
#endif
  EXPECT_FALSE(all.contains(nullptr));
}

}  // namespace
}  // namespace tally::linux
