#include "tally/core/count/metric.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tally {
namespace {

using Names = std::vector<std::string>;

std::vector<EventName> split_all(const Names& texts) {
  std::vector<EventName> events;
  for (const std::string& text : texts) events.push_back(split_event_name(text));
  return events;
}

Names bound_names(const MetricChoice& choice, const Names& events) {
  Names names;
  for (const BoundMetric& bound : bind_metric(choice, split_all(events)))
    names.push_back(bound.name + " = " + bound.formula.text());
  return names;
}

MetricChoice unasked(const std::string& name) {
  for (const MetricChoice& choice : unasked_metrics()) {
    if (choice.name == name) return choice;
  }
  return {};
}

TEST(MetricTable, every_line_is_a_formula_with_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (const MetricDefinition& line : metric_table()) {
    EXPECT_TRUE(names.insert(line.name).second) << line.name;
    EXPECT_FALSE(line.what.empty()) << line.name;
    const auto formula = Formula::parse(line.formula);
    ASSERT_TRUE(formula) << line.name << ": " << formula.error().message;
    EXPECT_FALSE(formula->names().empty()) << line.name;
    EXPECT_EQ(formula->text(), line.formula) << "written as it is printed";
    if (line.row_event.empty()) continue;
    const Names& used = formula->names();
    EXPECT_NE(std::find(used.begin(), used.end(), line.row_event), used.end()) << line.name;
  }
}

TEST(MetricTable, has_the_values_of_the_definitions) {
  // Published counts of a matrix multiplication, with their ratios to four digits.
  const std::int64_t instructions = 7'348'872, cycles = 9'402'846;
  const auto ratio =
      unasked("IPC").formula.evaluate({exact(instructions, Source::engine), exact(cycles, Source::engine)});
  EXPECT_NEAR(*ratio.value, 0.7816, 0.00005);
  const auto loads = unasked("loads-per-instruction")
                         .formula.evaluate({exact(2'736'803, Source::engine), exact(9'233'128, Source::engine)});
  EXPECT_NEAR(*loads.value, 0.29641, 0.000005);
  const auto both =
      unasked("loads-per-store").formula.evaluate({exact(2'736'803, Source::engine), exact(1'437'746, Source::engine)});
  EXPECT_NEAR(*both.value, 1.9035, 0.00005);
  const auto mpki =
      unasked("branch-MPKI").formula.evaluate({exact(50'525, Source::engine), exact(9'233'128, Source::engine)});
  EXPECT_NEAR(*mpki.value, 5.472, 0.0005);
  const auto clock =
      unasked("frequency").formula.evaluate({exact(3'000'000, Source::engine), exact(1'000'000, Source::engine)});
  EXPECT_EQ(*clock.value, 3) << "3 million cycles in a millisecond are 3 GHz";
}

TEST(UnaskedMetrics, of_rows_are_those_shown_in_the_rows_of_these_events) {
  std::vector<std::string> names;
  const std::vector<EventName> rows{{"instructions", Mode::user}, {"branch-misses", Mode::kernel}, {"cycles", {}}};
  for (const MetricChoice& choice : unasked_metrics(&rows)) names.push_back(choice.name);
  EXPECT_EQ(names, (std::vector<std::string>{"IPC", "branch-MPKI"}));
  const std::vector<EventName> none;
  EXPECT_TRUE(unasked_metrics(&none).empty());
}

TEST(ParseMetrics, takes_names_in_any_case_modes_and_formulas) {
  const auto metrics = parse_metrics({"ipc, CPI:k", "IPC:u", "mine=1000 * loads / stores"});
  ASSERT_TRUE(metrics) << metrics.error().message;
  ASSERT_EQ(metrics->size(), 3u) << "the same metric again is dropped";
  EXPECT_EQ((*metrics)[0].name, "IPC");
  EXPECT_TRUE((*metrics)[0].asked);
  EXPECT_EQ((*metrics)[1].mode, Mode::kernel);
  EXPECT_EQ((*metrics)[2].name, "mine");
  EXPECT_EQ((*metrics)[2].formula.text(), "1000 * loads / stores");
  EXPECT_EQ(parse_metrics({"all"})->size(), metric_table().size());
}

TEST(ParseMetrics, errors_have_a_hint) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {{"IPX", "did you mean IPC"},          {"IPC:x", "did you mean IPC"},
               {"zzzzzzzzzz", "--metrics list"},     {"", "--metrics list"},
               {"BRANCH", "--group BRANCH"},         {"FLOPS_DP", "--group FLOPS_DP"},
               {"mine=", "a formula consists of"},   {"mine=2 * 3", "for example"},
               {"IPC,a=b / c", "its own --metrics"}, {"mine=a b", "with spaces around"}};
  for (const auto& one : cases) {
    const auto metrics = parse_metrics({one.text});
    ASSERT_FALSE(metrics) << one.text;
    EXPECT_EQ(metrics.error().code, Code::bad_usage);
    EXPECT_NE(metrics.error().hint.find(one.expected), std::string::npos) << one.text << ": " << metrics.error().hint;
  }
}

TEST(BindMetric, takes_all_its_events_in_one_mode) {
  const MetricChoice ipc = unasked("IPC");
  EXPECT_EQ(bound_names(ipc, {"cycles:u", "loads:u", "instructions:u"}), Names{"IPC = instructions:u / cycles:u"});
  EXPECT_EQ(bound_names(ipc, {"cycles:k", "instructions:u"}), Names{});
  EXPECT_EQ(bound_names(ipc, {"cycles:k", "instructions:u", "instructions:k", "cycles:u"}),
            (Names{"IPC:k = instructions:k / cycles:k", "IPC = instructions:u / cycles:u"}));
  EXPECT_EQ(bind_metric(ipc, split_all({"cycles:u", "loads:u", "instructions:u"}))[0].events,
            (std::vector<std::size_t>{2, 0}));
}

TEST(BindMetric, takes_software_events_in_every_mode) {
  EXPECT_EQ(bound_names(unasked("CPUs"), {"user_time", "system_time", "duration_time", "loads:u"}),
            Names{"CPUs = (user_time + system_time) / duration_time"});
  EXPECT_EQ(bound_names(unasked("frequency"), {"cycles:u", "cycles:k", "user_time"}),
            Names{"frequency = cycles:u / user_time"})
      << "kernel cycles do not go with user time";
  EXPECT_EQ(bound_names(unasked("frequency"), {"cycles:k", "user_time"}), Names{});
}

TEST(BindMetric, asked_for_binds_the_mode_that_was_asked) {
  const Names events{"cycles:k", "instructions:u", "instructions:k", "cycles:u"};
  EXPECT_EQ(bound_names(parse_metrics({"IPC"})->front(), events), Names{"IPC = instructions:u / cycles:u"});
  EXPECT_EQ(bound_names(parse_metrics({"IPC:k"})->front(), events), Names{"IPC:k = instructions:k / cycles:k"});
}

}  // namespace
}  // namespace tally
