// `tally compare` with results of every kind, of tally and of other tools: recognised by their content.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// The comparison as JSON. The files' names say nothing of their content.
json compared(const std::string& before, const std::string& after, const Words& options = {}) {
  const TemporaryFile old_file("old", before), new_file("new", after);
  const Finished finished =
      tally(with({"compare", "--all", "--format", "json", old_file.path(), new_file.path()}, options));
  EXPECT_NE(finished.code(), 2) << finished.err;
  return json::parse(finished.out, nullptr, false);
}

json row(const json& comparison, const std::string& event, const std::string& of = "") {
  for (const char* const list : {"events", "metrics"})
    for (const json& one : comparison[list])
      if (one["event"] == event && one.value("of", "") == of) return one;
  ADD_FAILURE() << event << " of " << of << ": " << comparison;
  return {};
}

// Ten values around `middle`, each another.
std::vector<double> around(double middle) {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.push_back(middle * (1 + 0.001 * (i * 7 % 10 - 4.5)));
  return values;
}

std::string hyperfine(double seconds) {
  return json{{"results",
               {{{"command", "./prog input"},
                 {"mean", seconds},
                 {"median", seconds},
                 {"user", seconds / 2},
                 {"system", 0.001},
                 {"times", around(seconds)}}}}}
      .dump();
}

TEST(CompareInputs, reads_hyperfine) {
  const json worse = compared(hyperfine(0.5), hyperfine(0.55));
  EXPECT_EQ(row(worse, "time")["verdict"], "worse");
  EXPECT_NEAR(row(worse, "time")["change"].get<double>(), 5e7, 1e6);
  EXPECT_GT(row(worse, "time")["interval"][0].get<double>(), 4e7);
  EXPECT_EQ(row(worse, "user")["verdict"], "undecided");
  EXPECT_EQ(row(compared(hyperfine(0.5), hyperfine(0.5)), "time")["verdict"], "same");
}

// As pytest-benchmark writes it; `stats` has the rounds.
std::string pytest_benchmark(const json& stats) {
  const json benchmark{{"name", "test_parse"}, {"fullname", "test_a.py::test_parse"}, {"stats", stats}};
  return R"({"machine_info": {"cpu": {"brand_raw": "x"}}, "benchmarks": [)" + benchmark.dump() + "]}";
}

json rounds(double seconds) { return {{"median", seconds}, {"rounds", 10}, {"data", around(seconds)}}; }

TEST(CompareInputs, reads_pytest_benchmark) {
  const auto time = [](const json& comparison) { return row(comparison, "time", "test_a.py::test_parse"); };
  const json worse = time(compared(pytest_benchmark(rounds(0.5)), pytest_benchmark(rounds(0.55))));
  EXPECT_EQ(worse["verdict"], "worse");
  EXPECT_NEAR(worse["change"].get<double>(), 5e7, 1e6);
  EXPECT_EQ(time(compared(pytest_benchmark(rounds(0.5)), pytest_benchmark(rounds(0.5))))["verdict"], "same");
  const std::string only_median = pytest_benchmark({{"median", 0.5}});
  EXPECT_EQ(time(compared(only_median, pytest_benchmark({{"median", 0.9}})))["verdict"], "undecided");
}

std::string criterion(double nanoseconds) {
  const json estimate{
      {"confidence_interval",
       {{"confidence_level", 0.95}, {"lower_bound", 0.99 * nanoseconds}, {"upper_bound", 1.01 * nanoseconds}}},
      {"point_estimate", nanoseconds},
      {"standard_error", 0.005 * nanoseconds}};
  return json{{"mean", estimate}, {"median", estimate}, {"median_abs_dev", estimate}, {"slope", nullptr}}.dump();
}

TEST(CompareInputs, reads_criterion) {
  EXPECT_EQ(row(compared(criterion(500), criterion(550)), "time")["verdict"], "worse");
  EXPECT_EQ(row(compared(criterion(500), criterion(501)), "time")["verdict"], "same");
  const TemporaryFile before("old", criterion(500)), after("new", criterion(550)), near("near", criterion(505));
  EXPECT_EQ(tally({"compare", before.path(), after.path(), "--fail-above", "time=5%"}).code(), 1);
  EXPECT_EQ(tally({"compare", before.path(), near.path(), "--fail-above", "time=1%"}).code(), 3);
}

