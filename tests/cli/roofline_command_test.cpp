// `tally stat --roofline` and `tally profile --roofline`: operations and bytes are exact, times are native, and
// ceilings are those that are stored for this host.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "tally/tools/roofline/host_ceilings.hpp"
#include "tests/cli/host.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t additions = 40'000'000;

class RooflineCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernel_describes_caches()) GTEST_SKIP() << "the kernel describes no caches: there is no model host";
    std::string pattern = (std::filesystem::temp_directory_path() / "tally-roofline-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (const char* const before = std::getenv("TALLY_CACHE_DIR")) before_ = before;
    setenv("TALLY_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    before_ ? setenv("TALLY_CACHE_DIR", before_->c_str(), 1) : unsetenv("TALLY_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }
  static void store() {
    ASSERT_TRUE(roofline::store_ceilings({.date = "2026-11-29",
                                          .bandwidths = {{"L1", 0, 1, 200e9, 2}, {"DRAM", 0, 1, 20e9, 9}},
                                          .peaks = {{"single", 0, 1, 16e9, 1}, {"double", 0, 1, 16e9, 1}}},
                                         "/"));
  }

 private:
  std::string folder_;
  std::optional<std::string> before_;
};

TEST_F(RooflineCommand, needs_measured_ceilings) {
  for (const char* const command : {"stat", "profile"}) {
    const Finished finished = tally({command, "--roofline", "--", ROOFLINED});
    EXPECT_EQ(finished.code(), 125);
    EXPECT_TRUE(holds(finished.err, "`tally memory ceilings`")) << finished.err;
  }
}

TEST_F(RooflineCommand, uses_what_the_memory_program_measured) {
  if (tally({"memory", "--help"}).code() != 0) GTEST_SKIP() << "tally memory was not built";
  const Finished measured = tally({"memory", "ceilings", "--format", "json"});
  ASSERT_EQ(measured.code(), 0) << measured.err;
  const Json ceilings = Json::parse(measured.out).at("ceilings");
  EXPECT_GE(ceilings.at("bandwidths").size(), 2U) << ceilings;
  EXPECT_GE(ceilings.at("peaks").size(), 4U) << ceilings;
  for (const char* const kind : {"bandwidths", "peaks"})
    for (const Json& ceiling : ceilings.at(kind)) EXPECT_GT(ceiling.at("per_second").get<double>(), 0) << ceiling;
  const Finished finished = tally({"stat", "--roofline", "--format", "json", "-o", "-", "--", ROOFLINED});
  EXPECT_EQ(Json::parse(finished.out).at("roofline").at("ceilings"), ceilings);
}

TEST_F(RooflineCommand, has_the_point_of_the_program) {
  store();
  const Finished finished = tally({"stat", "--roofline", "--format", "json", "-o", "-", "--", ROOFLINED});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json roofline = Json::parse(finished.out).at("roofline");
  EXPECT_EQ(roofline.at("ceilings").at("bandwidths").size(), 2U);
  EXPECT_FALSE(roofline.at("model").is_null());
  const Json& point = roofline.at("points").at(0);
  EXPECT_EQ(point.at("kind"), "program");
  EXPECT_EQ(point.at("trust"), "exact");
  // The dynamic linker computes a few.
  EXPECT_NEAR(point.at("operations").get<double>(), additions, 100);
  EXPECT_NEAR(point.at("scalar").get<double>(), additions, 100);
  EXPECT_GT(point.at("seconds").get<double>(), 0);
  EXPECT_EQ(point.at("verdict").at("limit"), "peak");
}

TEST_F(RooflineCommand, begins_with_the_verdict) {
  store();
  const TemporaryFile page("page.html"), json("result.json");
  const Finished finished = tally({"stat", "-q", "--roofline", "--", ROOFLINED});
  EXPECT_TRUE(finished.err.starts_with("\n program ")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "of what its intensity allows; the limit is the peak of")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "DRAM bandwidth")) << finished.err;
  EXPECT_EQ(tally({"stat", "-q", "--roofline", "--format", "json", "-o", json.path(), "--", ROOFLINED}).code(), 0);
  EXPECT_EQ(tally({"report", json.path(), "-o", page.path()}).code(), 0);
  EXPECT_TRUE(holds(page.content().value_or(""), "<h3>Roofline</h3>"));
  EXPECT_TRUE(holds(page.content().value_or(""), "GFLOP/s"));
}

TEST_F(RooflineCommand, has_points_of_functions) {
  store();
  const Finished finished = tally({"profile", "-q", "--roofline", "--format", "json", "-o", "-", "--", ROOFLINED});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json points = Json::parse(finished.out).at("roofline").at("points");
  ASSERT_GE(points.size(), 2U) << points;
  const Json& function = points.at(1);
  EXPECT_EQ(function.at("kind"), "function");
  EXPECT_EQ(function.at("operations"), additions);
  EXPECT_TRUE(function.at("seconds").is_number() || holds(function.at("reason").get<std::string>(), "samples"))
      << function;
}

