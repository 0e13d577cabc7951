// Tests processors with several kinds of cores on a simulated sysfs, because no test machine has them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tally/core/count/count.hpp"
#include "tally/counting/backend/perf/count/planning.hpp"
#include "tally/counting/backend/perf/encode.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"

namespace tally::backend::perf {
namespace {

namespace fs = std::filesystem;

// A Core i9-12900K as Linux 6.5 describes it.
const std::map<std::string, std::string> alder_lake{
    {"cpu_core/type", "4"},
    {"cpu_core/cpus", "0-15"},
    {"cpu_core/format/event", "config:0-7"},
    {"cpu_core/format/umask", "config:8-15"},
    {"cpu_core/events/cache-misses", "event=0x2e,umask=0x41"},
    {"cpu_atom/type", "10"},
    {"cpu_atom/cpus", "16-23"},
    {"cpu_atom/format/event", "config:0-7"},
    {"cpu_atom/format/umask", "config:8-15"},
    {"cpu_atom/events/cache-misses", "event=0x2e,umask=0x41"},
};

class Kinds : public testing::Test {
 protected:
  Kinds() {
    std::string pattern = (fs::temp_directory_path() / "tally-kinds-XXXXXX").string();
    if (mkdtemp(pattern.data())) root_ = pattern;
    for (const auto& [path, content] : alder_lake) {
      const fs::path file = fs::path(root_) / "sys/bus/event_source/devices" / path;
      fs::create_directories(file.parent_path());
      std::ofstream(file) << content << '\n';
    }
    for (const char* name : {"cpu_atom", "cpu_core"}) cores_.push_back(*linux::pmu_device(root_, name));
  }
  ~Kinds() override {
    std::error_code ignored;
    if (!root_.empty()) fs::remove_all(root_, ignored);
  }

  event::Event event(const char* text) const { return *event::parse(text, {root_, "adl_glc"}); }
  std::vector<Encoded> encoded(const char* text) const { return encode(event(text), cores_); }

