// What takes long: many scrapes of a machine with many control groups.
#include <gtest/gtest.h>

#include <thread>

#include "tests/serve/served.hpp"

namespace tally::test {
namespace {

TEST(ServeLoad, six_hundred_scrapes_of_a_thousand_groups_take_no_more_memory_in_the_end) {
  const Machine machine(1000);
  Served served(machine.root());
  const auto scrape = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const auto text = served.scrape();
      ASSERT_TRUE(text);
      ASSERT_EQ(value_of(*text, R"(tally_cgroup_cpu_seconds_total{cgroup="/group999"})"), 999);
    }
  };
  scrape(100);
  const long before = resident_bytes(served.running().pid());
  std::thread other([&] { scrape(250); });
  scrape(250);
  other.join();
  const long after = resident_bytes(served.running().pid());
  EXPECT_LT(after, before + (8 << 20)) << before << " to " << after;
  EXPECT_LT(after, 128 << 20);
}

}  // namespace
}  // namespace tally::test