TEST_F(RooflineCommand, has_a_table_that_begins_with_operations) {
  store();
  const std::string out = tally({"profile", "-q", "--roofline", "-o", "-", "--", ROOFLINED}).out;
  EXPECT_LT(out.find("  fp-operations:u"), out.find("  load-bytes:u")) << out;
  EXPECT_TRUE(holds(out, "  load-bytes:u")) << out;
  EXPECT_FALSE(holds(out, "  fp-operations-half:u")) << "the program has none";
}

TEST_F(RooflineCommand, is_a_chart_on_the_page_of_a_profile) {
  store();
  const TemporaryFile page("profile.html");
  EXPECT_EQ(tally({"profile", "-q", "--roofline", "-o", page.path(), "--", ROOFLINED}).code(), 0);
  const std::string content = page.content().value_or("");
  EXPECT_TRUE(holds(content, "<h2>Roofline</h2>"));
  EXPECT_TRUE(holds(content, " data-chart>"));
  EXPECT_TRUE(holds(content, "[data-chart]")) << "the script that draws it";
  EXPECT_TRUE(holds(content, "the limit is the peak of"));
}

TEST_F(RooflineCommand, has_points_of_regions) {
  store();
  const Finished finished = tally({"stat", "-q", "--roofline", "--format", "json", "-o", "-", "--", ROOFLINED_REGIONS});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json points = Json::parse(finished.out).at("roofline").at("points");
  ASSERT_EQ(points.size(), 2U) << points;
  const Json& region = points.at(1);
  EXPECT_EQ(region.at("kind"), "region");
  EXPECT_EQ(region.at("name"), "additions");
  EXPECT_EQ(region.at("operations"), additions);
  EXPECT_EQ(region.at("trust"), "exact");
  if (!region.at("seconds").is_number()) GTEST_SKIP() << region.at("reason");
  EXPECT_LE(region.at("seconds").get<double>(), 1.1 * points.at(0).at("seconds").get<double>());
  EXPECT_GE(region.at("seconds").get<double>(), 0.5 * points.at(0).at("seconds").get<double>());
}

TEST_F(RooflineCommand, stat_has_points_of_functions) {
  store();
  const Finished finished = tally(
      {"stat", "-q", "--roofline", "--function", "compute", "--format", "json", "-o", "-", "--", ROOFLINED_REGIONS});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json points = Json::parse(finished.out).at("roofline").at("points");
  ASSERT_EQ(points.size(), 3U) << points;
  for (const Json& point : points) {
    if (point.at("kind") != "function") continue;
    EXPECT_EQ(point.at("name"), "compute");
    EXPECT_EQ(point.at("operations"), additions);
    EXPECT_EQ(point.at("trust"), "exact");
    if (holds(point.at("reason").dump(), "cpu-clock cannot be sampled")) GTEST_SKIP() << point;
    ASSERT_TRUE(point.at("seconds").is_number()) << point;
    EXPECT_LE(point.at("seconds").get<double>(), 1.1 * points.at(0).at("seconds").get<double>());
    EXPECT_GE(point.at("seconds").get<double>(), 0.5 * points.at(0).at("seconds").get<double>());
    return;
  }
  ADD_FAILURE() << points;
}

// Of each run, whose threads have none.
TEST_F(RooflineCommand, regions_of_all_runs_have_rates) {
  const Finished finished = tally({"stat", "-q", "--native", "-r", "2", "--metrics", "R=fp-operations / duration_time",
                                   "--format", "json", "-o", "-", "--", ROOFLINED_REGIONS});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json programs = Json::parse(finished.out).at("regions");
  ASSERT_EQ(programs.size(), 2U) << programs;
  for (const Json& program : programs) {
    const Json& region = program.at("regions").at(0);
    const Json rate = region.at("metrics").at(1), of_thread = region.at("threads").at(0).at("metrics").at(1);
    EXPECT_TRUE(of_thread.at("reason").get<std::string>().starts_with("only a whole region ")) << of_thread;
    EXPECT_EQ(rate.at("metric"), "R");
    if (program == programs[0] && !rate.at("value").is_number()) GTEST_SKIP() << "perf_event is forbidden";
    EXPECT_GT(rate.at("value"), 0) << rate;
  }
}

TEST_F(RooflineCommand, cannot_be_divided_into_intervals) {
  store();
  const Finished finished = tally({"stat", "--roofline", "-I", "100", "--", ROOFLINED});
  EXPECT_EQ(finished.code(), 2) << finished.err;
  EXPECT_TRUE(holds(finished.err, "--roofline cannot be used with -I")) << finished.err;
}

}  // namespace
}  // namespace tally::test
