#include <gtest/gtest.h>

#include <string>

#include "tally/output/analysis/gates.hpp"
#include "tally/output/kinds/comparison_format.hpp"

namespace tally::output {
namespace {

TEST(ComparisonFormats, list_what_is_within_its_limit_below_the_rest) {
  Comparison comparison;
  const Comparable side{.command = {"prog"}};
  comparison.before = comparison.after = &side;
  constexpr std::size_t benchmarks = 30;
  for (std::size_t i = 0; i < benchmarks; ++i)
    comparison.counts.push_back({.event = "instructions:u",
                                 .subject = "benchmark" + std::to_string(i),
                                 .before = 1'000'000,
                                 .after = i == benchmarks - 1 ? 2'000'000 : 1'000'010,
                                 .trust = "exact",
                                 .verdict = Verdict::worse});
  JudgedComparison judged{.comparison = comparison, .gates = {}};
  for (const ComparedCount& count : judged.comparison.counts)
    judged.gates.push_back({.state = count.after > 1'500'000 ? GateResult::State::failed : GateResult::State::passed,
                            .gate = *parse_gate("instructions=1%", true),
                            .count = &count,
                            .text = count.subject});
  const auto lines = gate_lines(judged.gates);
  ASSERT_EQ(lines.size(), 1 + most_within_limits + 1);
  EXPECT_EQ(lines.front().text, "benchmark29");
  EXPECT_EQ(lines.front().state, "FAILED");
  EXPECT_EQ(lines.back().text, "9 more");
  const auto counts = shown_counts(judged, {});
  ASSERT_EQ(counts.size(), 1 + most_within_limits);
  EXPECT_EQ(counts.front()->subject, "benchmark29");
  EXPECT_NE(comparison_table(judged, {}).find("9 more changes within the limit"), std::string::npos);
  const std::string markdown = comparison_markdown(judged, {});
  EXPECT_NE(markdown.find("+100.00 % | 🔴 worse |"), std::string::npos);
  EXPECT_NE(markdown.find("+0.00 % | worse |"), std::string::npos) << "ten of a million have no mark";
}

}  // namespace
}  // namespace tally::output
