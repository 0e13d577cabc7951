// `tally report` as a user starts it, and its pages as a browser shows them.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/pages.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

const std::string golden_memory = std::string(TALLY_GOLDEN) + "/memory.json";
const std::string golden_series = std::string(TALLY_GOLDEN) + "/series.json";

TEST(Report, usage) {
  const TemporaryFile not_json("notes.txt", "some words\n");
  const TemporaryFile page("page.html", "<!doctype html>\n<title>Counts</title>\n");
  const TemporaryFile broken("broken.json", "{\"schema\": \"tally-memory/1\"}");
  const TemporaryFile profile("profile.json", "{\"schema\": \"tally-profile/2\"}");
  const struct {
    Words words;
    int code;
    std::string message;
  } cases[] = {
      {{"report"}, 2, "missing FILE"},
      {{"report", "/nowhere/at/all", "-o", "-"}, 2, "/nowhere/at/all"},
      {{"report", not_json.path(), "-o", "-"}, 2, "it is not in a file format that tally reads"},
      {{"report", page.path(), "-o", "-"}, 2, "it is already a page"},
      {{"report", profile.path(), not_json.path()}, 2, "it is not in a file format that tally reads"},
      {{"report", profile.path(), golden_memory}, 2, "profiles and other results cannot be mixed"},
      {{"report", golden_memory, "-o", golden_memory}, 2, "its results would be lost"},
      {{"report", broken.path(), "-o", "-"}, 2, "is not a result of `tally memory`: "},
      {{"report", golden_memory, "-o", "/nowhere/page.html"}, 125, "/nowhere/page.html"},
  };
  for (const auto& one : cases) {
    const Finished finished = tally(one.words);
    EXPECT_EQ(finished.code(), one.code) << one.message << finished.err;
    EXPECT_TRUE(holds(finished.err, one.message)) << finished.err;
    EXPECT_EQ(finished.out, "");
  }
}

TEST(Report, compares_counts_in_a_table_without_a_file_for_the_page) {
  const std::string first = std::string(TALLY_GOLDEN) + "/one-run.json";
  const Finished table = tally({"report", first, golden_series});
  EXPECT_EQ(table.code(), 0) << table.err;
  EXPECT_EQ(table.out, tally({"compare", "--force", first, golden_series}).out);
  EXPECT_TRUE(tally({"report", first, golden_series, "--format", "html"}).out.starts_with("<!doctype html>"));
}

TEST(Report, compares_pipes) {
  const TemporaryFile before("before.json"), after("after.json");
  for (const TemporaryFile* const file : {&before, &after})
    ASSERT_EQ(tally({"stat", "-q", "-o", file->path(), "-e", "page-faults", "--", "true"}).code(), 0);
  const std::string line =
      std::string(TALLY_COMMAND) + " report <(cat " + before.path() + ") <(cat " + after.path() + ")";
  const Finished finished = Running({"/bin/bash", "-c", line}).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, "no count differs") || holds(finished.out, "page-faults")) << finished.out;
}

TEST(Report, memory_writes_its_page_additionally_and_by_the_name_of_its_output) {
  const TemporaryFile page("beside.html");
  const Words curve{"memory", "curve", "--from", "4K", "--to", "8K", "--mappings", "1", "--batches", "2"};
  Words words = curve;
  words.insert(words.end(), {"--html", page.path(), "--format", "json"});
  const Finished finished = tally(words);
  EXPECT_EQ(Json::parse(finished.out)["points"].size(), 9u) << "the same as its usual output";
  EXPECT_TRUE(content_of(page.path()).starts_with("<!doctype html>"));
  for (const auto& [name, start] : {std::pair{"by.html", "<!doctype html>"}, {"by.csv", "task,"}, {"by.json", "{"}}) {
    const TemporaryFile by_name(name);
    words = curve;
    words.insert(words.end(), {"-o", by_name.path()});
    EXPECT_EQ(tally(words).out, "");
    EXPECT_TRUE(content_of(by_name.path()).starts_with(start)) << name;
  }
}