  std::string root_;
  std::vector<linux::PmuDevice> cores_;
};

TEST_F(Kinds, an_event_without_a_pmu_is_counted_by_each) {
  const std::vector<Encoded> cycles = encoded("cycles");
  ASSERT_EQ(cycles.size(), 2u);
  EXPECT_EQ(cycles[0].event, (linux::PerfEvent{0, 0xA00000000, true, false}));
  EXPECT_EQ(cycles[0].source, CountSource::pmu("cpu_atom"));
  EXPECT_EQ(cycles[1].event, (linux::PerfEvent{0, 0x400000000, true, false}));
  EXPECT_EQ(cycles[1].source, CountSource::pmu("cpu_core"));
  const std::vector<Encoded> misses = encoded("L1-icache-load-misses");
  EXPECT_EQ(misses[0].event, (linux::PerfEvent{3, 0xA00010001, true, false}));
  const std::vector<Encoded> code = encoded("r412e");
  EXPECT_EQ(code[0].event.type, 10u);
  EXPECT_EQ(code[1].event.type, 4u);
  EXPECT_TRUE(code[1].doubt.empty()) << "both list it";
  EXPECT_EQ(encoded("page-faults").size(), 1u) << "the kernel's own";
}

TEST_F(Kinds, an_event_of_one_pmu_is_counted_by_that_only) {
  const std::vector<Encoded> of_core = encoded("cpu_core/event=0x2e,umask=0x41/");
  ASSERT_EQ(of_core.size(), 1u) << "codes without a PMU have the number of cpu_core as well";
  EXPECT_EQ(of_core[0].event, (linux::PerfEvent{4, 0x412e, true, false}));
  EXPECT_EQ(of_core[0].source, CountSource::pmu("cpu_core"));
  EXPECT_EQ(encoded("cpu_atom/cache-misses/")[0].event.type, 10u);
}

TEST_F(Kinds, every_kind_must_count_all_events_of_a_pass) {
  const std::vector<event::Event> events = *event::parse_lists(
      {"branches,cycles,instructions,cpu_core/event=0x2e,umask=0x41/,page-faults"}, {root_, "adl_glc"});
  // Four counters on cpu_core, two on cpu_atom.
  const auto planned = plan(events, {}, cores_, [](const std::vector<linux::PerfEvent>& together) {
    const bool of_atom = (together.front().config >> 32) == 10 || together.front().type == 10;
    return together.size() <= (of_atom ? 2u : 4u);
  });
  EXPECT_EQ(planned.passes, (std::vector<event::Pass>{{0, 1, 3, 4}, {2}}));
  EXPECT_TRUE(planned.too_large.empty());
}

TEST_F(Kinds, interrupts_take_a_counter_in_passes_that_they_add_to) {
  const std::vector<event::Event> events =
      *event::parse_lists({"cycles,instructions,cycles:k,branches"}, {root_, "adl_glc"});
  const std::vector<linux::PmuDevice> one{cores_[1]};
  const event::Event interrupts = event("cpu_core/event=0xcb,umask=0x1/");
  const auto three = [](const std::vector<linux::PerfEvent>& together) { return together.size() <= 3; };
  EXPECT_EQ(plan(events, {}, one, three).passes, (std::vector<event::Pass>{{0, 1, 2}, {3}}));
  EXPECT_EQ(plan(events, interrupts, one, three).passes, (std::vector<event::Pass>{{0, 1}, {2, 3}}));
  const auto cycles_first = *event::parse_lists({"cycles,cycles:k,cycles:uk,instructions"}, {root_, "adl_glc"});
  EXPECT_EQ(plan(cycles_first, interrupts, one, three).passes, (std::vector<event::Pass>{{0, 1, 2}, {3}}))
      << "they add nothing to cycles";
  // Interrupts occupy no counter of a PMU that does not count them.
  const auto no_such_event = [](const std::vector<linux::PerfEvent>& together) {
    for (const linux::PerfEvent& event : together) {
      if ((event.config & 0xFFFF) == 0x1cb) return false;
    }
    return together.size() <= 3;
  };
  EXPECT_EQ(plan(events, interrupts, one, no_such_event).passes, (std::vector<event::Pass>{{0, 1, 2}, {3}}));
}

// Two kinds of cores that exist everywhere, because both are the kernel's software PMU: `r2` is its page faults.
TEST_F(Kinds, each_has_a_row_of_its_own) {
  std::vector<linux::PmuDevice> cores(2);
  cores[0].name = "cpu_atom";
  cores[1].name = "cpu_core";
  for (linux::PmuDevice& core : cores) core.type = linux::perf_type_software;
  Counters counters(*event::parse_lists({"r2,page-faults"}, {root_, ""}), cores);
  counters.open({0, -1, false, linux::PerfStart::at_once});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  const std::vector<Count> whole = counters.read();
  const auto atom = counters.of_core("cpu_atom", {0});
  const auto core = counters.of_core("cpu_core", {0});
  ASSERT_EQ(atom.size(), 1u) << "page-faults belong to no core";
  ASSERT_EQ(core.size(), 1u);
  EXPECT_EQ(atom[0].first, 0u);
  EXPECT_EQ(*atom[0].second.value + *core[0].second.value, whole[0].value);
  EXPECT_EQ(atom[0].second.source, CountSource::pmu("cpu_atom"));
  EXPECT_TRUE(Counters(*event::parse_lists({"r2"}, {root_, ""}), {cores[0]}).of_core("cpu_atom", {}).empty())
      << "with one kind the total is the only row";
}

TEST(CoreTypes, a_row_has_the_raw_count_and_the_trust_of_the_whole) {
  const Reading atom{700, Nanoseconds{100}, Nanoseconds{60}};
  const Reading core{300, Nanoseconds{100}, Nanoseconds{20}};
  const Count whole = of_core_types({atom, core}, parse_source("cpu_atom, cpu_core"), true);
  const Count row = of_kind(whole, atom, "cpu_atom");
  EXPECT_EQ(row.value, 700) << "never 700 * 100 / 60";
  EXPECT_EQ(row.trust, Trust::partial);
  EXPECT_EQ(row.reading, atom);
  EXPECT_EQ(of_kind(absent("why"), atom, "cpu_atom"), absent("why"));
}

constexpr Reading part(std::int64_t raw, std::int64_t enabled, std::int64_t running) {
  return {raw, Nanoseconds{enabled}, Nanoseconds{running}};
}

TEST(CoreTypes, counts_by_turns_are_complete_if_the_times_add_up) {
  const Count whole = of_core_types({part(700, 100, 60), part(300, 100, 40)}, parse_source("cpu_atom, cpu_core"), true);
  EXPECT_EQ(whole.value, 1000);
  EXPECT_EQ(whole.trust, Trust::counted);
}

TEST(CoreTypes, nothing_is_scaled) {
  const Count shared =
      of_core_types({part(700, 100, 60), part(300, 100, 20)}, parse_source("cpu_atom, cpu_core"), true);
  EXPECT_EQ(shared.value, 1000);
  EXPECT_EQ(shared.trust, Trust::partial);
  EXPECT_NE(shared.reason.find("80 % of the time"), std::string::npos);
  const Count one = of_core_types({part(700, 100, 60)}, parse_source("cpu_core"), true);
  EXPECT_EQ(one.value, 700);
  EXPECT_EQ(one.trust, Trust::partial);
}

TEST(CoreTypes, each_cpu_counts_all_the_time) {
  EXPECT_EQ(of_core_types({part(700, 100, 100), part(300, 100, 100)}, parse_source("both"), false).trust,
            Trust::counted);
  EXPECT_EQ(of_core_types({part(700, 100, 100), part(300, 100, 90)}, parse_source("both"), false).trust,
            Trust::partial);
}

}  // namespace
}  // namespace tally::backend::perf
