// Profiles by samples of a PMU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Json = nlohmann::json;
using test::Words;

struct ProfileRun {
  test::Finished finished;
  Json json;

  double of(const std::string& name, const char* what = "counts", std::size_t event = 0) const {
    double sum = 0;
    for (const Json& function : json["functions"])
      if (function["name"] == name) sum += function[what][event].get<double>();
    return sum;
  }
};

ProfileRun sampled_profile(const Words& options, const Words& command) {
  const test::TemporaryFile file("samples.json");
  Words words{"profile", "-q", "--format", "json", "-o", file.path()};
  words = test::with(test::with(std::move(words), options), {"--"});
  ProfileRun made;
  made.finished = test::tally(test::with(std::move(words), command));
  made.json = Json::parse(file.content().value_or(""), nullptr, false);
  return made;
}

/// Three quarters and one, as precisely as N samples can show: three times the half of the 95 % interval.
void expect_shares(const ProfileRun& one, std::size_t event = 0) {
  ASSERT_TRUE(one.json.is_object()) << one.finished.err;
  const double heavy = one.of("heavy", "counts", event), light = one.of("light", "counts", event);
  const double samples = one.of("heavy", "samples", event) + one.of("light", "samples", event);
  ASSERT_GT(samples, 20) << one.json["events"];
  EXPECT_NEAR(heavy / (heavy + light), 0.75, 3 * 1.96 * std::sqrt(0.75 * 0.25 / samples)) << samples;
}

constexpr const char* turns = "2000000";

TEST(Profile, by_cycles_has_the_shares_of_functions) {
  TALLY_NEEDS_PMU();
  const ProfileRun one = sampled_profile({"-e", "cycles", "--every", "50000"}, {SHARES, turns});
  expect_shares(one);
  const Json& event = one.json["events"][0];
  EXPECT_EQ(event["trust"], "sampled") << event["reason"];
  EXPECT_TRUE(event["sampling"]["by_hardware"]);
  EXPECT_TRUE(event["sampling"]["user_only"]);
  EXPECT_EQ(event["sampling"]["lost"], 0);
  // 160 million instructions, each of them a cycle there, and the instructions of the loader.
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) == 1) {
    EXPECT_GE(event["sampling"]["counted"], 160'000'000);
    EXPECT_LE(event["sampling"]["counted"], 162'000'000);
    EXPECT_NEAR(event["value"].get<double>(), event["sampling"]["counted"].get<double>(), 100'000);
    EXPECT_NEAR(one.of("heavy"), 120'000'000, 100'000);
    EXPECT_NEAR(one.of("light"), 40'000'000, 100'000);
  }
}

TEST(Profile, by_frequency_and_of_several_events) {
  TALLY_NEEDS_PMU();
  const ProfileRun one = sampled_profile({"-e", "cycles,instructions"}, {SHARES, "20000000"});
  expect_shares(one, 0);
  expect_shares(one, 1);
  EXPECT_EQ(one.json["events"][0]["sampling"]["frequency"], 3989);
}

TEST(Profile, uses_cycles_if_there_is_a_pmu) {
  TALLY_NEEDS_PMU();
  const ProfileRun one = sampled_profile({}, {SHARES, turns});
  ASSERT_TRUE(one.json.is_object()) << one.finished.err;
  EXPECT_EQ(one.json["events"][0]["name"], "cycles:u");
  EXPECT_EQ(one.json["backend"], "perf");
}

TEST(Profile, has_calls_by_frame_pointers) {
  TALLY_NEEDS_PMU();
  const ProfileRun one = sampled_profile({"--calls", "-e", "cycles", "--every", "50000"}, {SHARES, turns});
  ASSERT_TRUE(one.json.is_object()) << one.finished.err;
  double by_both = 0;
  for (const Json& call : one.json["calls"]) {
    const auto name = [&](const char* end) { return one.json["functions"][call[end].get<std::size_t>()]["name"]; };
    if (name("caller") == "main" && name("callee") == "both") by_both += call["inclusive"][0].get<double>();
  }
  EXPECT_GT(by_both, 0.9 * (one.of("heavy") + one.of("light"))) << one.json["calls"];
}

TEST(Profile, has_the_kernels_functions) {
  TALLY_NEEDS_GUEST();
  const Setting open_to_all = paranoid(-1);
  const ProfileRun one =
      sampled_profile({"-e", "cycles:k", "--every", "20000"}, {"/bin/sh", "-c", "for i in 1 2 3 4 5; do (true); done"});
  ASSERT_TRUE(one.json.is_object()) << one.finished.err;
  double kernels = 0;
  for (const Json& function : one.json["functions"])
    if (one.json["objects"][function["object"].get<std::size_t>()]["name"] == "[kernel]" &&
        !function["name"].get<std::string>().starts_with('['))
      kernels += function["counts"][0].get<double>();
  EXPECT_GT(kernels, 0.9 * one.json["events"][0]["value"].get<double>()) << one.json["functions"];
}

}  // namespace
}  // namespace tally::hardware_test