TEST(Report, reads_the_rows_of_lens_that_memory_writes) {
  const TemporaryFile rows("lens.csv");
  const Finished finished = tally(
      {"memory", "chase-read", "--regions", "4K,8K", "--mappings", "1", "--format", "lens-csv", "-o", rows.path()});
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(content_of(rows.path()).starts_with("region_size,block_size,count,total,cycle_write_start,"));
  EXPECT_TRUE(holds(page_of({rows.path(), rows.path()}), "Cold reads against size"));
}

TEST_F(Browser, draws_every_point_and_shows_the_value_at_the_pointer) {
  const std::string dom = render(page_of({golden_memory}), R"js(
    (async () => {
      const figure = document.querySelector("figure[data-chart]");
      const canvas = figure.querySelector("canvas");
      const chart = Chart.getChart(canvas);
      const box = canvas.getBoundingClientRect();
      const lines = [figure.dataset.drawn, chart.scales.x.type, chart.scales.y.type];
      for (const point of chart.getDatasetMeta(0).data) {
        canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: box.left + point.x, clientY: box.top + point.y }));
        // Mouse movements are handled in the next frame.
        await new Promise((done) => setTimeout(done, 50));
        lines.push(chart.tooltip.title.join(), ...chart.tooltip.body.flatMap((part) => part.lines));
      }
      document.getElementById("seen").textContent = lines.join("\n");
    })();
  )js");
  EXPECT_EQ(probe_output(dom),
            "2\nlogarithmic\nlogarithmic\n"
            "4 K\nload: 1.25 ns\n95 % between 1 ns and 1.5 ns\n"
            "64 K\nload: 4 ns\n95 % between 3.75 ns and 4.25 ns\n15 of 49 batches rejected; mappings differ by 21 %");
}

TEST_F(Browser, shows_each_run_of_a_series_as_a_share_of_the_median) {
  const std::string dom = render(page_of({golden_series}), R"js(
    const chart = Chart.getChart(document.querySelector("canvas"));
    document.getElementById("seen").textContent = chart.data.datasets[0].data.map((point) => point.x + ":" + point.note + "=" + Math.round(point.y)).join(" ");
  )js");
  const Json event = Json::parse(content_of(golden_series))["events"][0];
  const Json& runs = event["runs"];
  std::string wanted;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string number = std::to_string(runs[i].get<std::int64_t>());
    for (int at = static_cast<int>(number.size()) - 3; at > 0; at -= 3)
      number.insert(static_cast<std::size_t>(at), ",");
    const double percent = 100 * runs[i].get<double>() / event["value"].get<double>();
    wanted += (i == 0 ? "" : " ") + std::to_string(i + 1) + ":" + number + "=" + std::to_string(std::lround(percent));
  }
  EXPECT_EQ(probe_output(dom), wanted);
}

// Nothing is wider than the screen, in light and in dark mode.
TEST_F(Browser, fits_a_phone_and_follows_the_colours_of_the_system) {
  const std::string probe = R"js(
    const style = getComputedStyle(document.body);
    document.getElementById("seen").textContent =
      (document.documentElement.scrollWidth <= document.documentElement.clientWidth ? "fits" : "too wide") + " " + style.backgroundColor +
      " " + Chart.getChart(document.querySelector("canvas")).data.datasets[0].borderColor;
  )js";
  const std::string page = page_of({golden_memory});
  EXPECT_EQ(probe_output(render(page, probe, {"--window-size=400,800"})), "fits rgb(255, 255, 255) #1f5fae");
  EXPECT_EQ(probe_output(render(page, probe, {"--blink-settings=preferredColorScheme=0"})),
            "fits rgb(21, 24, 29) #6cacf5");
}