std::string google_benchmark(double parse_ns, double items) {
  json runs = json::array();
  for (const double factor : around(1)) {
    runs.push_back({{"name", "BM_parse/8"},
                    {"run_name", "BM_parse/8"},
                    {"run_type", "iteration"},
                    {"iterations", 1000},
                    {"real_time", parse_ns * factor / 1000},
                    {"cpu_time", parse_ns * factor / 1000},
                    {"time_unit", "us"},
                    {"items_per_second", items * factor}});
    runs.push_back({{"name", "BM_render"},
                    {"run_name", "BM_render"},
                    {"run_type", "iteration"},
                    {"real_time", 2.5 * factor},
                    {"cpu_time", 2.5 * factor},
                    {"time_unit", "ns"}});
  }
  runs.push_back({{"name", "BM_render_mean"}, {"run_type", "aggregate"}, {"real_time", 99.0}, {"time_unit", "ns"}});
  return json{{"context", {{"executable", "./bench"}, {"num_cpus", 4}}}, {"benchmarks", runs}}.dump();
}

TEST(CompareInputs, reads_google_benchmark) {
  const json comparison = compared(google_benchmark(1500, 1000), google_benchmark(1600, 900));
  EXPECT_EQ(row(comparison, "real_time", "BM_parse/8")["verdict"], "worse");
  EXPECT_NEAR(row(comparison, "real_time", "BM_parse/8")["before"].get<double>(), 1500, 10);
  EXPECT_EQ(row(comparison, "items_per_second", "BM_parse/8")["verdict"], "worse");  // more is better
  EXPECT_EQ(row(comparison, "real_time", "BM_render")["verdict"], "same");
  // A gate without a subject is of every benchmark.
  const TemporaryFile old_file("old", google_benchmark(1500, 1000)), new_file("new", google_benchmark(1600, 900));
  const auto gated = [&](const char* gate) {
    return tally({"compare", old_file.path(), new_file.path(), "--fail-above", gate}).code();
  };
  EXPECT_EQ(gated("real_time=5%"), 1);
  EXPECT_EQ(gated("real_time@BM_render=1%"), 0);
  EXPECT_EQ(gated("real_time@BM_parse/8=5%"), 1);
  EXPECT_EQ(gated("items_per_second=5%"), 1);
  EXPECT_EQ(gated("real_time@BM_typo=5%"), 2);
}

std::string perf_json(double instructions, int runs) {
  std::string text;
  for (int i = 0; i < runs; ++i)
    text += "# started on Fri Nov 27 07:24:00 2026\n\n" +
            json{{"counter-value", std::to_string(instructions * around(1)[static_cast<std::size_t>(i)])},
                 {"unit", ""},
                 {"event", "instructions:u"},
                 {"event-runtime", 1000},
                 {"pcnt-running", 100.0}}
                .dump() +
            "\n{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles\", "
            "\"event-runtime\" : 0, \"pcnt-running\" : 100.00}\n";
  return text;
}

TEST(CompareInputs, reads_perf_stat) {
  const json comparison = compared(perf_json(1e6, 10), perf_json(1.1e6, 10));
  EXPECT_EQ(row(comparison, "instructions:u")["verdict"], "worse");
  EXPECT_EQ(row(comparison, "cycles")["verdict"], "undecided");
  EXPECT_NE(row(comparison, "cycles")["reason"].get<std::string>().find("not supported"), std::string::npos);
  EXPECT_EQ(row(compared(perf_json(1e6, 1), perf_json(2e6, 1)), "instructions:u")["verdict"], "undecided");
  // `perf stat -r 10 -j` stores a mean: ten of them are no ten runs of one program.
  std::string means = perf_json(1e6, 10);
  for (std::size_t at = 0; (at = means.find("\"unit\"", at)) != means.npos; at += 30)
    means.insert(at, "\"variance\":0.1,");
  EXPECT_EQ(row(compared(means, perf_json(2e6, 10)), "instructions:u")["verdict"], "undecided");
}

