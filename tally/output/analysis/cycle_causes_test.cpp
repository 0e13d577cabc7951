#include "tally/output/analysis/cycle_causes.hpp"

#include <gtest/gtest.h>

#include "tally/core/count/event_name.hpp"

namespace tally::output {
namespace {

std::vector<result::Event> events_of(const std::vector<std::pair<const char*, std::int64_t>>& counts) {
  std::vector<result::Event> events(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    events[i].total.name = split_event_name(counts[i].first);
    events[i].total.count.value = counts[i].second;
    events[i].total.count.trust = Trust::counted;
  }
  return events;
}

std::string text_of(const std::vector<TopDownClass>& classes) {
  std::string text;
  for (const TopDownClass& row : classes) text += indented_name(row, " ") + " " + std::to_string(row.slots) + "\n";
  return text;
}

// As `perf stat` reads them: slots, and slots of each class.
TEST(TopDown, classes_of_the_kernels_events_add_up) {
  auto events = events_of({{"cpu/slots/:u", 1000},
                           {"cpu/topdown-retiring/:u", 400},
                           {"cpu/topdown-bad-spec/:u", 100},
                           {"cpu/topdown-fe-bound/:u", 200},
                           {"cpu/topdown-be-bound/:u", 299}});
  EXPECT_EQ(text_of(top_down(events)), "Retiring 400\nBad Speculation 100\nFrontend Bound 200\nBackend Bound 299\n");
  double sum = 0;
  for (const TopDownClass& row : top_down(events)) sum += row.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  for (auto& event : events_of({{"cpu/topdown-heavy-ops/:u", 40},
                                {"cpu/topdown-br-mispredict/:u", 90},
                                {"cpu/topdown-fetch-lat/:u", 150},
                                {"cpu/topdown-mem-bound/:u", 250}}))
    events.push_back(std::move(event));
  EXPECT_EQ(text_of(top_down(events)),
            "Retiring 400\n Light Operations 360\n Heavy Operations 40\n"
            "Bad Speculation 100\n Branch Mispredicts 90\n Machine Clears 10\n"
            "Frontend Bound 200\n Fetch Latency 150\n Fetch Bandwidth 50\n"
            "Backend Bound 299\n Memory Bound 250\n Core Bound 49\n");
  EXPECT_TRUE(is_of_top_down(events[1].total.name) && is_of_top_down(split_event_name("cycles-DRAM:u")));
  EXPECT_FALSE(is_of_top_down(events[0].total.name) || is_of_top_down(split_event_name("cycles:u")));
}

TEST(TopDown, has_no_classes_if_one_was_not_counted) {
  auto events = events_of({{"cpu/slots/:u", 1000},
                           {"cpu/topdown-retiring/:u", 400},
                           {"cpu/topdown-bad-spec/:u", 100},
                           {"cpu/topdown-fe-bound/:u", 200},
                           {"cpu/topdown-be-bound/:u", 299}});
  events[2].total.count.value.reset();
  EXPECT_TRUE(top_down(events).empty());
}

}  // namespace
}  // namespace tally::output
