// Tests metrics of counted events.
#include "tally/hardware/event/count_metrics.hpp"

#include <gtest/gtest.h>

namespace tally::event {
namespace {

// The metric `name` of cycles and user time, with these counts.
Ratio value_of(const std::string& name, const Count& cycles, const Count& user_time) {
  const std::vector<Counted> counted{{*parse("cycles:u"), {"cycles", Mode::user}},
                                     {*parse("user_time"), {"user_time"}}};
  const auto asked = parse_metrics({name});
  EXPECT_TRUE(asked);
  for (const Metric& metric : metrics_of(counted, *asked, [](std::size_t, std::size_t) { return true; })) {
    if (metric.asked) return metric.evaluate({cycles, user_time});
  }
  ADD_FAILURE() << "no metric " << name;
  return {};
}

Count modelled(std::int64_t value) {
  Count count = exact(value, Source::engine);
  count.trust = Trust::modelled;
  count.model = "haswell core";
  return count;
}

TEST(Metrics, modelled_events_have_no_rate_in_measured_time) {
  const Ratio frequency = value_of("frequency", modelled(1'000), partial(50'000, Source::wait4, "under the engine"));
  EXPECT_EQ(frequency.trust, Trust::absent);
  EXPECT_FALSE(frequency.value);
  EXPECT_EQ(frequency.reason, "modelled events and measured time are of two different machines");
  EXPECT_EQ(value_of("mine=1000 * cycles:u / user_time", modelled(1'000), counted(50'000, Source::wait4)).trust,
            Trust::absent);
}

TEST(Metrics, of_regions_inherit_that_a_count_is_too_small) {
  RegionEvent cycles, instructions;
  cycles.event = {"cycles", Mode::user};
  cycles.total = modelled(1'023);
  instructions.event = {"instructions", Mode::user};
  instructions.total = exact(447, Source::engine);
  const std::vector<Event> events{*parse("cycles:u"), *parse("instructions:u")};
  const auto ipc = [&] {
    return region_metrics(events, {cycles, instructions}, *parse_metrics({"IPC"})).front().ratio;
  };
  EXPECT_EQ(ipc().trust, Trust::modelled);
  cycles.too_small = true;
  cycles.overhead_percent = 49.7;
  EXPECT_EQ(ipc().trust, Trust::partial);
  EXPECT_EQ(ipc().reason, "cycles:u is too small to trust: overhead is 49.7 % of the count");
}

TEST(Metrics, counted_events_have_one) {
  EXPECT_EQ(value_of("frequency", counted(3'000'000, CountSource::pmu("cpu")), counted(1'000'000, Source::wait4)).value,
            3.0);
}

}  // namespace
}  // namespace tally::event
