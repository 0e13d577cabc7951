#include "tally/output/analysis/comparison.hpp"
#include "tally/core/base/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/core/stats/portable_random.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kit/markdown.hpp"

namespace tally::output {
namespace {

using result::EventCount;
using result::Stat;
using Values = std::vector<std::int64_t>;

struct Series {
  std::string event;
  Values values;  ///< one for each run
  Trust trust = Trust::exact;
};

EventCount count_of(const Series& series, std::int64_t value) {
  EventCount count;
  count.event = series.event;
  count.name = split_event_name(series.event);
  count.count.value = value;
  count.count.trust = series.trust;
  if (series.trust == Trust::modelled) count.count.model = "haswell";
  return count;
}

Stat stat_of(const std::vector<Series>& all, const std::string& cpu = "cpu A") {
  Stat stat;
  stat.command = {"/old/prog", "input"};
  stat.environment.cpu = cpu;
  stat.runs.resize(all.front().values.size());
  for (const Series& series : all) {
    Values sorted = series.values;
    std::sort(sorted.begin(), sorted.end());
    stat.events.push_back({.total = count_of(series, sorted[(sorted.size() - 1) / 2]), .summary = {}});
    for (std::size_t i = 0; i < series.values.size(); ++i)
      stat.runs[i].counts.push_back(count_of(series, series.values[i]));
  }
  return stat;
}

ComparedCount compared(const Series& before, const Series& after, const std::string& cpu = "cpu A") {
  const Comparable old_result = *comparable_of(stat_of({before})), new_result = *comparable_of(stat_of({after}, cpu));
  return compare(old_result, new_result)->counts.at(0);
}

TEST(Comparison, of_other_counts_needs_runs) {
  const ComparedCount once = compared({"cycles:u", {1000}, Trust::counted}, {"cycles:u", {2000}, Trust::counted});
  EXPECT_EQ(once.verdict, Verdict::undecided);
  EXPECT_NE(once.reason.find("-r 10"), std::string::npos) << once.reason;
  const Series low{"cycles:u", {1000, 1003, 1001, 1002, 1004}, Trust::counted};
  const Series high{"cycles:u", {1100, 1103, 1101, 1102, 1104}, Trust::counted};
  EXPECT_EQ(compared(low, high).verdict, Verdict::worse);
  EXPECT_EQ(compared(high, low).verdict, Verdict::better);
  EXPECT_EQ(compared(low, low).verdict, Verdict::same);
  EXPECT_EQ(compared(low, high, "cpu B").verdict, Verdict::undecided);
}

TEST(Comparison, of_exact_counts_that_vary_is_by_rank) {
  const Series before{"instructions:u", {1000, 1010, 1005, 1020, 1015, 1003}};
  const Series after{"instructions:u", {1002, 1008, 1013, 1019, 1001, 1011}};
  EXPECT_EQ(compared(before, after).verdict, Verdict::same);
}

TEST(Comparison, of_identical_builds_finds_few_differences) {
  discover::Random random(7, {1});
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    Series before{"cycles:u", {}, Trust::counted}, after = before;
    for (int j = 0; j < 10; ++j)
      for (Series* const series : {&before, &after})
        series->values.push_back(std::llround(1e6 * (1 + 0.05 * random.normal())));
    const Verdict verdict = compared(before, after).verdict;
    found += verdict == Verdict::worse || verdict == Verdict::better;
  }
  EXPECT_LE(found, 6);
}

TEST(Comparison, of_slower_builds_finds_them) {
  discover::Random random(8, {1});
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    Series before{"cycles:u", {}, Trust::counted}, after = before;
    for (int j = 0; j < 10; ++j) {
      before.values.push_back(std::llround(1e6 * (1 + 0.05 * random.normal())));
      after.values.push_back(std::llround(1.15e6 * (1 + 0.05 * random.normal())));
    }
    found += compared(before, after).verdict == Verdict::worse;
  }
  EXPECT_GE(found, 95);
}

