#include "programs/serve/never_falling.hpp"

#include <gtest/gtest.h>

namespace tally::serve {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

prometheus::ClientMetric metric(const std::string& group, double value) {
  prometheus::ClientMetric one;
  one.label.push_back({"cgroup", group});
  one.counter.value = value;
  one.gauge.value = value;
  return one;
}

Families counters(std::vector<prometheus::ClientMetric> metrics) {
  return {{"tally_cgroup_cpu_seconds_total", "", prometheus::MetricType::Counter, std::move(metrics)}};
}

double after(NeverFalling& kept, const std::string& group, double value) {
  Families families = counters({metric(group, value)});
  kept.apply(families);
  return families[0].metric[0].counter.value;
}

TEST(NeverFalling, a_recreated_group_continues_its_count) {
  NeverFalling kept;
  EXPECT_EQ(after(kept, "/a", 1.5), 1.5);
  Families none = counters({});
  kept.apply(none);
  EXPECT_EQ(after(kept, "/a", 0), 1.5);
  EXPECT_EQ(after(kept, "/a", 2), 3.5);
  EXPECT_EQ(after(kept, "/a", 1), 4.5);
  EXPECT_EQ(after(kept, "/b", 1), 1) << "other groups are unaffected";
}

TEST(NeverFalling, gauges_may_fall) {
  NeverFalling kept;
  for (const double value : {7.0, 3.0}) {
    Families families{{"tally_cgroup_memory_bytes", "", prometheus::MetricType::Gauge, {metric("/a", value)}}};
    kept.apply(families);
    EXPECT_EQ(families[0].metric[0].gauge.value, value);
  }
}

TEST(NeverFalling, remembers_a_bounded_number_of_inactive_series) {
  NeverFalling kept(2);
  EXPECT_EQ(after(kept, "/a", 5), 5);
  EXPECT_EQ(after(kept, "/b", 5), 5);
  EXPECT_EQ(after(kept, "/c", 5), 5);
  EXPECT_EQ(after(kept, "/d", 5), 5);
  EXPECT_EQ(after(kept, "/c", 1), 6) << "one of the last two to end";
  EXPECT_EQ(after(kept, "/a", 1), 1) << "the first to end is forgotten";
}

}  // namespace
}  // namespace tally::serve
