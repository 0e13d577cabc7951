#include "tally/counting/backend/perf/windows/window_maker.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>

namespace tally::backend::perf {
namespace {

using Kind = linux::SampleRecord::Kind;

// Two CPUs; groups of the trigger, the trigger again, and one other event. Counter IDs: 10 · (1 + root) + 3 · CPU +
// index.
struct RecordedWindows {
  std::vector<result::Window> rows;
  std::vector<std::vector<std::int64_t>> counts;
  std::deque<std::vector<std::int64_t>> held;
  WindowMaker maker;

  explicit RecordedWindows(std::uint64_t every = 100, bool clock = false)
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
    record.what = Kind::sample;
    record.process = process;
    record.thread = thread;
    record.processor = processor;
    record.time_ns = time;
    record.id = first_id + 3 * static_cast<std::uint64_t>(processor);
    record.raw = std::as_bytes(std::span(held.back()));
    maker.see(record);
  }
  void record_thread(Kind what, std::int32_t process, std::int32_t thread, std::int32_t parent = 0,
                     std::int64_t time = 0, int processor = 0) {
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
  // Final counts of the trigger's second counter and the other event, on both CPUs.
  void end(std::int32_t process, std::int32_t thread, const std::vector<std::int64_t>& values) {
    for (std::size_t i = 0; i < 4; ++i) {
      linux::SampleRecord record;
      record.what = Kind::end_count;
      record.process = process;
      record.thread = thread;
      record.id = 10 + 3 * (i / 2) + 1 + i % 2;
      record.value = values[i];
      maker.see(record);
    }
  }
  void finish(std::vector<std::int64_t> totals) { maker.finish(9000, totals); }
};

TEST(WindowMaker, a_window_counts_since_the_last_one_of_its_thread_on_its_cpu) {
  RecordedWindows recorded;
  recorded.sample(7, 7, 0, 2000, {100, 99, 5});
  recorded.sample(7, 7, 1, 3000, {100, 99, 7});
  recorded.sample(7, 7, 0, 4000, {203, 202, 6});
  recorded.finish({0, 210, 8, 0, 100, 7});
  ASSERT_EQ(recorded.rows.size(), 4u);
  EXPECT_EQ(recorded.rows[2].number, 3u);
  EXPECT_EQ(recorded.rows[2].time.count(), 3000);
  EXPECT_EQ(recorded.rows[2].length, 103);
  EXPECT_EQ(recorded.counts[2], (std::vector<std::int64_t>{103, 103, 1}));
  EXPECT_EQ(recorded.rows[2].trigger, 0u);
  // The last window, for both CPUs: the counters' final values without those in earlier windows.
  EXPECT_FALSE(recorded.rows[3].trigger);
  EXPECT_EQ(recorded.rows[3].length, 7);
  EXPECT_EQ(recorded.counts[3][2], 2);
  EXPECT_FALSE(recorded.maker.any_unattributed());
}

TEST(WindowMaker, final_counts_of_a_child_are_not_its_parents) {
  RecordedWindows recorded;
  recorded.record_thread(Kind::begun, 8, 8, 7);
  recorded.sample(7, 7, 0, 2000, {100, 100, 1});
  recorded.sample(8, 8, 0, 2500, {100, 100, 2});
  recorded.record_thread(Kind::ended, 8, 8, 7, 3000, 1);
  recorded.end(8, 8, {130, 4, 20, 1});
  ASSERT_EQ(recorded.rows.size(), 3u);
  EXPECT_EQ(recorded.rows[2].tid, 8);
  EXPECT_EQ(recorded.rows[2].length, 50);
  EXPECT_EQ(recorded.rows[2].time.count(), 2000);
  EXPECT_EQ(recorded.rows[2].cpu, 1);
  EXPECT_EQ(recorded.counts[2][2], 3);
  recorded.finish({0, 240, 9, 0, 20, 1});
  ASSERT_EQ(recorded.rows.size(), 4u);
  EXPECT_EQ(recorded.rows[3].tid, 7);
  EXPECT_EQ(recorded.rows[3].length, 10);
  EXPECT_EQ(recorded.counts[3][2], 4);
}

TEST(WindowMaker, a_reused_thread_id_is_another_thread) {
  RecordedWindows recorded;
  for (int i = 0; i < 2; ++i) {
    recorded.record_thread(Kind::begun, 7, 9, 7);
    recorded.sample(7, 9, 0, 2000, {100, 100, 0});
    recorded.record_thread(Kind::ended, 7, 9, 7, 3000);
    recorded.end(7, 9, {100, 0, 0, 0});
  }
  ASSERT_EQ(recorded.rows.size(), 2u);
  EXPECT_EQ(recorded.rows[1].number, 1u);
  EXPECT_EQ(recorded.rows[1].length, 100);
}

TEST(WindowMaker, a_thread_that_calls_execve_continues_under_the_id_of_its_process) {
  RecordedWindows recorded;
  recorded.record_thread(Kind::begun, 8, 8, 7);
  recorded.record_thread(Kind::begun, 8, 9, 8);
  recorded.sample(8, 9, 0, 2000, {100, 100, 0});
  recorded.record_thread(Kind::ended, 8, 8, 7, 2500);
  recorded.end(8, 8, {0, 0, 0, 0});
  recorded.record_thread(Kind::executed, 8, 8);
  recorded.sample(8, 8, 1, 3000, {100, 100, 0});
  recorded.sample(8, 8, 0, 4000, {200, 200, 0});
  ASSERT_EQ(recorded.rows.size(), 3u);
  // The new program has a series of its own.
  EXPECT_EQ(recorded.rows[2].number, 2u);
  EXPECT_EQ(recorded.rows[2].series, 2u);
  EXPECT_EQ(recorded.rows[0].series, 1u);
  EXPECT_EQ(recorded.rows[2].length, 100);
}

TEST(WindowMaker, a_thread_of_the_command_that_calls_execve_continues_too) {
  RecordedWindows recorded;
  recorded.record_thread(Kind::begun, 7, 9, 7);
  recorded.sample(7, 7, 0, 1500, {100, 100, 0});
  recorded.sample(7, 9, 0, 2000, {100, 100, 0});
  recorded.record_thread(Kind::ended, 7, 7, 1, 2500);
  recorded.record_thread(Kind::executed, 7, 7);
  recorded.sample(7, 7, 0, 4000, {200, 200, 0});
  recorded.record_thread(Kind::ended, 7, 7, 1, 4500);
  recorded.end(7, 7, {250, 0, 0, 0});
  ASSERT_EQ(recorded.rows.size(), 4u);
  EXPECT_EQ(recorded.rows[2].length, 100);
  EXPECT_EQ(recorded.rows[3].length, 50);
  recorded.finish({0, 375, 0, 0, 0, 0});
  ASSERT_EQ(recorded.rows.size(), 5u);
  EXPECT_EQ(recorded.rows[4].length, 25);
}

TEST(WindowMaker, a_lost_record_lengthens_the_next_window_of_its_cpu_which_reports_it) {
  RecordedWindows recorded(1);
  recorded.sample(7, 7, 0, 2000, {1, 1, 0});
  recorded.record_thread(Kind::lost, 0, 0, 0, 2100, 0);
  recorded.sample(7, 7, 0, 3000, {4, 4, 0});
  recorded.sample(7, 7, 0, 4000, {5, 5, 0});
  recorded.sample(7, 7, 1, 5000, {2, 2, 0});
  EXPECT_EQ(recorded.rows[1].length, 3);
  EXPECT_EQ(recorded.rows[1].lost, 2);
  EXPECT_EQ(recorded.rows[2].lost, 0);
  EXPECT_EQ(recorded.maker.lost(), 2);
}

TEST(WindowMaker, counts_of_a_thread_without_a_reported_end_are_a_window_of_thread_0) {
  RecordedWindows recorded;
  recorded.record_thread(Kind::begun, 8, 8, 7);
  recorded.sample(8, 8, 0, 2500, {100, 100, 2});
  recorded.sample(7, 7, 0, 2600, {100, 100, 0});
  recorded.finish({0, 250, 9, 0, 20, 1});
  ASSERT_EQ(recorded.rows.size(), 3u);
  EXPECT_EQ(recorded.rows[2].tid, 0);
  EXPECT_EQ(recorded.rows[2].length, 70);
  EXPECT_EQ(recorded.counts[2][2], 8);
  EXPECT_TRUE(recorded.maker.any_unattributed());
}

TEST(WindowMaker, attached_threads_have_separate_totals) {
  RecordedWindows recorded;
  recorded.add_root(20, 20, 1);
  recorded.sample(20, 20, 0, 2000, {100, 100, 0}, 20);
  recorded.finish({0, 30, 0, 0, 0, 0, 0, 120, 0, 0, 5, 0});
  ASSERT_EQ(recorded.rows.size(), 3u);
  EXPECT_EQ(recorded.rows[1].tid, 7);
  EXPECT_EQ(recorded.rows[1].length, 30);
  EXPECT_EQ(recorded.rows[2].tid, 20);
  EXPECT_EQ(recorded.rows[2].length, 25);
}

TEST(WindowMaker, counts_above_32_bits_are_kept_and_unknown_records_ignored) {
  RecordedWindows recorded(std::uint64_t{1} << 40);
  const std::int64_t many = std::int64_t{1} << 62;
  recorded.sample(7, 7, 0, 2000, {many, many, 0x80000000});
  recorded.sample(7, 7, 0, 2000, {many, many, 0}, 90);  // an unknown counter
  recorded.sample(7, 7, 0, 2000, {many, many});         // an incomplete group
  ASSERT_EQ(recorded.rows.size(), 1u);
  EXPECT_EQ(recorded.rows[0].length, many);
  EXPECT_EQ(recorded.counts[0][2], 0x80000000);
}

TEST(WindowMaker, a_clock_uses_the_time_of_its_second_counter) {
  RecordedWindows recorded(1'000'000, true);
  recorded.sample(7, 7, 0, 2000, {1'000'000, 1'000'300, 0});
  recorded.finish({0, 1'000'450, 0, 0, 0, 0});
  ASSERT_EQ(recorded.rows.size(), 2u);
  EXPECT_EQ(recorded.rows[0].length, 1'000'300);
  EXPECT_EQ(recorded.rows[1].length, 150);
}

}  // namespace
}  // namespace tally::backend::perf
