#include "tally/output/analysis/profile_samples.hpp"

#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/kinds/profile_forms.hpp"

namespace tally::output {
namespace {

/// Two functions: `hot` samples in `hot`, the rest of 1,000 in `main`; each sample represents 100 events.
result::Profile sampled(std::int64_t hot, const std::string& outermost = "main") {
  result::Profile made;
  made.stat.command = {"prog"};
  result::Event event;
  event.total.event = "cycles:u";
  event.total.name = {"cycles", Mode::user};
  event.total.count = downgraded(counted(100'000, CountSource::pmu("cpu")), Trust::sampled, "");
  made.stat.events.push_back(event);
  result::EventSampling how;
  how.every = 100;
  how.by_hardware = true;
  how.samples = 1000;
  how.counted = 200'000;
  how.effective = 1000;
  made.sampling.push_back(how);
  made.owners.push_back({1, "prog", 1, ""});
  made.objects.push_back({"/bin/prog"});
  made.sources.emplace_back();
  for (const std::string& name : {std::string("hot"), outermost}) made.functions.push_back({name, 0});
  for (const std::uint32_t f : {0u, 1u}) {
    result::ProfileRow row;
    row.function = f;
    made.rows.push_back(row);
    made.samples.push_back(f == 0 ? hot : 1000 - hot);
    made.counts.push_back(100 * made.samples.back());
  }
  result::ProfileCall call;
  call.callee = 1;
  made.calls.push_back(call);
  call.parent = 0;
  call.caller = 1;
  call.callee = 0;
  made.calls.push_back(call);
  made.self = {100 * (1000 - hot), 100 * hot};
  made.inclusive = {100'000, 100 * hot};
  made.repeated = made.unplaced = {0};
  return made;
}

TEST(ProfileOfSamples, has_intervals_in_its_table) {
  const std::string table = profile_table(sampled(250), {});
  EXPECT_NE(table.find("22.42 – 27.78 %"), std::string::npos) << table;
  EXPECT_NE(table.find("trust: sampled"), std::string::npos) << table;
  EXPECT_NE(table.find("cycles:u: sampled, one of 100; each some instructions after"), std::string::npos) << table;
  EXPECT_NE(table.find("1,000 samples represent 50.0 % of the 200,000 cycles:u counted"), std::string::npos) << table;
  EXPECT_EQ(table.find("are cut"), std::string::npos) << table;
}

TEST(ProfileOfSamples, prints_counts_with_their_unit) {
  result::Profile clock = sampled(250);
  clock.stat.events[0].total.name = {"cpu-clock"};
  clock.stat.events[0].total.unit = Unit::nanoseconds;
  clock.sampling[0].counted = 1'203'000'000;
  const std::string table = profile_table(clock, {});
  EXPECT_NE(table.find("of the 1.203 s of cpu-clock counted"), std::string::npos) << table;
}

TEST(ProfileOfSamples, has_no_intervals_if_every_event_is_a_sample) {
  result::Profile all = sampled(250);
  all.sampling[0].every = 1;
  const std::string table = profile_table(all, {});
  EXPECT_EQ(table.find("interval"), std::string::npos) << table;
  EXPECT_NE(table.find("every one"), std::string::npos) << table;
}

TEST(ProfileOfSamples, keeps_counts_without_samples_out_of_the_column_of_samples) {
  result::Profile lost = sampled(250);
  lost.unplaced = {9'390'367};
  lost.stat.events[0].total.count.value = 100'000 + 9'390'367;
  const std::string table = profile_table(lost, {});
  EXPECT_NE(table.find("[not at any place: see below]"), std::string::npos) << table;
  EXPECT_EQ(table.find("9,390,367"), std::string::npos) << table;
  EXPECT_NE(table.find("98.95 %"), std::string::npos) << table;
  EXPECT_NE(table.find("counted and not sampled"), std::string::npos) << table;
  EXPECT_EQ(table.find("different instructions"), std::string::npos) << table;
  EXPECT_EQ(in_samples(lost).unplaced, std::vector<std::int64_t>{0});
  lost.sampling[0].every = 1;
  EXPECT_NE(profile_table(lost, {}).find("9,390,367"), std::string::npos);
}

TEST(ProfileOfSamples, reports_incomplete_stacks) {
  const std::string table = profile_table(sampled(250, "without_frame"), {});
  EXPECT_NE(table.find("100.0 % of call stacks are incomplete: they end in prog"), std::string::npos) << table;
}

TEST(ProfileOfSamples, reports_skid) {
  result::Profile one = sampled(250);
  one.sampling[0].precise = 2;
  EXPECT_NE(join(sampling_lines(one), "\n").find("at the instruction that counted"), std::string::npos);
  one.sampling[0].by_hardware = false;
  one.stat.events[0].total.name = {"cpu-clock"};
  EXPECT_NE(join(sampling_lines(one), "\n").find("where a timer interrupted"), std::string::npos);
}

TEST(ProfileOfSamples, marks_changes_that_may_be_noise) {
  const auto rows = [](std::int64_t before, std::int64_t after) {
    const result::Profile a = sampled(before), b = sampled(after);
    const auto difference = difference_of(a, b);
    return std::count_if(difference->functions.begin(), difference->functions.end(), [&](const Change& change) {
      const Estimate by = difference->estimate(change, 0);
      return by.low <= 0 && by.high >= 0;
    });
  };
  EXPECT_EQ(rows(250, 260), 2);
  EXPECT_EQ(rows(250, 400), 0);
}

TEST(ProfileOfSamples, shows_samples_in_margins) {
  const result::Profile one = in_samples(sampled(250));
  EXPECT_EQ(one.counts, (std::vector<std::int64_t>{250, 750}));
  EXPECT_EQ(one.stat.events[0].total.name.text(), "samples");
}

}  // namespace
}  // namespace tally::output