std::string callgrind(int parse) {
  return "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 1\ncmd:  ./prog input\npart: 1\n\n"
         "positions: line\nevents: Ir Dr\nsummary: " +
         std::to_string(1160 + parse) + " 30\n\nob=(1) /tmp/prog\nfl=(1) prog.c\nfn=(1) parse\n10 " +
         std::to_string(parse) +
         " 10\n+2 1000 10\n\nfn=(2) main\n20 50 5\ncfn=(1)\ncalls=3 10\n* 999999 20\n+1 10\n*\n\nfn=(3) render\n30 100 "
         "5\n\ntotals: " +
         std::to_string(1160 + parse) + " 30\n";
}

TEST(CompareInputs, reads_callgrind) {
  const json comparison = compared(callgrind(500), callgrind(600));
  EXPECT_EQ(row(comparison, "Ir")["before"], 500 + 1000 + 50 + 10 + 100);  // without the costs of calls
  EXPECT_EQ(row(comparison, "Ir")["change"], 100);
  EXPECT_EQ(row(comparison, "Ir")["verdict"], "worse");
  EXPECT_EQ(row(comparison, "Dr")["verdict"], "same");
  ASSERT_EQ(comparison["functions"].size(), 1u);
  EXPECT_EQ(comparison["functions"][0]["function"], "parse");
  EXPECT_EQ(comparison["functions"][0]["change"], 100);
}