// Written as a program with regions writes them.
constexpr const char* regions = R"({"schema": "tally-regions/1", "pid": 7, "command": ["./prog"], "reason": null,
  "regions": [{"region": "inner", "entries": 4, "recursive": 0, "dropped": 0, "open": 0, "threads": [], "metrics": [],
    "events": [{"event": "instructions:u", "value": 512, "trust": "exact", "reason": null, "source": null, "model": null,
      "least": 103, "most": 203, "overhead": 0, "overhead_percent": 0, "uncertainty": 0, "too_small": false,
      "histogram": [{"least": 103, "most": 103, "entries": 3}, {"least": 203, "most": 203, "entries": 1}]}]}]})";

TEST_F(Browser, draws_how_the_entries_of_a_region_differ) {
  const TemporaryFile file("regions.json", regions);
  const std::string dom = render(page_of({file.path()}), R"js(
    const chart = Chart.getChart(document.querySelector("canvas"));
    const cells = [...document.querySelector("table").rows[1].cells].map((cell) => cell.textContent);
    document.getElementById("seen").textContent = chart.data.datasets[0].label + " " +
      chart.data.datasets[0].data.map((point) => point.x + ":" + point.y).join(" ") + "; " + cells.join(" ");
  )js");
  // A logarithmic axis has no fractions of entries.
  EXPECT_EQ(probe_output(dom), "inner 103:3 104:0.5 203:1 204:0.5; instructions:u 512 128.00 103 203 exact");
}

TEST(Report, converts_regions_one_program_at_a_time) {
  const TemporaryFile file("regions.json", regions);
  const Finished rows = tally({"report", file.path(), "--format", "csv"});
  EXPECT_EQ(rows.code(), 0) << rows.err;
  EXPECT_TRUE(rows.out.starts_with("run,interval_ns,")) << rows.out;
  EXPECT_TRUE(holds(rows.out, ",inner,") && holds(rows.out, ",512,")) << rows.out;
  const Finished table = tally({"report", file.path(), "--format", "table"});
  EXPECT_TRUE(holds(table.out, "inner") && holds(table.out, "instructions:u")) << table.out;
  EXPECT_EQ(Json::parse(tally({"export", file.path(), "--format", "json"}).out)["regions"][0]["region"], "inner");
  EXPECT_TRUE(
      holds(tally({"report", file.path(), file.path(), "--format", "csv"}).err, "only be written one at a time"));
  EXPECT_TRUE(holds(tally({"report", file.path(), "--per-thread", "--format", "csv"}).err,
                    "only --format and -o can be used with the regions of a program"));
}

/// The regions above as those of a rank, whose inner region counted `value`.
std::string regions_of_rank(int rank, const Json& value) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(regions);
  json["rank"] = rank;
  nlohmann::ordered_json& event = json["regions"][0]["events"][0];
  event["value"] = value;
  if (value.is_null()) event["reason"] = "lost";
  return json.dump(1);
}

TEST(Report, adds_up_ranks) {
  const TemporaryFile zero("0.json", regions_of_rank(0, 100)), one("1.json", regions_of_rank(1, 400)),
      two("2.json", regions_of_rank(2, 100));
  const Finished all = tally({"report", "--ranks", one.path(), zero.path(), two.path(), "--format", "json"});
  EXPECT_EQ(all.code(), 0) << all.err;
  const Json json = Json::parse(all.out);
  EXPECT_EQ(json["ranks"], Json({"rank 1", "rank 0", "rank 2"}));
  for (const Json& row : json["rows"]) {
    if (row["region"] != "inner" || row["event"] == "entries") continue;
    EXPECT_EQ(row["ranks"], 3);
    EXPECT_EQ(row["sum"], 600);
    EXPECT_EQ(row["min"], 100);
    EXPECT_EQ(row["min_rank"], 1);
    EXPECT_EQ(row["max"], 400);
    EXPECT_EQ(row["max_rank"], 0);
    EXPECT_EQ(row["imbalance"], 1.0);
    EXPECT_EQ(row["trust"], "exact");
  }
  const Finished table = tally({"report", "--ranks", zero.path(), one.path()});
  EXPECT_TRUE(holds(table.out, "inner") && holds(table.out, "rank 1") && holds(table.out, "60.0 %")) << table.out;
  const Finished rows = tally({"report", "--ranks", zero.path(), one.path(), "--format", "csv"});
  EXPECT_TRUE(holds(rows.out, "inner,instructions:u,2,500,100,rank 0,400,rank 1,250,0.6,exact,")) << rows.out;
}