// Timings with 5 % noise, 100 pairs each: no change, 15 % slower, 15 % faster.
TEST(Comparison, of_noisy_times_is_right_in_95_of_100) {
  const auto verdicts = [](double factor, Verdict wanted) {
    discover::Random random(2026, {static_cast<std::uint64_t>(factor * 1000)});
    int found = 0;
    for (int i = 0; i < 100; ++i) {
      Series before{"duration_time", {}, Trust::counted}, after = before;
      for (int j = 0; j < 10; ++j) {
        before.values.push_back(std::llround(1e9 * (1 + 0.05 * random.normal())));
        after.values.push_back(std::llround(1e9 * factor * (1 + 0.05 * random.normal())));
      }
      const ComparedCount row = compared(before, after);
      found += row.verdict == wanted;
      // A verdict and its interval do not contradict each other.
      EXPECT_EQ(row.verdict == Verdict::same, row.interval->low <= 0 && row.interval->high >= 0);
    }
    return found;
  };
  EXPECT_GE(verdicts(1.0, Verdict::same), 95);
  EXPECT_GE(verdicts(1.15, Verdict::worse), 95);
  EXPECT_GE(verdicts(0.85, Verdict::better), 95);
}

TEST(Comparison, with_one_run_of_a_time_is_undecided) {
  discover::Random random(5, {1});
  for (int i = 0; i < 100; ++i) {
    const Series before{"duration_time", {std::llround(1e9 * (1 + 0.05 * random.normal()))}, Trust::counted};
    const Series after{"duration_time", {std::llround(2e9 * (1 + 0.05 * random.normal()))}, Trust::counted};
    EXPECT_EQ(compared(before, after).verdict, Verdict::undecided);
  }
}

TEST(Comparison, refuses_other_programs) {
  const Comparable one = *comparable_of(stat_of({{"instructions:u", {1}}}));
  Comparable other = one;
  other.command = {"/new/prog", "input"};
  EXPECT_FALSE(not_comparable(one, other));
  other.command = {"/new/prog", "other input"};
  EXPECT_TRUE(not_comparable(one, other));
  EXPECT_TRUE(not_comparable(one, other, true));
  other.command = {"/new/program", "input"};
  ASSERT_TRUE(not_comparable(one, other));
  EXPECT_EQ(not_comparable(one, other)->hint, "their names differ: a gate needs --force");
  EXPECT_FALSE(not_comparable(one, other, true));
  EXPECT_EQ(compare(one, other)->warnings,
            std::vector<std::string>{"the programs have different names: prog and program"});
  EXPECT_FALSE(compare(one, *comparable_of(stat_of({{"loads:u", {1}}}))));
}

TEST(Gates, are_parsed) {
  const auto gate = parse_gate("branch-misses@parse(int)=5%", true);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->event, "branch-misses");
  EXPECT_EQ(gate->function, "parse(int)");
  EXPECT_DOUBLE_EQ(gate->limit, 0.05);
  EXPECT_TRUE(gate->is_relative);
  EXPECT_EQ(parse_gate("page-faults=100", true)->limit, 100);
  EXPECT_EQ(parse_gate("real_time=0.5ms", true)->limit, 500'000);
  EXPECT_EQ(parse_gate("real_time=5us", true)->limit, 5000);
  for (const char* wrong : {"", "=", "instructions", "instructions=", "instructions=x", "instructions=1%%",
                            "instructions=-1%", "=1%", "instructions@=1%", "instructions=nan", "instructions=inf%",
                            "time=5min", "time=ms", "time=5m s", "instructions=5%s"})
    EXPECT_FALSE(parse_gate(wrong, true)) << wrong;
}

/// One run with --repeatable of a program with one thread.
Comparable repeatable(const Series& series) {
  Stat stat = stat_of({series});
  stat.environment.provenance.command_line = {"tally", "stat", "--repeatable", "--", "/old/prog", "input"};
  for (result::Run& run : stat.runs) run.process_count = run.thread_count = 1;
  return *comparable_of(stat);
}

