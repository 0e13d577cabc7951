#include "tally/tools/why/sampled_cycles.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tally/output/kinds/profile_forms.hpp"

namespace tally::why {
namespace {

constexpr std::int64_t total = 1'000'003;

result::Event event(const std::string& name, std::int64_t value, Trust trust) {
  result::Event made;
  made.total.name = EventName{name};
  made.total.count.value = value;
  made.total.count.trust = trust;
  return made;
}

// One instruction for each function.
result::Profile profile_of(const std::vector<std::pair<std::string, std::int64_t>>& functions,
                           const result::Event& last) {
  result::Profile profile;
  profile.stat.events = {event("instructions", 9, Trust::exact), last};
  if (last.total.count.trust == Trust::sampled) profile.stat.events.erase(profile.stat.events.begin());
  profile.owners.resize(1);
  profile.sources.resize(1);
  profile.objects = {{.name = "/bin/prog"}, {.name = std::string(result::kernel_code)}};
  for (const auto& [name, count] : functions) {
    result::ProfileRow row;
    row.function = static_cast<std::uint32_t>(profile.functions.size());
    profile.functions.push_back({.name = name, .object = name == "in_kernel" ? 1U : 0U});
    profile.rows.push_back(row);
    if (profile.event_count() == 2) profile.counts.push_back(3);
    profile.counts.push_back(count);
  }
  profile.repeated.resize(profile.event_count());
  profile.unplaced.resize(profile.event_count());
  return profile;
}

result::Profile modelled() {
  return profile_of({{"hot", 600'000}, {"warm", 300'000}, {"cold", 60'003}, {"colder", 40'000}},
                    event("core-cycles-estimate", total, Trust::estimated));
}

// Each sample is a millisecond.
result::Profile samples_of(const std::vector<std::pair<std::string, std::int64_t>>& functions, bool user_only) {
  std::int64_t all = 0;
  for (const auto& [name, samples] : functions) all += samples;
  result::Profile sampled = profile_of(functions, event("cpu-clock", all * 1'000'000, Trust::sampled));
  sampled.samples = sampled.counts;
  for (std::int64_t& count : sampled.counts) count *= 1'000'000;
  sampled.sampling.resize(1);
  sampled.sampling[0].frequency = 1000;
  sampled.sampling[0].samples = all;
  sampled.sampling[0].effective = static_cast<double>(all);
  sampled.sampling[0].user_only = user_only;
  return sampled;
}

std::vector<std::int64_t> cycles_of(const result::Profile& profile) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) all.push_back(profile.count(i, 1));
  return all;
}

std::int64_t sum(const std::vector<std::int64_t>& all) {
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

std::string reason_of(const result::Profile& profile) { return profile.stat.events[1].total.count.reason; }

TEST(SampledCycles, FunctionsHaveTheirShareOfTheSamples) {
  result::Profile profile = modelled();
  divide_by_samples(profile, samples_of({{"hot", 4000}, {"warm", 5000}, {"cold", 100}, {"elsewhere", 900}}, false), 0);
  const auto cycles = cycles_of(profile);
  EXPECT_EQ(sum(cycles), total);
  EXPECT_NEAR(static_cast<double>(cycles[0]), 0.4 * total, 0.01 * total);
  EXPECT_NEAR(static_cast<double>(cycles[1]), 0.5 * total, 0.01 * total);
  EXPECT_EQ(profile.count(0, 0), 3) << "other events stay as they are";
  EXPECT_NE(reason_of(profile).find("by samples: warm 0.4902 M to 0.5098 M (modelled 0.3 M), hot"), std::string::npos)
      << reason_of(profile);
}

// A sample more changes a function's cycles by little, however many it has.
TEST(SampledCycles, NoNumberOfSamplesChangesTheShareAbruptly) {
  std::int64_t last = 0;
  for (std::int64_t samples = 0; samples < 150; ++samples) {
    result::Profile profile = modelled();
    divide_by_samples(profile, samples_of({{"hot", 600}, {"warm", 300}, {"cold", samples}, {"colder", 40}}, false), 0);
    const std::int64_t cycles = cycles_of(profile)[2];
    EXPECT_EQ(sum(cycles_of(profile)), total);
    if (samples > 0) {
      EXPECT_GE(cycles, last) << samples;
      EXPECT_LT(cycles - last, total / 400) << samples;
    }
    last = cycles;
  }
}

TEST(SampledCycles, TheModelIsNotMentionedWhereItAgrees) {
  result::Profile profile = modelled();
  divide_by_samples(profile, samples_of({{"hot", 600}, {"warm", 300}, {"cold", 60}, {"colder", 40}}, false), 0);
  EXPECT_EQ(reason_of(profile).find("(modelled"), std::string::npos) << reason_of(profile);
  const auto cycles = cycles_of(profile);
  EXPECT_NEAR(static_cast<double>(cycles[2]), 60'003, 10);
}

TEST(SampledCycles, TheKernelHasItsSamples) {
  result::Profile profile = modelled();
  divide_by_samples(profile, samples_of({{"hot", 400}, {"warm", 350}, {"in_kernel", 250}}, false), 0.1);
  const auto cycles = cycles_of(profile);
  ASSERT_EQ(cycles.size(), 5U);
  EXPECT_EQ(sum(cycles), total);
  EXPECT_NEAR(static_cast<double>(cycles[4]), 0.25 * total, 1);
  EXPECT_EQ(profile.functions[profile.rows[4].function].name, result::kernel_code);
  EXPECT_LT(cycles[2], total / 50) << "few samples are left for it";
  EXPECT_TRUE(reason_of(profile).ends_with("; [kernel] 0.25 M by samples")) << reason_of(profile);
}

TEST(SampledCycles, TheKernelHasARowHoweverFewAreShown) {
  result::Profile profile = modelled();
  divide_by_samples(profile, samples_of({{"hot", 400}, {"warm", 350}, {"in_kernel", 250}}, false), 0);
  output::ProfileStyle style;
  style.most = 1;
  const std::string table = output::profile_table(profile, style);
  EXPECT_NE(table.find("250,001  "), std::string::npos) << table;
  EXPECT_NE(table.find("[kernel]"), std::string::npos) << table;
  EXPECT_NE(table.find("--top 0 shows 3 more"), std::string::npos) << table;
}

TEST(SampledCycles, WithoutSamplesOfTheKernelItHasItsTicks) {
  result::Profile profile = modelled();
  divide_by_samples(profile, samples_of({{"hot", 500}, {"warm", 500}}, true), 0.2);
  const auto cycles = cycles_of(profile);
  EXPECT_EQ(sum(cycles), total);
  EXPECT_NEAR(static_cast<double>(cycles[0]), 0.4 * total, 0.02 * total);
  EXPECT_NEAR(static_cast<double>(cycles[4]), 0.2 * total, 1);
}

TEST(SampledCycles, FunctionsThatAllHaveSamplesShareEverything) {
  result::Profile profile =
      profile_of({{"hot", 600'003}, {"warm", 400'000}}, event("core-cycles-estimate", total, Trust::estimated));
  divide_by_samples(profile, samples_of({{"hot", 300}, {"warm", 300}, {"elsewhere", 400}}, false), 0);
  const auto cycles = cycles_of(profile);
  EXPECT_EQ(sum(cycles), total);
  EXPECT_NEAR(static_cast<double>(cycles[0]), 0.5 * total, 0.03 * total);
}

}  // namespace
}  // namespace tally::why