TEST(Report, has_the_metrics_of_ranks) {
  const auto stat = [](const TemporaryFile& to, const char* command) {
    return tally({"stat", "-q", "--backend", "engine", "-M", "Y=branches / instructions", "-M",
                  "IPS=instructions / duration_time", "-o", to.path(), "--", "sh", "-c", command})
        .code();
  };
  const TemporaryFile one("one.json"), two("two.json");
  if (stat(one, "true") != 0) GTEST_SKIP() << "the engine is for x86-64";
  ASSERT_EQ(stat(two, "exec seq 100"), 0);
  const Finished all = tally({"report", "--ranks", one.path(), two.path(), "--format", "json"});
  ASSERT_EQ(all.code(), 0) << all.err;
  const Json json = Json::parse(all.out);
  const auto sum = [&](const char* event) {
    for (const Json& row : json["rows"])
      if (row["event"] == event) return row["sum"].get<double>();
    return 0.0;
  };
  ASSERT_EQ(json["metrics"].size(), 2) << json["metrics"];
  const Json &shares = json["metrics"][0], &rates = json["metrics"][1];
  EXPECT_EQ(shares["metric"], "Y");
  EXPECT_DOUBLE_EQ(shares["of_sums"].get<double>(), sum("branches:u") / sum("instructions:u"));
  EXPECT_LE(shares["min"].get<double>(), shares["of_sums"].get<double>());
  EXPECT_GE(shares["max"].get<double>(), shares["of_sums"].get<double>());
  EXPECT_TRUE(rates["of_sums"].is_null());
  EXPECT_TRUE(holds(rates["reason"].get<std::string>(), "under the engine")) << rates;
  EXPECT_TRUE(rates["min"].is_null()) << "the engine lengthens times: " << rates;
  const Finished table = tally({"report", "--ranks", one.path(), two.path()});
  EXPECT_TRUE(holds(table.out, "of the sums") && holds(table.out, " Y ")) << table.out;
}

TEST(Report, names_ranks_that_ended_early) {
  const TemporaryFile good("0.json"), failed("1.json"), killed("2.json");
  const auto stat = [](const TemporaryFile& to, const char* command) {
    (void)tally({"stat", "-q", "--backend", "none", "-e", "user_time", "-o", to.path(), "--", "sh", "-c", command});
  };
  stat(good, "true");
  stat(failed, "exit 3");
  stat(killed, "kill -KILL $$");
  const Words words{"report", "--ranks", good.path(), failed.path(), killed.path()};
  const Json json = Json::parse(tally(with(words, {"--format", "json"})).out);
  EXPECT_EQ(json["early_ends"],
            Json::parse(R"([{"rank": 1, "how": "exit code 3"}, {"rank": 2, "how": "killed by SIGKILL"}])"));
  const Finished table = tally(words);
  EXPECT_TRUE(holds(table.out, "2.json ended early, and its counts with it: killed by SIGKILL\n")) << table.out;
}

TEST(Report, ranks_without_a_value_make_the_sum_partial) {
  const TemporaryFile zero("0.json", regions_of_rank(0, nullptr)), one("1.json", regions_of_rank(1, 400));
  for (const Words& files : {Words{zero.path(), one.path()}, Words{one.path(), zero.path()}}) {
    const Finished rows = tally(with(with({"report", "--ranks"}, files), {"--format", "csv"}));
    EXPECT_TRUE(holds(rows.out, "instructions:u,1,400,400,rank 1,400,rank 1,400,0,partial,1 rank has no value"))
        << rows.out;
  }
  const Finished memory = tally({"report", "--ranks", golden_memory});
  EXPECT_EQ(memory.code(), 2);
}

