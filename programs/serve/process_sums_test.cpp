#include "programs/serve/process_sums.hpp"

#include <gtest/gtest.h>

namespace tally::serve {
namespace {

watch::ProcessStatistics process(int id, const char* name, std::uint64_t ticks, std::uint64_t started = 1) {
  watch::ProcessStatistics made;
  made.process = id;
  made.name = name;
  made.user_ticks = ticks;
  made.minor_faults = 2 * ticks;
  made.major_faults = ticks;
  made.threads = 2;
  made.resident_bytes = 4096;
  made.started = started;
  return made;
}

TEST(ProcessSums, count_from_the_first_reading_and_include_ended_processes) {
  ProcessSums sums({"nginx", "postgres"});
  sums.add({process(10, "nginx", 1000), process(11, "nginx", 500), process(12, "sh", 7)});
  ASSERT_EQ(sums.sums().size(), 2u);
  EXPECT_EQ(sums.sums()[0].second, (ProcessSum{2, 4, 8192, 0, 0, 0}));
  EXPECT_EQ(sums.sums()[1].second, ProcessSum{}) << "no process has the name: 0, not absent";
  sums.add({process(10, "nginx", 1010), process(13, "nginx", 5)});
  EXPECT_EQ(sums.sums()[0].second, (ProcessSum{2, 4, 8192, 15, 45, 15}));
  sums.add({process(10, "nginx", 3, 900)});
  EXPECT_EQ(sums.sums()[0].second, (ProcessSum{1, 2, 4096, 18, 54, 18})) << "another process with the same ID";
  sums.add({});
  EXPECT_EQ(sums.sums()[0].second, (ProcessSum{0, 0, 0, 18, 54, 18}));
}

TEST(ProcessSums, long_names_are_those_of_the_kernel) {
  ProcessSums sums({"a-service-with-a-long-name"});
  sums.add({process(10, "a-service-with-", 1)});
  EXPECT_EQ(sums.sums()[0].first, "a-service-with-a-long-name");
  EXPECT_EQ(sums.sums()[0].second.processes, 1u);
}

}  // namespace
}  // namespace tally::serve
