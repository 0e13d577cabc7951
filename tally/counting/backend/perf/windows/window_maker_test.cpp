#include "tally/counting/backend/perf/windows/window_maker.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>

namespace tally::backend::perf {
namespace {

using What = linux::SampleRecord::What;

// Two processors, groups of the trigger, the trigger again, and one event more. Numbers: 10 · (1 + root) + 3 ·
// processor
// + place.
struct Maker {
  std::vector<result::Window> rows;
  std::vector<std::vector<std::int64_t>> counts;
  std::deque<std::vector<std::int64_t>> held;
  WindowMaker maker;

  explicit Maker(std::uint64_t every = 100, bool clock = false)
      : maker({every, clock, 3, 2}, 1000, [this](const result::Window& row) {
          rows.push_back(row);
          counts.emplace_back(row.counts.begin(), row.counts.end());
        }) {
    add_root(7, 7);
  }
  void add_root(std::int32_t process, std::int32_t thread, std::size_t root = 0) {
    maker.add_root(process, thread);
    for (std::size_t processor = 0; processor < 2; ++processor)
      for (std::size_t place = 0; place < 3; ++place)
        maker.add_counter(10 * (1 + root) + 3 * processor + place, root, processor, place);
  }
  void sample(std::int32_t process, std::int32_t thread, int processor, std::int64_t time,
              std::vector<std::int64_t> values, std::uint64_t first_id = 10) {
    held.push_back(std::move(values));
    linux::SampleRecord record;
    record.what = What::sample;
    record.process = process;
    record.thread = thread;
    record.processor = processor;
    record.time_ns = time;
    record.id = first_id + 3 * static_cast<std::uint64_t>(processor);
    record.raw = std::as_bytes(std::span(held.back()));
    maker.see(record);
  }
  void tell(What what, std::int32_t process, std::int32_t thread, std::int32_t parent = 0, std::int64_t time = 0,
            int processor = 0) {
    linux::SampleRecord record;
    record.what = what;
    record.process = process;
    record.thread = thread;
    record.parent_thread = parent;
    record.time_ns = time;
    record.processor = processor;
    record.id = 10 + 3 * static_cast<std::uint64_t>(processor);
    maker.see(record);
  }
  // What the second counter of the trigger and the other event had on both processors.
  void end(std::int32_t process, std::int32_t thread, const std::vector<std::int64_t>& values) {
    for (std::size_t i = 0; i < 4; ++i) {
      linux::SampleRecord record;
      record.what = What::end_count;
      record.process = process;
      record.thread = thread;
      record.id = 10 + 3 * (i / 2) + 1 + i % 2;
      record.value = values[i];
      maker.see(record);
    }
  }
  void finish(std::vector<std::int64_t> totals) { maker.finish(9000, totals); }
};

TEST(WindowMaker, a_window_has_what_came_since_the_last_one_of_its_thread_on_its_processor) {
  Maker made;
  made.sample(7, 7, 0, 2000, {100, 99, 5});
  made.sample(7, 7, 1, 3000, {100, 99, 7});
  made.sample(7, 7, 0, 4000, {203, 202, 6});
  made.finish({0, 210, 8, 0, 100, 7});
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_EQ(made.rows[2].number, 3u);
  EXPECT_EQ(made.rows[2].time.count(), 3000);
  EXPECT_EQ(made.rows[2].length, 103);
  EXPECT_EQ(made.counts[2], (std::vector<std::int64_t>{103, 103, 1}));
  EXPECT_EQ(made.rows[2].trigger, 0u);
  // The last one, of both processors: what the counters held at the end and no window has.
  EXPECT_FALSE(made.rows[3].trigger);
  EXPECT_EQ(made.rows[3].length, 7);
  EXPECT_EQ(made.counts[3][2], 2);
  EXPECT_FALSE(made.maker.any_unattributed());
}

TEST(WindowMaker, what_a_child_had_when_it_ended_is_its_own_and_not_its_parents) {
  Maker made;
  made.tell(What::begun, 8, 8, 7);
  made.sample(7, 7, 0, 2000, {100, 100, 1});
  made.sample(8, 8, 0, 2500, {100, 100, 2});
  made.tell(What::ended, 8, 8, 7, 3000, 1);
  made.end(8, 8, {130, 4, 20, 1});
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_EQ(made.rows[2].tid, 8);
  EXPECT_EQ(made.rows[2].length, 50);
  EXPECT_EQ(made.rows[2].time.count(), 2000);
  EXPECT_EQ(made.rows[2].cpu, 1);
  EXPECT_EQ(made.counts[2][2], 3);
  made.finish({0, 240, 9, 0, 20, 1});
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_EQ(made.rows[3].tid, 7);
  EXPECT_EQ(made.rows[3].length, 10);
  EXPECT_EQ(made.counts[3][2], 4);
}

TEST(WindowMaker, a_number_that_is_used_again_is_another_thread) {
  Maker made;
  for (int i = 0; i < 2; ++i) {
    made.tell(What::begun, 7, 9, 7);
    made.sample(7, 9, 0, 2000, {100, 100, 0});
    made.tell(What::ended, 7, 9, 7, 3000);
    made.end(7, 9, {100, 0, 0, 0});
  }
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_EQ(made.rows[1].number, 1u);
  EXPECT_EQ(made.rows[1].length, 100);
}

TEST(WindowMaker, a_thread_that_executes_goes_on_under_the_number_of_its_process) {
  Maker made;
  made.tell(What::begun, 8, 8, 7);
  made.tell(What::begun, 8, 9, 8);
  made.sample(8, 9, 0, 2000, {100, 100, 0});
  made.tell(What::ended, 8, 8, 7, 2500);
  made.end(8, 8, {0, 0, 0, 0});
  made.tell(What::executed, 8, 8);
  made.sample(8, 8, 1, 3000, {100, 100, 0});
  made.sample(8, 8, 0, 4000, {200, 200, 0});
  ASSERT_EQ(made.rows.size(), 3u);
  // The new program has a series of its own.
  EXPECT_EQ(made.rows[2].number, 2u);
  EXPECT_EQ(made.rows[2].series, 2u);
  EXPECT_EQ(made.rows[0].series, 1u);
  EXPECT_EQ(made.rows[2].length, 100);
}

TEST(WindowMaker, the_same_where_the_process_is_the_commands_own) {
  Maker made;
  made.tell(What::begun, 7, 9, 7);
  made.sample(7, 7, 0, 1500, {100, 100, 0});
  made.sample(7, 9, 0, 2000, {100, 100, 0});
  made.tell(What::ended, 7, 7, 1, 2500);
  made.tell(What::executed, 7, 7);
  made.sample(7, 7, 0, 4000, {200, 200, 0});
  made.tell(What::ended, 7, 7, 1, 4500);
  made.end(7, 7, {250, 0, 0, 0});
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_EQ(made.rows[2].length, 100);
  EXPECT_EQ(made.rows[3].length, 50);
  made.finish({0, 375, 0, 0, 0, 0});
  ASSERT_EQ(made.rows.size(), 5u);
  EXPECT_EQ(made.rows[4].length, 25);
}

TEST(WindowMaker, a_lost_record_lengthens_the_next_window_of_its_processor_which_says_so) {
  Maker made(1);
  made.sample(7, 7, 0, 2000, {1, 1, 0});
  made.tell(What::lost, 0, 0, 0, 2100, 0);
  made.sample(7, 7, 0, 3000, {4, 4, 0});
  made.sample(7, 7, 0, 4000, {5, 5, 0});
  made.sample(7, 7, 1, 5000, {2, 2, 0});
  EXPECT_EQ(made.rows[1].length, 3);
  EXPECT_EQ(made.rows[1].lost, 2);
  EXPECT_EQ(made.rows[2].lost, 0);
  EXPECT_EQ(made.maker.lost(), 2);
}

TEST(WindowMaker, what_belongs_to_a_thread_whose_end_nobody_told_is_a_window_of_nobody) {
  Maker made;
  made.tell(What::begun, 8, 8, 7);
  made.sample(8, 8, 0, 2500, {100, 100, 2});
  made.sample(7, 7, 0, 2600, {100, 100, 0});
  made.finish({0, 250, 9, 0, 20, 1});
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_EQ(made.rows[2].tid, 0);
  EXPECT_EQ(made.rows[2].length, 70);
  EXPECT_EQ(made.counts[2][2], 8);
  EXPECT_TRUE(made.maker.any_unattributed());
}

TEST(WindowMaker, threads_that_were_attached_to_keep_their_totals_apart) {
  Maker made;
  made.add_root(20, 20, 1);
  made.sample(20, 20, 0, 2000, {100, 100, 0}, 20);
  made.finish({0, 30, 0, 0, 0, 0, 0, 120, 0, 0, 5, 0});
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_EQ(made.rows[1].tid, 7);
  EXPECT_EQ(made.rows[1].length, 30);
  EXPECT_EQ(made.rows[2].tid, 20);
  EXPECT_EQ(made.rows[2].length, 25);
}

TEST(WindowMaker, counts_above_32_bits_and_records_of_strangers) {
  Maker made(std::uint64_t{1} << 40);
  const std::int64_t many = std::int64_t{1} << 62;
  made.sample(7, 7, 0, 2000, {many, many, 0x80000000});
  made.sample(7, 7, 0, 2000, {many, many, 0}, 90);  // a counter that nobody opened
  made.sample(7, 7, 0, 2000, {many, many});         // not a whole group
  ASSERT_EQ(made.rows.size(), 1u);
  EXPECT_EQ(made.rows[0].length, many);
  EXPECT_EQ(made.counts[0][2], 0x80000000);
}

TEST(WindowMaker, a_clock_tells_the_time_of_its_second_counter) {
  Maker made(1'000'000, true);
  made.sample(7, 7, 0, 2000, {1'000'000, 1'000'300, 0});
  made.finish({0, 1'000'450, 0, 0, 0, 0});
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_EQ(made.rows[0].length, 1'000'300);
  EXPECT_EQ(made.rows[1].length, 150);
}

}  // namespace
}  // namespace tally::backend::perf
