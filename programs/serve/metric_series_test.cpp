#include "programs/serve/metric_series.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tally::serve {
namespace {

const prometheus::MetricFamily* find(const std::vector<prometheus::MetricFamily>& all, const std::string& name) {
  for (const auto& family : all) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

std::string label(const prometheus::ClientMetric& metric, const std::string& name) {
  for (const auto& one : metric.label) {
    if (one.name == name) return one.value;
  }
  return "none";
}

watch::WatchedMachine machine() {
  watch::WatchedMachine machine;
  machine.processors = {0, 1};
  machine.places = {{0, {0, 0}}, {1, {1, 0}}};
  machine.reasons.add("no-pmu", "there is none");
  machine.energies = {{watch::EnergyCounter::Of::processor, 1, "", 10'000'000, "intel-rapl:1"}};
  return machine;
}

TEST(Series, missing_values_have_no_series) {
  watch::Reading reading;
  reading.kernel.times.processors = {{0, {.user = 100, .kernel = 50, .idle = 40, .iowait = 10}}};
  watch::Sums sums{};
  sums[static_cast<std::size_t>(watch::Counted::cycles)] = 42;
  reading.counts.processors[1] = sums;
  const auto all = series_of(machine(), reading, {}, {});
  EXPECT_EQ(find(all, "tally_cpu_instructions_total"), nullptr);
  EXPECT_EQ(find(all, "tally_energy_joules_total"), nullptr);
  EXPECT_EQ(find(all, "tally_memory_used_bytes"), nullptr);
  const auto* cycles = find(all, "tally_cpu_cycles_total");
  ASSERT_TRUE(cycles);
  ASSERT_EQ(cycles->metric.size(), 1u);
  EXPECT_EQ(cycles->metric[0].counter.value, 42);
  EXPECT_EQ(label(cycles->metric[0], "cpu"), "1");
  const auto* seconds = find(all, "tally_cpu_seconds_total");
  ASSERT_TRUE(seconds);
  EXPECT_EQ(seconds->metric[0].counter.value, 1.5) << "ticks are hundredths of seconds";
  ASSERT_TRUE(find(all, "tally_absent_info"));
}

TEST(Series, of_names_are_missing_if_processes_are_hidden) {
  const ProcessSums sums({"nginx"});
  EXPECT_NE(find(series_of(machine(), {}, {}, {}, sums), "tally_processes"), nullptr);
  const auto all = series_of(machine(), {}, {}, {.version = {}, .hides_processes = true}, sums);
  EXPECT_EQ(find(all, "tally_processes"), nullptr) << "a 0 would raise an alert";
  EXPECT_EQ(label(find(all, "tally_absent_info")->metric.back(), "reason"), "hidepid");
}

TEST(Series, counters_never_fall) {
  Energy energy;
  watch::Reading reading;
  std::vector<double> sums;
  for (const std::uint64_t now : {9'000'000u, 9'500'000u, 500'000u}) {
    reading.energies = {now};
    sums.push_back(energy.add(machine(), reading)[0].value_or(-1));
  }
  EXPECT_EQ(sums, (std::vector<double>{0, 0.5, 1.5})) << "it wrapped around at 10 J";
  reading.energies = {std::nullopt};
  EXPECT_EQ(energy.add(machine(), reading)[0], 1.5);
  const auto all = series_of(machine(), reading, {1.5}, {});
  const auto* joules = find(all, "tally_energy_joules_total");
  ASSERT_TRUE(joules);
  EXPECT_EQ(label(joules->metric.at(0), "socket"), "1");
}

TEST(Series, no_two_groups_have_one_label) {
  watch::Reading reading;
  const char* const paths[] = {"/a\xff", "/a\xfe", "/a\\377", "/a\xc3\xa4", "/a\xc3", "/a\x2d", "/a\\x2d"};
  for (const char* path : paths) {
    watch::CgroupStatistics group;
    group.path = path;
    group.used_us = 1;
    reading.groups.push_back(group);
  }
  const auto all = series_of(machine(), reading, {}, {});
  const auto* seconds = find(all, "tally_cgroup_cpu_seconds_total");
  ASSERT_TRUE(seconds);
  std::set<std::string> labels;
  for (const auto& metric : seconds->metric) labels.insert(label(metric, "cgroup"));
  EXPECT_EQ(labels, (std::set<std::string>{"/a\\377", "/a\\376", "/a\\134377", "/aä", "/a\\303", "/a-", "/a\\x2d"}));
}

TEST(Series, names_follow_the_conventions) {
  watch::Reading reading;
  watch::CgroupStatistics group;
  group.path = "/a\xff";
  group.used_us = 2'000'000;
  group.memory_bytes = 7;
  reading.groups = {group};
  for (const auto& family : series_of(machine(), reading, {}, {})) {
    EXPECT_TRUE(family.name.starts_with("tally_"));
    EXPECT_EQ(family.type == prometheus::MetricType::Counter, family.name.ends_with("_total")) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
    if (family.name == "tally_cgroup_cpu_seconds_total") {
      EXPECT_EQ(family.metric.at(0).counter.value, 2);
      EXPECT_EQ(label(family.metric.at(0), "cgroup"), "/a\\377") << "labels are UTF-8";
    }
  }
}

}  // namespace
}  // namespace tally::serve