// One of two ranks did all of it.
TEST(Report, ranks_that_did_not_enter_a_region_have_zero) {
  nlohmann::ordered_json other = nlohmann::ordered_json::parse(regions_of_rank(1, 400));
  const std::string inner = other["regions"][0]["region"];
  other["regions"][0]["region"] = "other";
  const TemporaryFile zero("0.json", regions_of_rank(0, 100)), one("1.json", other.dump());
  const Finished rows = tally({"report", "--ranks", zero.path(), one.path(), "--format", "csv"});
  EXPECT_TRUE(holds(rows.out, inner + ",instructions:u,2,100,0,rank 1,100,rank 0,50,1,exact,")) << rows.out;
  EXPECT_TRUE(holds(rows.out, "other,instructions:u,2,400,0,rank 0,400,rank 1,200,1,exact,")) << rows.out;
  const Finished twice = tally({"report", "--ranks", zero.path(), one.path(), zero.path()});
  EXPECT_EQ(twice.code(), 2);
  EXPECT_TRUE(holds(twice.err, "two of the results are of rank 0")) << twice.err;
}

/// A result of `tally stat` with the region `inner` in each of these ranks.
Json stat_of_ranks(const char* backend, const char* event, const std::vector<std::pair<int, int>>& counts) {
  const TemporaryFile file("stat.json");
  (void)tally({"stat", "-q", "--backend", "none", "-e", "user_time", "-o", file.path(), "--", "true"});
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(*file.content());
  json["backend"] = backend;
  json["regions"] = nlohmann::ordered_json::array();
  for (const auto& [rank, value] : counts) {
    nlohmann::ordered_json program = nlohmann::ordered_json::parse(regions_of_rank(rank, value));
    program["run"] = 1;
    nlohmann::ordered_json& region = program["regions"][0];
    region["events"][0]["event"] = event;
    nlohmann::ordered_json thread = region;
    thread["tid"] = 7;
    region["threads"] = {thread};
    if (std::string(backend) == "engine")
      region["metrics"] = {{{"metric", "RATE"},
                            {"formula", "instructions:u / duration_time"},
                            {"unit", ""},
                            {"event", nullptr},
                            {"per", nullptr},
                            {"asked", true},
                            {"value", nullptr},
                            {"trust", "absent"},
                            {"reason", "no time"},
                            {"model", nullptr}}};
    json["regions"].push_back(program);
  }
  return json;
}

// mpirun starts tally, or tally starts mpirun; times come from a second job.
TEST(Report, ranks_of_a_whole_job_and_times_of_another_one) {
  const TemporaryFile job("job.json", stat_of_ranks("engine", "instructions:u", {{0, 100}, {1, 300}}).dump());
  const Finished whole = tally({"report", "--ranks", job.path(), "--format", "csv"});
  EXPECT_TRUE(holds(whole.out, "inner,instructions:u,2,400,100,rank 0,300,rank 1,200,0.5,exact,")) << whole.out;
  EXPECT_TRUE(holds(whole.out, "inner,RATE,0,,,,,,,,absent,no time")) << whole.out;
  Json failed = stat_of_ranks("engine", "instructions:u", {{0, 100}, {1, 300}});
  failed["runs"][0]["exit_code"] = 3;
  const TemporaryFile failed_job("failed.json", failed.dump());
  EXPECT_TRUE(holds(tally({"report", "--ranks", failed_job.path()}).out, "rank 1 ended early"));
  const TemporaryFile one("1.json", stat_of_ranks("engine", "instructions:u", {{1, 300}}).dump()),
      zero("0.json", stat_of_ranks("engine", "instructions:u", {{0, 100}}).dump()),
      times_one("t1.json", stat_of_ranks("none", "task-clock", {{1, 200}}).dump()),
      times_zero("t0.json", stat_of_ranks("none", "task-clock", {{0, 200}}).dump());
  const Words files{zero.path(), one.path(), times_one.path(), times_zero.path()};
  const Finished rates = tally(with(with({"report", "--ranks"}, files), {"--format", "csv"}));
  EXPECT_TRUE(holds(rates.out, "inner,RATE,2,,0.5,rank 0,1.5,rank 1,")) << rates.out << rates.err;
  Json other = stat_of_ranks("none", "task-clock", {{0, 200}});
  other["regions"][0]["regions"][0]["region"] = "other";
  const TemporaryFile times_other("other.json", other.dump());
  const Finished unused = tally({"report", "--ranks", zero.path(), one.path(), times_other.path()});
  EXPECT_TRUE(unused.code() == 0 && holds(unused.err, "rank 0: no metric of a region uses its native result"))
      << unused.err;
}