GateResult judged(const std::string& text, const Comparable& before, const Comparable& after) {
  static Comparison comparison;
  comparison = *compare(before, after);
  return evaluate({*parse_gate(text, true)}, comparison)->front();
}

ComparedCount of_repeatable(std::int64_t before, std::int64_t after) {
  const Comparable old_result = repeatable({"instructions:u", {before}});
  return compare(old_result, repeatable({"instructions:u", {after}}))->counts.at(0);
}

TEST(Comparison, of_repeatable_exact_counts_needs_no_statistics) {
  EXPECT_EQ(of_repeatable(1000, 1001).verdict, Verdict::worse);
  EXPECT_EQ(of_repeatable(1000, 999).verdict, Verdict::better);
  EXPECT_EQ(of_repeatable(1000, 1000).verdict, Verdict::same);
  // Counts above 2^53, which a double cannot represent.
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(of_repeatable(large, large + 1).verdict, Verdict::worse);
  EXPECT_EQ(change_text(of_repeatable(large, large + 1)), "+1");
}

TEST(Comparison, of_single_runs_that_may_differ_is_undecided_as_its_gates_are) {
  const ComparedCount once = compared({"instructions:u", {1000}}, {"instructions:u", {2000}});
  EXPECT_EQ(once.verdict, Verdict::undecided);
  EXPECT_EQ(once.reason, "one run on each side: count both with --repeatable, or 5 times (-r 5)");
  EXPECT_EQ(compared({"instructions:u", {7, 7}}, {"instructions:u", {8, 8}}).verdict, Verdict::undecided);
  EXPECT_EQ(compared({"instructions:u", {7, 7, 7, 7}}, {"instructions:u", {8, 8, 8, 8}}).verdict, Verdict::worse);
}

TEST(Gates, fail_above_their_limit) {
  const Comparable before = repeatable({"instructions:u", {1000}}), after = repeatable({"instructions:u", {1010}});
  using State = GateResult::State;
  EXPECT_EQ(judged("instructions=1%", before, after).state, State::passed);
  EXPECT_EQ(judged("instructions=0.9%", before, after).state, State::failed);
  EXPECT_EQ(judged("instructions:u=9", before, after).state, State::failed);
  EXPECT_EQ(judged("instructions:u=10", before, after).state, State::passed);
  EXPECT_EQ(judged("instructions=0%", after, before).state, State::passed);
  EXPECT_FALSE(evaluate({*parse_gate("loads=1%", true)}, *compare(before, after)));
  EXPECT_FALSE(evaluate({*parse_gate("instructions@f=1%", true)}, *compare(before, after)));
}

TEST(Gates, do_not_pass_what_is_undecided) {
  const Comparable before = *comparable_of(stat_of({{"cycles:u", {1000}, Trust::counted}}));
  const Comparable after = *comparable_of(stat_of({{"cycles:u", {2000}, Trust::counted}}));
  EXPECT_EQ(judged("cycles=1%", before, after).state, GateResult::State::undecided);
  EXPECT_EQ(judged("cycles=200%", before, after).state, GateResult::State::undecided);
}

TEST(Gates, decide_single_runs_only_if_they_repeat) {
  using State = GateResult::State;
  const Comparable plain = *comparable_of(stat_of({{"instructions:u", {1000}}})),
                   more = *comparable_of(stat_of({{"instructions:u", {1800}}}));
  EXPECT_EQ(judged("instructions=1%", plain, more).state, State::undecided);
  const GateResult passed =
      judged("instructions=1%", repeatable({"instructions:u", {1000}}), repeatable({"instructions:u", {1001}}));
  EXPECT_EQ(passed.state, State::passed);
  EXPECT_NE(passed.text.find("by one run each"), std::string::npos) << passed.text;
  EXPECT_EQ(judged("L1-dcache-load-misses=1%", repeatable({"L1-dcache-load-misses", {1000}, Trust::modelled}),
                   repeatable({"L1-dcache-load-misses", {1020}, Trust::modelled}))
                .state,
            State::failed);
  Comparable threads = repeatable({"instructions:u", {1000}});
  threads.is_single_threaded = false;
  EXPECT_EQ(judged("instructions=1%", threads, threads).state, State::undecided);
}

