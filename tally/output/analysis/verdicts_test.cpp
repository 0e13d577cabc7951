// Every output of a comparison states the same verdict, and gates agree with it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/kinds/comparison_format.hpp"

namespace tally::output {
namespace {

using State = GateResult::State;

/// A profile of the functions `hot` and `main`, counted with --repeatable.
Comparable profiled(std::int64_t hot, std::int64_t threads, Trust trust = Trust::exact) {
  result::Profile profile;
  profile.stat.command = {"prog"};
  profile.stat.environment.provenance.command_line = {"tally", "profile", "--repeatable", "--", "prog"};
  profile.stat.runs.resize(1);
  profile.stat.runs[0].process_count = 1;
  profile.stat.runs[0].thread_count = threads;
  result::EventCount count;
  count.event = "instructions:u";
  count.name = split_event_name(count.event);
  count.count.value = hot + 1'000'000;
  count.count.trust = trust;
  profile.stat.events.push_back({.total = count, .summary = {}});
  profile.stat.runs[0].counts.push_back(count);
  profile.owners.push_back({1, "prog", 1, ""});
  profile.objects.push_back({"/bin/prog"});
  profile.sources.emplace_back();
  for (const std::uint32_t function : {0U, 1U}) {
    profile.functions.push_back({function == 0 ? "hot" : "main", 0});
    profile.rows.emplace_back().function = function;
    profile.counts.push_back(function == 0 ? hot : 1'000'000);
  }
  profile.repeated = profile.unplaced = {0};
  return *comparable_of(profile);
}

struct Expected {
  const char *change, *verdict;
  State gate;  ///< instructions=1%
  const char* line;
  bool names_function;
};

void expect_everywhere(const Comparable& before, const Comparable& after, const Expected& expected) {
  SCOPED_TRACE(expected.change);
  const JudgedComparison judged = *compare_and_judge(before, after, {*parse_gate("instructions=1%", true)});
  EXPECT_EQ(judged.gates.at(0).state, expected.gate);
  EXPECT_TRUE(judged.verdict().starts_with(expected.line)) << judged.verdict();
  EXPECT_EQ(judged.verdict().find("hot") != std::string::npos, expected.names_function) << judged.verdict();
  const auto json = nlohmann::json::parse(comparison_json(judged, {}));
  EXPECT_EQ(json["events"].at(0)["verdict"], expected.verdict);
  EXPECT_EQ(json["functions"].at(0)["verdict"], expected.verdict);
  EXPECT_EQ(json["gates"].at(0)["state"], name(expected.gate));
  for (const auto write : {comparison_table, comparison_markdown, comparison_html}) {
    const std::string text = write(judged, {});
    std::size_t same = 0, other = 0;
    for (const char* const verdict : {"better", "worse", "undecided"}) {
      for (const std::string& line : split(text, '\n')) {
        const bool is_row = line.find("+") != std::string::npos && line.find("instructions=") == std::string::npos &&
                            line.find(" → ") == std::string::npos && line.find(": ") == std::string::npos;
        if (is_row && line.find(verdict) != std::string::npos)
          ++(std::string(verdict) == expected.verdict ? same : other);
      }
    }
    EXPECT_GE(same, 1U) << text;
    EXPECT_EQ(other, 0U) << text;
  }
}

TEST(Verdicts, are_the_same_in_every_output) {
  expect_everywhere(profiled(1'000'000, 1), profiled(2'000'000, 1),
                    {"large", "worse", State::failed, "failed: instructions:u", true});
  expect_everywhere(profiled(1'000'000, 1), profiled(1'000'100, 1),
                    {"small", "worse", State::passed, "passed: every gate", false});
  expect_everywhere(profiled(1'000'000, 3), profiled(2'000'000, 3),
                    {"of threads", "undecided", State::undecided, "undecided: instructions:u", false});
  expect_everywhere(profiled(1'000'000, 3, Trust::modelled), profiled(2'000'000, 3, Trust::modelled),
                    {"of a model", "undecided", State::undecided, "undecided: instructions:u", false});
}

TEST(Verdicts, name_a_function_of_the_program_rather_than_of_its_runtime) {
  const Comparable before = profiled(1'000'000, 1), after = profiled(3'000'000, 1);
  JudgedComparison judged = *compare_and_judge(before, after, {*parse_gate("instructions=1%", true)});
  std::vector<ComparedCount>& functions = judged.comparison.functions;
  ComparedCount of_program = functions.front();
  of_program.subject = "parse (a.py)";
  of_program.after = *of_program.before + 300'000;
  functions.front().is_runtime = true;
  functions.push_back(of_program);
  EXPECT_NE(judged.verdict().find("largest change: parse (a.py) (+300,000; in the runtime hot +2,000,000)"),
            std::string::npos)
      << judged.verdict();
  functions.back().after = *of_program.before + 100'000;
  EXPECT_NE(judged.verdict().find("largest change: hot (+2,000,000)"), std::string::npos) << "it explains little";
}

// Another compiler executes fewer instructions and other branches: the branches do not make it a regression.
TEST(Verdicts, begin_with_what_the_program_costs) {
  const auto verdict_of = [](std::int64_t instructions, std::int64_t taken, std::int64_t cycles) {
    JudgedComparison judged = *compare_and_judge(profiled(1'000'000, 1), profiled(2'000'000, 1), {});
    ComparedCount row = judged.comparison.counts.at(0);
    judged.comparison.counts.clear();
    const auto add = [&](const char* event, std::int64_t change) {
      row.event = event;
      row.after = *row.before + change;
      row.verdict = change > 0 ? Verdict::worse : change < 0 ? Verdict::better : Verdict::same;
      judged.comparison.counts.push_back(row);
    };
    add("conditional-taken:u", taken);
    add("instructions:u", instructions);
    add("cycles:u", cycles);
    return judged.verdict();
  };
  EXPECT_EQ(verdict_of(-200'000, 20'000, 0),
            "better: instructions:u -200,000 (-10.00 %); worse: conditional-taken:u +20,000 (+1.00 %)");
  EXPECT_EQ(verdict_of(200'000, -20'000, 0), "worse: instructions:u +200,000 (+10.00 %)");
  EXPECT_EQ(verdict_of(-200'000, 20'000, 100'000),
            "worse: cycles:u +100,000 (+5.00 %); better: instructions:u -200,000 (-10.00 %)");
  EXPECT_EQ(verdict_of(200'000, 0, 100'000), "worse: instructions:u +200,000 (+10.00 %), cycles:u +100,000 (+5.00 %)");
  EXPECT_EQ(verdict_of(0, 20'000, 0), "worse: conditional-taken:u +20,000 (+1.00 %)");
}

// A function that became better is not what a failed gate is about.
TEST(Verdicts, name_the_function_that_grew) {
  Comparable before = profiled(3'000'000, 1), after = profiled(1'000'000, 1);
  const JudgedComparison judged = *compare_and_judge(after, before, {*parse_gate("instructions=1%", true)});
  EXPECT_NE(judged.verdict().find("largest change: hot (+2,000,000)"), std::string::npos) << judged.verdict();
  after.measures[0].value = *before.measures[0].value * 2;
  after.measures[0].runs = {*after.measures[0].value};
  const JudgedComparison fallen = *compare_and_judge(before, after, {*parse_gate("instructions=1%", true)});
  EXPECT_TRUE(fallen.verdict().starts_with("failed: instructions:u")) << fallen.verdict();
  EXPECT_EQ(fallen.verdict().find("hot"), std::string::npos) << fallen.verdict();
}

TEST(Verdicts, ask_about_passed_gates_on_counts_that_fell_or_moved_between_functions) {
  const std::vector<Gate> gates{*parse_gate("instructions=1%", true)};
  const Comparable before = profiled(2'000'000, 1), fallen = profiled(1'020'000, 1);
  EXPECT_EQ(compare_and_judge(before, fallen, gates)->verdict(),
            "passed: every gate; instructions:u fell by 32.7 %: is all the work still done?");
  const Comparable less = profiled(1'990'000, 1);
  EXPECT_EQ(compare_and_judge(before, less, gates)->verdict(), "passed: every gate") << "within the limit";
  Comparable moved = profiled(2'500'000, 1);
  moved.measures[0].value = before.measures[0].value;
  moved.measures[0].runs = before.measures[0].runs;
  EXPECT_EQ(compare_and_judge(before, moved, gates)->verdict(),
            "passed: every gate; hot +500,000 (+16.67 % of all), and other functions fell");
}

/// Counts of one repeatable run, and their IPC.
Comparable with_ipc(std::int64_t instructions, std::int64_t cycles) {
  result::Stat stat;
  stat.command = {"prog"};
  stat.environment.provenance.command_line = {"tally", "stat", "--repeatable", "--", "prog"};
  stat.runs.resize(1);
  stat.runs[0].process_count = stat.runs[0].thread_count = 1;
  for (const auto& [event, value] : {std::pair{"instructions:u", instructions}, {"cycles:u", cycles}}) {
    result::EventCount count;
    count.event = event;
    count.name = split_event_name(event);
    count.count.value = value;
    count.count.trust = Trust::exact;
    stat.events.push_back({.total = count, .summary = {}});
    stat.runs[0].counts.push_back(count);
  }
  const auto add = [&](const char* metric_name, const char* formula, double value) {
    result::Metric metric;
    metric.name = metric_name;
    metric.formula = formula;
    metric.ratio = {value, Trust::exact, "", ""};
    stat.metrics.push_back(std::move(metric));
  };
  const double ipc = static_cast<double>(instructions) / static_cast<double>(cycles);
  add("IPC", "instructions:u / cycles:u", ipc);
  add("CPI", "cycles:u / instructions:u", 1 / ipc);
  add("loads-per-store", "instructions:u / cycles:u", ipc);
  return *comparable_of(stat);
}

// A model with a mean error of 8 % decides a change below it only together with the instructions.
TEST(Verdicts, of_modelled_cycles_are_not_below_the_error_of_the_model) {
  const auto verdict = [](std::int64_t instructions, std::int64_t cycles) {
    Comparable before = with_ipc(1000, 1000), after = with_ipc(instructions, cycles);
    for (Comparable* const side : {&before, &after}) {
      side->measures[1].trust = Trust::modelled;
      side->measures[1].model = "zen5, fast; mean error 8 % (20 programs)";
    }
    const Comparison comparison = *compare(before, after);
    const Gate limit = *parse_gate("cycles=1%", true);
    const auto judged = *compare_and_judge(before, after, {limit});
    EXPECT_EQ(judged.gates[0].state == GateResult::State::failed, comparison.counts[1].verdict == Verdict::worse);
    return comparison.counts[1].verdict;
  };
  EXPECT_EQ(verdict(870, 1015), Verdict::undecided);
  EXPECT_EQ(verdict(1000, 1015), Verdict::undecided);
  EXPECT_EQ(verdict(870, 1090), Verdict::worse);
  EXPECT_EQ(verdict(1011, 1012), Verdict::worse);
  EXPECT_EQ(verdict(1100, 900), Verdict::better);
  EXPECT_EQ(verdict(1000, 1000), Verdict::same);
  Comparable sides[] = {with_ipc(1000, 1000), with_ipc(1000, 1015)};
  for (Comparable& side : sides) {
    side.measures.erase(side.measures.begin());
    side.measures[0].trust = Trust::modelled;
  }
  const Comparison without = *compare(sides[0], sides[1]);
  EXPECT_TRUE(without.counts[0].reason.ends_with("count instructions, too (-e instructions,cycles)"))
      << without.counts[0].reason;
}

TEST(Verdicts, of_ratios_follow_what_the_ratio_costs) {
  const auto verdicts = [](const Comparable& before, const Comparable& after) {
    std::string text;
    for (const ComparedCount& row : compare(before, after)->counts) text += std::string(name(row.verdict)) + " ";
    return text;
  };
  const Comparable before = with_ipc(1000, 1000);
  EXPECT_EQ(verdicts(before, with_ipc(1000, 500)), "same better better better undecided ");
  EXPECT_EQ(verdicts(before, with_ipc(1000, 2000)), "same worse worse worse undecided ");
  EXPECT_EQ(verdicts(before, with_ipc(4000, 2000)), "worse worse undecided undecided undecided ");
  EXPECT_EQ(verdicts(before, with_ipc(4000, 1000)), "worse same undecided undecided undecided ");
  EXPECT_EQ(verdicts(before, with_ipc(100, 500)), "better better undecided undecided undecided ");
  EXPECT_EQ(verdicts(before, before), "same same same same same ");
  const Comparable more = with_ipc(4000, 2000);
  EXPECT_EQ(compare(before, more)->counts[2].reason, "cycles:u decides, and is worse");
}

// A gate on IPC fails only if the program takes more cycles, and passes a large rise only if it takes fewer.
TEST(Verdicts, of_gates_on_ratios_follow_what_the_ratio_costs) {
  const Comparable before = with_ipc(100'000, 100'000);
  const auto judged = [&](const Comparable& after, const char* gate) {
    return compare_and_judge(before, after, {*parse_gate(gate, true)})->gates.at(0);
  };
  EXPECT_EQ(judged(with_ipc(100'000, 110'000), "IPC=1%").state, State::failed);
  EXPECT_EQ(judged(with_ipc(100'000, 90'000), "IPC=1%").state, State::passed);
  EXPECT_EQ(judged(with_ipc(100'000, 100'500), "IPC=1%").state, State::passed);
  EXPECT_EQ(judged(with_ipc(100'500, 100'000), "IPC=1%").state, State::passed);
  EXPECT_EQ(judged(before, "IPC=0%").state, State::passed);
  EXPECT_EQ(judged(with_ipc(100'000, 110'000), "CPI=1%").state, State::failed);
  for (const char* const gate : {"IPC=1%", "IPC=0.01", "CPI=1%"}) {
    SCOPED_TRACE(gate);
    EXPECT_EQ(judged(with_ipc(50'000, 60'000), gate).state, State::undecided);  // falls, in fewer cycles
    const GateResult rises = judged(with_ipc(200'000, 120'000), gate);          // rises, in more cycles
    EXPECT_EQ(rises.state, State::undecided);
    EXPECT_TRUE(rises.text.ends_with("undecided: cycles:u decides, and is worse")) << rises.text;
  }
}

}  // namespace
}  // namespace tally::output
