#include "tally/counting/measure/merged_windows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally::measure {
namespace {

struct Row {
  std::int64_t time, length, first, second;
  std::uint64_t number;
  std::int64_t thread;
  bool full;
  bool operator==(const Row&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Row& row) {
  return stream << row.number << ": " << row.length << " at " << row.time << ", " << row.first << " and " << row.second
                << ", thread " << row.thread << (row.full ? "" : ", the end");
}

class Merged {
 public:
  explicit Merged(std::uint64_t every) : merged_(every) {}
  void add(std::int64_t thread, std::int64_t time, std::int64_t length, const char* program = "a",
           std::int64_t pid = 9) {
    const std::vector<std::int64_t> counts{length, 10 * length};
    result::Window part;
    part.time = Nanoseconds(time);
    part.length = length;
    part.tid = thread;
    part.pid = pid;
    part.program = program;
    part.trigger = 0;
    part.counts = counts;
    merged_.add(part);
  }
  std::vector<Row> rows() {
    std::vector<Row> result;
    merged_.finish([&](const result::Window& one) {
      result.push_back(
          {one.time.count(), one.length, one.counts[0], one.counts[1], one.number, one.tid, one.trigger.has_value()});
    });
    return result;
  }

 private:
  MergedWindows merged_;
};

TEST(MergedWindows, are_parts_in_the_order_of_their_ends) {
  Merged merged(40);
  // A thread's rows arrive all at once, after the other's.
  for (const std::int64_t time : {10, 30, 50, 70, 90}) merged.add(1, time, 10);
  for (const std::int64_t time : {20, 40, 60}) merged.add(2, time, 10);
  EXPECT_EQ(merged.rows(), (std::vector<Row>{{40, 40, 40, 400, 1, 2, true}, {90, 40, 40, 400, 2, 1, true}}));
}

TEST(MergedWindows, report_the_rest_and_excess_lengths) {
  Merged merged(20);
  merged.add(1, 1, 10);
  merged.add(2, 2, 7);  // its thread's end
  merged.add(1, 3, 10);
  merged.add(1, 4, 3);
  EXPECT_EQ(merged.rows(), (std::vector<Row>{{3, 27, 27, 270, 1, 1, true}, {4, 3, 3, 30, 2, 1, false}}));
}

TEST(MergedWindows, are_of_one_program_in_one_process) {
  Merged merged(10);
  merged.add(1, 1, 5, "a", 1);
  merged.add(1, 2, 5, "b", 1);
  merged.add(2, 3, 5, "a", 2);
  EXPECT_EQ(merged.rows(),
            (std::vector<Row>{{1, 5, 5, 50, 1, 1, false}, {2, 5, 5, 50, 1, 1, false}, {3, 5, 5, 50, 1, 2, false}}));
}

TEST(MergedWindows, have_parts_that_fill_them) {
  EXPECT_EQ(MergedWindows::part_of(1), 1u);
  EXPECT_EQ(MergedWindows::part_of(8000), 1000u);
  EXPECT_EQ(MergedWindows::part_of(8001), 1001u);
}

}  // namespace
}  // namespace tally::measure
