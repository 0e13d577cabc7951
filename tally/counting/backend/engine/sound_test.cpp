#include "tally/counting/backend/engine/sound.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

#include "tally/counting/backend/engine/count/snapshot.hpp"
#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/scribble_testing.hpp"

namespace tally::backend::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Sound, a_run_without_overwrites_has_no_contradiction) {
  const Scribbled run;
  EXPECT_EQ(contradiction_in(run.channel(), settings_in(run.channel())), "");
  EXPECT_EQ(run.complaint(), "");
}

channel::Totals totals() {
  channel::Totals result;
  result.field[channel::instructions] = 1000;
  result.field[channel::conditional] = 100;
  result.field[channel::taken] = 60;
  return result;
}

TEST(Sound, more_instructions_than_there_was_time_for_are_impossible) {
  channel::Totals result = totals();
  EXPECT_EQ(why_impossible(result, seconds(0), true), "");
  result.field[channel::instructions] = 3'616'311'046'693'118'398;
  EXPECT_NE(why_impossible(result, seconds(3600), false), "");
  result.field[channel::instructions] = 47'000'000'000;
  EXPECT_EQ(why_impossible(result, seconds(1), true), "");
  EXPECT_NE(why_impossible(result, milliseconds(900), true), "");
}

TEST(Sound, more_of_a_part_than_of_the_whole_is_impossible) {
  channel::Totals result = totals();
  result.field[channel::taken] = 101;
  EXPECT_NE(why_impossible(result, seconds(1), true), "");
  EXPECT_EQ(why_impossible(result, seconds(1), false), "") << "two reads of a running thread may differ a little";
  result = totals();
  result.field[channel::returns] = 901;
  EXPECT_NE(why_impossible(result, seconds(1), true), "");
  result = totals();
  result.field[channel::loads] = -1;
  EXPECT_NE(why_impossible(result, seconds(1), true), "");
}

TEST(Sound, models_cannot_have_more_events_than_were_executed) {
  channel::ModelValues values{};
  values.l1d.load_misses = 1000;
  EXPECT_TRUE(is_possible(values, totals()));
  values.dtlb.load_misses = 1'000'000'000;
  EXPECT_FALSE(is_possible(values, totals()));
}

TEST(Sound, no_byte_of_the_records_changes_a_count_unnoticed) {
  for (const std::uint64_t begin : {channel::process_offset, channel::thread_offset}) {
    for (std::uint64_t offset = 0; offset < 5 * 256; offset += 7) {
      for (const int with : {0, 0xff, 0x11}) {
        const Scribbled run;
        const std::size_t bytes = offset % 2 == 0 ? 1 : 9;
        std::memset(run.channel().records.base + begin + offset, with, bytes);
        ASSERT_EQ(run.complaint(), "") << begin << " " << offset << " " << bytes << " bytes " << with;
      }
    }
  }
}

TEST(Sound, missing_records_are_noticed) {
  for (const std::uint32_t number : {1u, 2u, 3u, 4u}) {
    const Scribbled run;
    run.channel().records.thread(number) = {};
    EXPECT_NE(contradiction_in(run.channel(), settings_in(run.channel())), "") << number;
    EXPECT_EQ(run.complaint(), "") << number;
  }
  for (const std::uint32_t less : {0u, 1u, 3u}) {
    const Scribbled run;
    run.channel().records.header().next_thread = less;
    EXPECT_EQ(run.complaint(), "") << less;
  }
  const Scribbled run;
  std::memset(run.channel().records.base, 0, channel::thread_offset + 4096);
  EXPECT_EQ(run.complaint(), "");
}

TEST(Sound, a_wrong_number_of_records_causes_no_long_search) {
  const Scribbled run;
  run.channel().records.header().next_process = run.channel().records.header().next_thread = 0xffffffff;
  EXPECT_LT(claimed_processes(run.channel()), 100u);
  EXPECT_LT(claimed_threads(run.channel()), 100u);
  EXPECT_LT(take_snapshot(run.channel()).threads.size(), 100u);
  EXPECT_EQ(run.complaint(), "");
}

/// Ignores a record far after the others, and the search does not allocate the unwritten pages in between.
TEST(Sound, scattered_words_cause_no_long_search) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 3; ++round) {
    const Scribbled run;
    const int file = run.channel().file.get();
    constexpr int words = 2000;
    for (int i = 0; i < words; ++i) {
      const std::uint64_t word = random(), end = channel::free_offset;
      const std::uint64_t at = channel::process_offset + random() % (end - channel::process_offset) / 8 * 8;
      ASSERT_EQ(pwrite(file, &word, sizeof word, static_cast<off_t>(at)), static_cast<ssize_t>(sizeof word));
    }
    run.channel().records.header().next_process = run.channel().records.header().next_thread = 0xffffffff;
    run.channel().records.header().next_code_log = 0xffffffff;
    struct stat before {};
    struct stat after {};
    fstat(file, &before);
    EXPECT_LT(claimed_processes(run.channel()), 20'000u);
    EXPECT_LT(claimed_threads(run.channel()), 20'000u);
    EXPECT_LT(claimed_code_logs(run.channel()), 20'000u);
    EXPECT_EQ(run.complaint(), "");
    fstat(file, &after);
    constexpr std::int64_t result = 64 << 20;
    EXPECT_LT((after.st_blocks - before.st_blocks) * 512, result);
  }
}

TEST(Sound, processes_that_were_killed_at_their_start_do_not_end_the_search) {
  const Scribbled run;
  channel::Header& header = run.channel().records.header();
  // Two free records, and one after them.
  header.next_process = 6;
  run.channel().records.process(6) = run.channel().records.process(3);
  EXPECT_EQ(claimed_processes(run.channel()), 6u);
}

TEST(Sound, an_area_of_two_threads_counts_for_neither) {
  const Scribbled run;
  for (const std::uint32_t number : {1u, 2u}) {
    channel::Thread& thread = run.channel().records.thread(number);
    thread.state = channel::State::running;
    thread.area = 1;
  }
  EXPECT_EQ(run.complaint(), "");
}

TEST(Effort, stays_spent) {
  Effort effort(1, 1);
  EXPECT_TRUE(effort.take_counter_bytes(1000));
  EXPECT_FALSE(effort.is_spent());
  EXPECT_FALSE(effort.take_counter_bytes(std::uint64_t{1} << 60));
  EXPECT_TRUE(effort.is_spent());
  EXPECT_FALSE(effort.take_entries(1));
}

TEST(Sound, other_settings_than_the_commands_are_noticed) {
  const Scribbled run;
  const std::string before(settings_in(run.channel()));
  run.channel().records.header().settings.trace_limit = 1;
  EXPECT_NE(contradiction_in(run.channel(), before), "");
}

TEST(Sound, no_random_overwrite_makes_a_wrong_count_exact) {
  std::mt19937 random(31);
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::uint8_t> data(1 + random() % 64);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random() % 4 == 0 ? 0 : random());
    Scribbled run;
    run.scribble(data.data(), data.size());
    take_snapshot(run.channel());
    ASSERT_EQ(run.complaint(), "") << i;
  }
}

}  // namespace
}  // namespace tally::backend::engine