TEST(Gates, judge_the_interval_of_results_without_runs) {
  const auto timed = [](Value value) {
    Comparable result = *comparable_of(stat_of({{"time", {static_cast<std::int64_t>(value)}, Trust::counted}}));
    result.measures.front().runs.clear();
    result.measures.front().interval = ValueInterval{value - 10, value + 10};
    return result;
  };
  using State = GateResult::State;
  EXPECT_EQ(judged("time=5%", timed(1000), timed(1100)).state, State::failed);
  EXPECT_EQ(judged("time=5%", timed(1000), timed(1010)).state, State::passed);
  EXPECT_EQ(judged("time=1%", timed(1000), timed(1010)).state, State::undecided);
  EXPECT_EQ(judged("time=50", timed(1000), timed(1100)).state, State::failed);
}

/// Estimated cycles of a program of 1,000,000 instructions, which may be 6 % less or more.
Comparable estimated(const Values& cycles) {
  Stat stat = stat_of({{"instructions:u", Values(cycles.size(), 1'000'000)},
                       {"cycles:u", Values(cycles.size(), 600'000), Trust::modelled},
                       {"core-cycles-estimate", cycles, Trust::estimated}});
  stat.events.back().total.count.error_percent = 6;
  const auto add_metric = [&](const char* name, const char* formula, double value, Trust trust) {
    result::Metric metric;
    metric.name = name;
    metric.formula = formula;
    metric.ratio = {value, trust, "", ""};
    stat.metrics.push_back(std::move(metric));
  };
  const double value = static_cast<double>(cycles.front());
  add_metric("estimated-IPC", "instructions:u / core-cycles-estimate", 1e6 / value, Trust::estimated);
  add_metric("model-error", "cycles:u / core-cycles-estimate - 1", 6e5 / value - 1, Trust::modelled);
  return *comparable_of(stat);
}

ValueInterval interval_of(const Comparable& comparable, const std::string& name) {
  for (const Measure& measure : comparable.measures)
    if (measure.name == name && measure.bounds) return *measure.bounds;
  return {};
}

TEST(Estimates, have_intervals_and_so_have_their_metrics) {
  const Comparable one = estimated({1'000'000});
  EXPECT_NEAR(static_cast<double>(interval_of(one, "core-cycles-estimate").low), 940'000, 1);
  EXPECT_NEAR(static_cast<double>(interval_of(one, "core-cycles-estimate").high), 1'060'000, 1);
  EXPECT_NEAR(static_cast<double>(interval_of(one, "estimated-IPC").low), 1 / 1.06, 1e-6);
  EXPECT_NEAR(static_cast<double>(interval_of(one, "estimated-IPC").high), 1 / 0.94, 1e-6);
  EXPECT_NEAR(static_cast<double>(interval_of(one, "model-error").low), 0.6 / 1.06 - 1, 1e-6);
  EXPECT_NEAR(static_cast<double>(interval_of(one, "model-error").high), 0.6 / 0.94 - 1, 1e-6);
}

// Runs that agree do not make an estimate better: all have the same error. One run has the error of this run alone:
// the next one of the same program may take more cycles.
TEST(Estimates, are_never_decided_within_their_interval) {
  using State = GateResult::State;
  for (const std::size_t runs : {1U, 4U}) {
    const Comparable before = estimated(Values(runs, 1'000'000)), much = estimated(Values(runs, 1'300'000));
    for (const char* gate : {"core-cycles-estimate=1%", "estimated-IPC=1%", "model-error=1%"})
      EXPECT_EQ(judged(gate, before, much).state, State::undecided) << gate << " in runs: " << runs;
    EXPECT_EQ(compare(before, much)->counts.at(2).verdict, Verdict::undecided);
  }
  for (const std::size_t runs : {5U, 20U}) {
    const Comparable before = estimated(Values(runs, 1'000'000)), slightly = estimated(Values(runs, 1'040'000)),
                     much = estimated(Values(runs, 1'300'000)), less = estimated(Values(runs, 700'000));
    for (const char* event : {"core-cycles-estimate", "estimated-IPC", "model-error"}) {
      const std::string name = event;
      EXPECT_EQ(judged(name + "=1%", before, slightly).state, State::undecided) << name << " in runs: " << runs;
      EXPECT_EQ(judged(name + "=1%", before, before).state, State::undecided) << name << " in runs: " << runs;
    }
    EXPECT_EQ(judged("core-cycles-estimate=50%", before, slightly).state, State::passed);
    EXPECT_EQ(judged("core-cycles-estimate=1%", before, much).state, State::failed);
    EXPECT_EQ(judged("core-cycles-estimate=1%", before, less).state, State::passed);
    EXPECT_EQ(compare(before, slightly)->counts.at(2).verdict, Verdict::same);
  }
}

// How an estimate is divided among functions is modelled, with an unknown error.
TEST(Estimates, of_functions_are_not_decided) {
  const auto profile = [](std::int64_t cycles_of_hot) {
    result::Profile profile;
    profile.stat = stat_of({{"core-cycles-estimate", {1'000'000 + cycles_of_hot}, Trust::estimated}});
    profile.owners.push_back({1, "prog", 1, ""});
    profile.objects.push_back({"/bin/prog"});
    profile.sources.emplace_back();
    for (const std::uint32_t function : {0U, 1U}) {
      profile.functions.push_back({function == 0 ? "hot" : "main", 0});
      profile.rows.emplace_back().function = function;
      profile.counts.push_back(function == 0 ? cycles_of_hot : 1'000'000);
    }
    profile.repeated = profile.unplaced = {0};
    return *comparable_of(profile);
  };
  const Comparable before = profile(1'000'000), after = profile(5'000'000);
  const GateResult gate = judged("core-cycles-estimate@hot=1%", before, after);
  EXPECT_EQ(gate.state, GateResult::State::undecided);
  EXPECT_NE(gate.text.find("only the total of an estimate has an error bound"), std::string::npos) << gate.text;
}

TEST(Gates, limit_times_with_a_unit) {
  using State = GateResult::State;
  const auto timed = [](std::int64_t milliseconds) {
    Series series{"task-clock", {}, Trust::counted};
    for (int i = 0; i < 10; ++i) series.values.push_back(milliseconds * 1'000'000 + i * 10'000);
    Comparable result = *comparable_of(stat_of({series}));
    result.measures.front().unit = Unit::nanoseconds;
    return result;
  };
  const Comparable before = timed(100), after = timed(103);
  EXPECT_EQ(judged("task-clock=5ms", before, after).state, State::passed);
  const GateResult failed = judged("task-clock=2000us", before, after);
  EXPECT_EQ(failed.state, State::failed);
  EXPECT_NE(failed.text.find("(99 % interval: +2.9"), std::string::npos) << failed.text;
  EXPECT_NE(failed.text.find(" ms to +3.0"), std::string::npos) << failed.text;
  const Comparison comparison = *compare(before, after);
  const auto bare = evaluate({*parse_gate("task-clock=5", true)}, comparison);
  ASSERT_FALSE(bare);
  EXPECT_NE(bare.error().message.find("needs a unit"), std::string::npos) << bare.error().message;
  EXPECT_NE(bare.error().hint.find("task-clock=5ms"), std::string::npos) << bare.error().hint;
  const Comparable counts = *comparable_of(stat_of({{"instructions:u", {1000}}}));
  EXPECT_FALSE(evaluate({*parse_gate("instructions=5ms", true)}, *compare(counts, counts)));
}

TEST(Gates, decide_by_thousands_of_runs) {
  Series old_runs{"time", {}, Trust::counted};
  for (int i = 0; i < 20'000; ++i) old_runs.values.push_back(100'000 + i * 7919 % 1000);
  Series new_runs = old_runs;
  for (auto& value : new_runs.values) value += 3000;
  const Comparable before = *comparable_of(stat_of({old_runs})), after = *comparable_of(stat_of({new_runs}));
  EXPECT_EQ(judged("time=1%", before, after).state, GateResult::State::failed);
  EXPECT_EQ(judged("time=5%", before, after).state, GateResult::State::passed);
}

// Rows of other events do not matter to a gate: 5 runs against 5 of 18 events.
TEST(Gates, do_not_pass_a_large_change_among_many_rows) {
  std::vector<Series> old_rows, new_rows;
  for (int i = 0; i < 18; ++i) {
    old_rows.push_back({"event-" + std::to_string(i), {1000, 1001, 1003, 1002, 1005}});
    new_rows.push_back(old_rows.back());
  }
  new_rows[7].values = {1800, 1801, 1802, 1803, 1805};
  const Comparable before = *comparable_of(stat_of(old_rows)), after = *comparable_of(stat_of(new_rows));
  const GateResult result = judged("event-7=1%", before, after);
  EXPECT_EQ(result.state, GateResult::State::failed) << result.text;
  EXPECT_EQ(judged("event-8=1%", before, after).state, GateResult::State::passed);
  EXPECT_EQ(compare(before, after)->counts[7].verdict, Verdict::worse);
}

TEST(Gates, are_undecided_if_settings_differ) {
  const Comparable before = repeatable({"instructions:u", {1000}});
  Comparable after = before;
  for (Setting& setting : after.settings)
    if (setting.name == "--cpu-model") setting.value = "haswell";
  const GateResult result = judged("instructions=1%", before, after);
  EXPECT_EQ(result.state, GateResult::State::undecided);
  EXPECT_NE(result.text.find("--cpu-model differs"), std::string::npos) << result.text;
  EXPECT_NE(compare(before, after)->warnings.at(0).find("--cpu-model (the real processor → haswell)"),
            std::string::npos);
  const Comparison forced = *compare(before, after, true);
  EXPECT_EQ(evaluate({*parse_gate("instructions=1%", true)}, forced)->front().state, GateResult::State::passed);
  for (Setting& setting : (after = before).settings)
    if (setting.name == "--prefetch") setting.value = "on";
  EXPECT_EQ(judged("instructions=1%", before, after).state, GateResult::State::passed)
      << "it decides modelled counts only";
}

// A name may come from a hostile program.
TEST(ComparisonFormats, escape_names_in_markdown) {
  Comparison comparison;
  const Comparable stat = *comparable_of(stat_of({{"instructions:u", {1000}}}));
  comparison.before = comparison.after = &stat;
  comparison.counts.push_back(
      {.event = "instructions:u", .before = 1000, .after = 2000, .trust = "exact", .verdict = Verdict::worse});
  for (int i = 0; i < 2000; ++i)
    comparison.functions.push_back({.event = "instructions:u",
                                    .subject = "<img src=x>|`a`\n[b](c)" + std::string(1000, 'x'),
                                    .before = 0,
                                    .after = 10,
                                    .trust = "exact",
                                    .verdict = Verdict::worse});
  const JudgedComparison all{.comparison = comparison, .gates = {}};
  const std::string text = comparison_markdown(all, {});
  EXPECT_LE(text.size(), 60'000u);
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(text.find("](c)"), std::string::npos);
  EXPECT_NE(text.find("</details>"), std::string::npos);
  const auto json = nlohmann::json::parse(comparison_json(all, {}));
  EXPECT_EQ(json["schema"], "tally-comparison/1");
  EXPECT_EQ(json["functions"].size(), 2000u);
  EXPECT_EQ(json["events"][0]["change"], 1000);
}

TEST(ComparisonFormats, have_short_comments_that_can_be_read) {
  Comparison comparison;
  const Comparable stat = *comparable_of(stat_of({{"instructions:u", {1000}}}));
  comparison.before = comparison.after = &stat;
  for (int i = 0; i < 30; ++i) {
    const ComparedCount row{.event = "instructions:u",
                            .subject = fmt::format("__parse_{}_text{}", i, std::string(900, 'x')),
                            .before = 1'000'000,
                            .after = 1'000'000 + 1000 * (31 - i),
                            .trust = "exact",
                            .verdict = Verdict::worse};
    comparison.functions.push_back(row);
    comparison.counts.push_back(row);
  }
  const JudgedComparison judged{.comparison = comparison, .gates = {}};
  const std::string text = comparison_markdown(judged, {});
  std::size_t rows = 0;
  for (const std::string& line : split(text, '\n')) rows += line.find("🔴 worse") != std::string::npos;
  EXPECT_EQ(rows, 2u * 20) << text;
  EXPECT_NE(text.find("10 more counts are not shown"), std::string::npos);
  EXPECT_NE(text.find("The 20 largest changes are shown"), std::string::npos);
  EXPECT_NE(text.find("| __parse_7_text"), std::string::npos) << "underscores before a word alone are no markup";
  EXPECT_NE(comparison_table(judged, {}).find("…"), std::string::npos) << "one name of 900 characters hides no number";
}

TEST(ComparisonFormats, escape_underscores_in_pairs_only) {
  EXPECT_EQ(markdown_text("__memcpy_avx"), "__memcpy_avx");
  EXPECT_EQ(markdown_text("name_ and more_"), "name_ and more_");
  EXPECT_EQ(markdown_text("a_b_c"), "a_b_c");
  EXPECT_EQ(markdown_text("see `tally stat -r 5 <x>` <y>"), "see `tally stat -r 5 <x>` &lt;y>");
  EXPECT_EQ(markdown_text("a ` b, `c|d`"), "a ` b, `c&#124;d&#96;");
  EXPECT_EQ(markdown_text("__init__"), "&#95;&#95;init&#95;&#95;");
  EXPECT_EQ(markdown_text("_a b_"), "&#95;a b&#95;");
  EXPECT_EQ(markdown_text("b_ _a"), "b_ _a") << "closed before it is opened";
  EXPECT_EQ(markdown_code("a_b *c*"), "`a_b *c*`");
  EXPECT_EQ(markdown_code("a `b`"), "`` a `b` ``");
}

TEST(ComparisonFormats, have_the_functions_of_the_runtime_in_one_row_of_a_comment) {
  Comparison comparison;
  const Comparable stat = *comparable_of(stat_of({{"instructions:u", {1000}}}));
  comparison.before = comparison.after = &stat;
  const auto add = [&](const char* name, Value after, bool is_runtime) {
    ComparedCount row{
        .event = "instructions:u", .subject = name, .before = 1000, .after = after, .verdict = Verdict::worse};
    row.is_runtime = is_runtime;
    comparison.functions.push_back(row);
  };
  add("main", 5000, false);
  add("malloc", 2000, true);
  add("free", 1500, true);
  const std::string text = comparison_markdown({.comparison = comparison, .gates = {}}, {});
  EXPECT_NE(text.find("| 2 functions of the runtime | 2,000 | 3,500 | +1,500 |"), std::string::npos) << text;
  EXPECT_EQ(text.find("malloc"), std::string::npos);
  comparison.functions.erase(comparison.functions.begin());
  EXPECT_NE(comparison_markdown({.comparison = comparison, .gates = {}}, {}).find("| malloc |"), std::string::npos)
      << "if there are no others, they are shown";
}

}  // namespace
}  // namespace tally::output