TEST(Report, ranks_of_profiles_are_added_by_function) {
  const auto profile = [](const TemporaryFile& to, const char* times) {
    return tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "-o", to.path(), "--", "seq", times})
        .code();
  };
  const TemporaryFile zero("0.json"), one("1.json"), stat("stat.json", regions_of_rank(0, 1));
  if (profile(zero, "10") != 0) GTEST_SKIP() << "the engine is for x86-64";
  ASSERT_EQ(profile(one, "10000"), 0);
  const Finished all = tally({"report", "--ranks", zero.path(), one.path(), "--top", "3", "--format", "json"});
  ASSERT_EQ(all.code(), 0) << all.err;
  const Json json = Json::parse(all.out);
  ASSERT_EQ(json["rows"].size(), 4) << "the program and three functions";
  EXPECT_TRUE(json["rows"][0]["function"].is_null());
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["ranks"], 2);
    EXPECT_EQ(row["sum"], row["min"].get<std::int64_t>() + row["max"].get<std::int64_t>());
    EXPECT_EQ(row["trust"], "exact");
  }
  EXPECT_EQ(json["rows"][1]["max_rank"], 1);
  EXPECT_EQ(tally({"report", "--ranks", zero.path(), stat.path()}).code(), 2) << "profiles and regions";
  EXPECT_EQ(tally({"report", "--ranks", zero.path(), one.path(), "--by", "line"}).code(), 2);
}

TEST(Report, ranks_inherit_that_a_region_is_too_small) {
  nlohmann::ordered_json small = nlohmann::ordered_json::parse(regions_of_rank(0, 100));
  small["regions"][0]["events"][0]["too_small"] = true;
  small["regions"][0]["events"][0]["overhead_percent"] = 49.7;
  const TemporaryFile zero("0.json", small.dump()), one("1.json", regions_of_rank(1, 400));
  const Finished rows = tally({"report", "--ranks", zero.path(), one.path(), "--format", "csv"});
  EXPECT_TRUE(holds(rows.out,
                    "inner,instructions:u,2,500,100,rank 0,400,rank 1,250,0.6,partial,instructions:u is too small to "
                    "trust: overhead is 49.7 % of the count"))
      << rows.out;
}

TEST(Report, what_is_no_region_is_reported) {
  const TemporaryFile broken("broken.json", "{\"schema\": \"tally-regions/1\", \"pid\": 1}");
  const Finished finished = tally({"report", broken.path(), "-o", "-"});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "holds no regions: ")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "TALLY_OUTPUT=FILE.json")) << finished.err;
}

TEST_F(Browser, asks_no_network_and_reports_no_error) {
  std::string page = page_of({golden_memory, golden_series});
  page.insert(page.find("<style>"),
              "<script>window.wrong = []; addEventListener('error', (e) => wrong.push(e.message));</script>");
  const std::string dom = render(page, R"js(
    const loaded = performance.getEntriesByType("resource").map((one) => one.name);
    document.getElementById("seen").textContent = JSON.stringify([wrong, loaded]);
  )js");
  EXPECT_EQ(probe_output(dom), "[[],[]]");
}

}  // namespace
}  // namespace tally::test