// The files that tally itself writes for KCachegrind.
TEST(CompareInputs, reads_the_callgrind_files_of_tally) {
  const TemporaryFile file("callgrind.out.1"), stored("profile.json");
  ASSERT_EQ(tally({"profile", "-q", "--calls", "--repeatable", "-o", file.path(), "--", "true"}).code(), 0);
  const json comparison = compared(*file.content(), *file.content());
  EXPECT_EQ(row(comparison, "Ir")["verdict"], "undecided");  // it does not say that its counts are exact
  EXPECT_EQ(row(comparison, "Ir")["change"], 0);
  EXPECT_GT(row(comparison, "Ir")["before"].get<std::int64_t>(), 10'000);
}

TEST(CompareInputs, reports_damaged_files_of_other_tools) {
  const auto refused = [](const std::string& damaged, const std::string& good) {
    const TemporaryFile bad("bad", damaged), other("good", good);
    const Finished finished = tally({"compare", other.path(), bad.path()});
    EXPECT_EQ(finished.code(), 2) << finished.out;
    EXPECT_NE(finished.err.find(bad.path()), std::string::npos) << finished.err;
  };
  refused("# callgrind format\nevents: Ir\nfn=(1) f\n1 x\n", callgrind(1));
  refused("# callgrind format\nevents: Ir\n1 5\n", callgrind(1));
  refused("# callgrind format\nevents: Ir\n", callgrind(1));
  refused(R"({"results":[{"command":"a","mean":1}]})", hyperfine(1));
  refused(R"({"context":{},"benchmarks":[{"name":1,"real_time":"x"}]})", google_benchmark(1, 1));
  refused(R"({"context":{},"benchmarks":[]})", google_benchmark(1, 1));
  refused(R"({"counter-value":"1","event":3})", perf_json(1, 1));
  refused(R"({"counter-value":"1e300","event":"instructions:u"})", perf_json(1, 1));
  refused(hyperfine(1e200), hyperfine(1));
  refused("# callgrind format\nevents: Ir\nfn=(1) f\n1 9223372036854775807\n1 1\n", callgrind(1));
}

TEST(CompareInputs, names_the_tool_of_a_file_that_ends_early) {
  const std::pair<std::string, const char*> whole[] = {
      {R"({"context":{"executable":"./bench"},"benchmarks":[{"name":"a","real_time":1},{"name":"b"}]})",
       "a result of google-benchmark"},
      {hyperfine(1), "a result of hyperfine"},
      {pytest_benchmark(rounds(1)), "a result of pytest-benchmark"},
      {criterion(1), "a result of Criterion"},
      {perf_json(1, 1), "a result of perf stat -j"},
      {callgrind(1), "a complete file of callgrind"}};
  for (const auto& [text, tool] : whole)
    for (const std::size_t part : {2, 3}) {
      const TemporaryFile file("result", text.substr(0, text.size() * part / 4 - 3));
      const Finished finished = tally({"compare", file.path(), file.path()});
      EXPECT_EQ(finished.code(), 2) << finished.out;
      EXPECT_NE(finished.err.find(tool), std::string::npos) << finished.err;
      EXPECT_NE(finished.err.find("ends early"), std::string::npos) << finished.err;
    }
}

// Checks that a quantity has no value in the result after, for this reason, and that a gate on it is undecided.
void expect_not_counted(const std::string& before, const std::string& after, const std::string& event,
                        const std::string& of, const std::string& reason) {
  const json one = row(compared(before, after), event, of);
  EXPECT_TRUE(one["before"].is_number()) << one;
  EXPECT_TRUE(one["after"].is_null()) << one;
  EXPECT_EQ(one["verdict"], "undecided") << one;
  EXPECT_NE(one["reason"].dump().find(reason), std::string::npos) << one;
  const TemporaryFile old_file("old", before), new_file("new", after);
  const Finished gated = tally({"compare", old_file.path(), new_file.path(), "--fail-above", event + "=5%"});
  EXPECT_EQ(gated.code(), 3) << gated.out;
  EXPECT_NE(gated.out.find("undecided: " + event), std::string::npos) << gated.out;
  // The table shows the row without --all.
  const Finished table = tally({"compare", old_file.path(), new_file.path()});
  EXPECT_NE(table.out.find(reason), std::string::npos) << table.out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// google-benchmark's form of two benchmarks. `change`: changes the ten runs of the second one, by their number.
std::string two_benchmarks(const std::function<void(json&, int)>& change = {}) {
  json runs = json::array();
  for (int family = 0; family < 2; ++family)
    for (int i = 0; i < 10; ++i) {
      const double ns = (family + 1) * 100 * around(1)[static_cast<std::size_t>(i)];
      json run{{"name", family == 0 ? "first" : "second"},
               {"family_index", family},
               {"per_family_instance_index", 0},
               {"run_type", "iteration"},
               {"repetitions", 10},
               {"repetition_index", i},
               {"iterations", 100},
               {"real_time", ns},
               {"cpu_time", ns},
               {"time_unit", "ns"},
               {"rate", 0.5}};
      if (change && family == 1) change(run, i);
      if (!run.is_null()) runs.push_back(std::move(run));
    }
  return json{{"context", {{"executable", "./bench"}}}, {"benchmarks", runs}}.dump();
}

TEST(CompareInputs, compares_no_benchmark_that_did_not_run) {
  const std::string before = two_benchmarks();
  const auto expect = [&](const std::string& reason, const std::function<void(json&, int)>& change) {
    expect_not_counted(before, two_benchmarks(change), "real_time", "second", reason);
  };
  expect("skipped: no input", [](json& run, int) {
    run.update({{"skipped", true}, {"skip_message", "no input"}, {"real_time", 0.0}, {"cpu_time", 0.0}});
    run.erase("rate");
  });
  expect("failed in 1 of 10 runs: no input", [](json& run, int number) {
    if (number == 7) run.update({{"error_occurred", true}, {"error_message", "no input"}});
  });
  expect("it is not in the result", [](json& run, int) { run = nullptr; });
  expect("several benchmarks have this name", [](json& run, int number) { run["family_index"] = 1 + number % 2; });
  expect("several benchmarks have this name", [](json& run, int number) { run["repetition_index"] = number / 2; });
  expect("the unit 'min' is unknown", [](json& run, int) { run["time_unit"] = "min"; });
  expect("'null' is not a number", [](json& run, int) { run["real_time"] = nullptr; });
  // A counter of a benchmark that failed has no value either.
  const std::string failed = two_benchmarks([](json& run, int) {
    run.update({{"error_occurred", true}, {"error_message", "no input"}});
    run.erase("rate");
  });
  expect_not_counted(before, failed, "rate", "second", "it is not in the result");
  EXPECT_EQ(row(compared(failed, before), "rate", "second")["verdict"], "undecided");
  // The library writes these words, and decimal commas in other locales, which are not JSON.
  for (const char* const word : {"NaN", "-NaN", "Infinity", "-Infinity", "1,5e+02"})
    for (const char* const key : {"real_time", "rate"}) {
      const auto one_run = [&](json& run, int number) {
        if (number == 3) run[key] = "@";
      };
      expect_not_counted(before, replaced(two_benchmarks(one_run), "\"@\"", word), key, "second",
                         fmt::format("'{}' is not a number", word));
    }
}

TEST(CompareInputs, reads_aggregates_next_to_a_benchmark_that_failed) {
  const auto medians = [](bool failed) {
    json runs = json::array({{{"name", "first_median"},
                              {"run_name", "first"},
                              {"run_type", "aggregate"},
                              {"aggregate_name", "median"},
                              {"real_time", 5.0},
                              {"time_unit", "ns"}}});
    if (failed)  // the library then writes the runs
      runs.push_back({{"name", "second"},
                      {"run_name", "second"},
                      {"run_type", "iteration"},
                      {"real_time", 0.0},
                      {"error_occurred", true},
                      {"error_message", "no input"}});
    else
      runs.push_back({{"name", "second_median"},
                      {"run_name", "second"},
                      {"run_type", "aggregate"},
                      {"aggregate_name", "median"},
                      {"real_time", 9.0},
                      {"time_unit", "ns"}});
    return json{{"context", {{"executable", "./bench"}}}, {"benchmarks", runs}}.dump();
  };
  expect_not_counted(medians(false), medians(true), "real_time", "second", "failed: no input");
  EXPECT_EQ(row(compared(medians(false), medians(true)), "real_time", "first")["after"], 5.0);
}

std::string hyperfine_results(const std::vector<std::pair<std::string, json>>& commands_and_codes) {
  json results = json::array();
  for (const auto& [command, codes] : commands_and_codes)
    results.push_back({{"command", command},
                       {"mean", 0.1},
                       {"median", 0.1},
                       {"user", 0.1},
                       {"times", around(0.1)},
                       {"exit_codes", codes}});
  return json{{"results", results}}.dump();
}

TEST(CompareInputs, compares_no_rounds_that_are_no_numbers) {
  const std::string before = pytest_benchmark(rounds(0.5));
  std::string no_number = before;
  const auto at = no_number.rfind("0.4");
  ASSERT_NE(at, std::string::npos);
  no_number.replace(at, no_number.find_first_of(",]", at) - at, "NaN");
  expect_not_counted(before, no_number, "time", "test_a.py::test_parse", "NaN");
  json repeated = json::parse(before);
  repeated["benchmarks"].push_back(repeated["benchmarks"][0]);
  expect_not_counted(before, repeated.dump(), "time", "test_a.py::test_parse", "several benchmarks");
}

TEST(CompareInputs, compares_no_command_whose_runs_failed) {
  const json success = std::vector<int>(10, 0), crashes = std::vector<int>(10, 139), signals(10, nullptr);
  json one_failed = success;
  one_failed[4] = 2;
  const std::string before = hyperfine_results({{"./prog", success}});
  for (const auto& [codes, reason] : {std::pair{crashes, "with exit code 139 after"},
                                      {signals, "with a signal after"},
                                      {one_failed, "1 of 10 runs failed: exit code 2"}}) {
    for (const char* const event : {"time", "user"})
      expect_not_counted(before, hyperfine_results({{"./prog", codes}}), event, "", reason);
    const std::string two = hyperfine_results({{"./prog", success}, {"./other", success}});
    expect_not_counted(two, hyperfine_results({{"./prog", codes}, {"./other", success}}), "time", "./prog", reason);
  }
  const json warnings = compared(before, hyperfine_results({{"./prog", crashes}}))["warnings"];
  EXPECT_NE(warnings.dump().find("10 of 10 runs failed: exit code 139"), std::string::npos) << warnings;
  // A program that ends with the same code in every run of both results is compared, as in results of tally.
  const std::string found_nothing = hyperfine_results({{"grep x file", std::vector<int>(10, 1)}});
  EXPECT_EQ(row(compared(found_nothing, found_nothing), "time")["verdict"], "same");
  // hyperfine ends at the first failure, and exports the commands before it.
  const std::string three = hyperfine_results({{"a", success}, {"b", success}, {"c", success}});
  expect_not_counted(three, hyperfine_results({{"a", success}, {"b", success}}), "time", "c", "not in the result");
  expect_not_counted(three, hyperfine_results({{"a", success}, {"b", success}, {"b", success}, {"c", success}}), "time",
                     "b", "several results have this name");
  expect_not_counted(before, replaced(before, "\"times\":[", "\"times\":[null,"), "time", "", "'null' is not a number");
}

TEST(CompareInputs, compares_commands_of_hyperfine_by_their_text) {
  const json success = std::vector<int>(10, 0);
  const std::string one = hyperfine_results({{"./prog input", success}});
  const std::string two = hyperfine_results({{"./other", success}, {"./prog input", success}});
  const json larger = compared(one, two);
  EXPECT_EQ(row(larger, "time", "./prog input")["verdict"], "same");
  EXPECT_NE(larger["warnings"].dump().find("only in the result after: time of ./other"), std::string::npos) << larger;
  const json smaller = compared(two, one);
  EXPECT_EQ(row(smaller, "time", "./prog input")["verdict"], "same");
  expect_not_counted(two, one, "time", "./other", "it is not in the result");
  // The results of one command are compared by position.
  json slower = json::parse(hyperfine_results({{"./prog", success}, {"./prog", success}}));
  const std::string before = slower.dump();
  slower["results"][1]["times"] = around(0.2);
  const json twice = compared(before, slower.dump());
  EXPECT_EQ(row(twice, "time", "./prog #1")["verdict"], "same");
  EXPECT_EQ(row(twice, "time", "./prog #2")["verdict"], "worse");
  EXPECT_NE(twice["warnings"].dump().find("compared by position"), std::string::npos) << twice;
}

TEST(CompareInputs, compares_no_event_that_perf_did_not_count) {
  const std::string before = perf_json(1e6, 10);
  const auto expect = [&](const std::string& after, const std::string& reason) {
    expect_not_counted(before, after, "instructions:u", "", reason);
  };
  const std::string one_value = std::to_string(1e6 * around(1)[3]);
  expect(replaced(before, one_value, "<not counted>"), "1 of 10 runs: perf wrote <not counted>");
  expect(replaced(before, ".", ","), "LC_ALL=C");  // as in a locale with decimal commas
  // The same event twice in each of ten runs is not twenty runs, with and without the comments.
  std::string twice, uncommented;
  for (const std::string& line : split(before, '\n')) {
    const std::string lines = (line + "\n") + (line.find("instructions:u") != line.npos ? line + "\n" : "");
    twice += lines;
    if (line.starts_with('{')) uncommented += lines;
  }
  expect(twice, "the event is several times in one run");
  expect(uncommented, "the event is several times in one run");
  // Control groups of one CPU are different counts.
  const auto groups = [&](double b) {
    std::string text;
    for (const auto& [group, count] : {std::pair{"a", 1e6}, {"b", b}})
      text +=
          replaced(perf_json(count, 1), R"({"counter)", fmt::format(R"({{"cpu":"0","cgroup":"{}","counter)", group));
    return text;
  };
  EXPECT_EQ(row(compared(groups(2e6), groups(3e6)), "instructions:u", "0 b")["before"].get<double>(), 2e6 * 0.9955);
}

TEST(CompareInputs, reads_windows) {
  const TemporaryFile windows("windows.csv");
  ASSERT_EQ(tally({"sample", "-q", "--repeatable", "--every", "10000", "-e", "instructions,loads", "-o", windows.path(),
                   "--", "true"})
                .code(),
            0);
  const std::string meta = TemporaryFile::read(windows.path() + ".meta.json").value_or("");
  const Finished same = tally({"compare", "--all", "--format", "json", windows.path(), windows.path()});
  EXPECT_EQ(same.code(), 0) << same.err;
  const json comparison = json::parse(same.out, nullptr, false);
  EXPECT_EQ(row(comparison, "instructions:u")["verdict"], "undecided") << "windows do not say whether they repeat";
  EXPECT_EQ(row(comparison, "instructions:u")["trust"], "exact");
  EXPECT_GT(row(comparison, "instructions:u")["before"].get<std::int64_t>(), 10'000);
}

std::string regions(std::int64_t instructions) {
  return R"({"schema":"tally-regions/1","pid":1,"command":["./prog"],"regions":[{"region":"parse","entries":10,)"
         R"("recursive":0,"dropped":0,"open":0,"events":[{"event":"instructions:u","value":)" +
         std::to_string(instructions) +
         R"(,"trust":"exact","reason":null,"source":"engine","min":1,"max":2,"overhead":0,"uncertainty":0,)"
         R"("overhead_percent":0,"too_small":false}],"metrics":[{"metric":"IPC","formula":"instructions:u / cycles:u",)"
         R"("unit":null,"event":"cycles:u","per":null,"asked":false,"value":)" +
         std::to_string(static_cast<double>(instructions) / 500) +
         R"(,"trust":"exact","reason":null,"model":null}],"threads":[]}]})";
}

TEST(CompareInputs, reads_regions) {
  const json comparison = compared(regions(1000), regions(1010));
  EXPECT_EQ(row(comparison, "instructions:u", "parse")["change"], 10);
  EXPECT_EQ(row(comparison, "instructions:u", "parse")["verdict"], "undecided");
  EXPECT_NEAR(row(comparison, "IPC", "parse")["change"].get<double>(), 0.02, 1e-9);
  const TemporaryFile before("old", regions(1000)), after("new", regions(1010));
  EXPECT_EQ(tally({"compare", before.path(), after.path(), "--fail-above", "instructions@parse=0.5%"}).code(), 3)
      << "one run that is not known to be repeatable";
}

TEST(CompareInputs, reads_results_of_memory) {
  const TemporaryFile file("memory.json");
  // On a busy machine it exits with 1, and the file says so.
  const Finished measured =
      tally({"memory", "curve", "--from", "4K", "--to", "8K", "--time-budget", "2", "-o", file.path()});
  ASSERT_TRUE(file.content()) << measured.err;
  const json comparison = compared(*file.content(), *file.content());
  ASSERT_FALSE(comparison["events"].empty());
  for (const json& one : comparison["events"]) EXPECT_NE(one["verdict"], "worse") << one;
}

TEST(CompareInputs, compares_lines_processes_and_threads) {
  const auto counted = [](const std::string& command) {
    const TemporaryFile file("profile.json");
    EXPECT_EQ(tally({"profile", "-q", "--repeatable", "-o", file.path(), "--", "sh", "-c", command}).code(), 0);
    return file.content().value_or("");
  };
  const std::string loop = "i=0; while [ $i -lt \"$0\" ]; do i=$((i + 1)); done";
  const auto profile = [&](const std::string& rounds) {
    return counted("sh -c '" + loop + "' " + rounds + "; env true");
  };
  const TemporaryFile before("old.json", profile("1000")), after("new.json", profile("1100"));
  const Words files{before.path(), after.path(), "--force"};
  const json comparison = json::parse(tally(with({"compare", "--format", "json"}, files)).out, nullptr, false);
  ASSERT_FALSE(comparison["processes"].empty()) << comparison["warnings"];
  EXPECT_EQ(comparison["processes"][0]["process"], "sh #2");
  EXPECT_EQ(comparison["processes"][0]["verdict"], "undecided") << "the processes may affect each other";
  EXPECT_EQ(comparison["threads"][0]["thread"], "sh: sh #2");
  const Finished table = tally(with({"compare", "--by", "process"}, files));
  EXPECT_NE(table.out.find("sh #2"), std::string::npos) << table.out;
  EXPECT_EQ(tally(with({"compare", "--by", "proces"}, files)).code(), 2);
}

TEST(CompareInputs, notes_that_only_one_result_is_repeatable) {
  const TemporaryFile plain("old.json"), repeatable("new.json");
  ASSERT_EQ(tally({"stat", "-q", "-e", "instructions", "-o", plain.path(), "--", "true"}).code(), 0);
  ASSERT_EQ(tally({"stat", "-q", "-e", "instructions", "--repeatable", "-o", repeatable.path(), "--", "true"}).code(),
            0);
  const auto warnings = [](const TemporaryFile& before, const TemporaryFile& after) {
    return compared(*before.content(), *after.content())["warnings"].dump();
  };
  EXPECT_NE(warnings(plain, repeatable).find("--repeatable (off → on)"), std::string::npos);
  EXPECT_NE(warnings(repeatable, plain).find("--repeatable (on → off)"), std::string::npos);
  EXPECT_EQ(warnings(plain, plain), "[]");
}

}  // namespace
}  // namespace tally::test
