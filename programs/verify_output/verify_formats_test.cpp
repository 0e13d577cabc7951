// The three formats of results of `tally verify`.
#include <gtest/gtest.h>

#include "programs/verify_output/verify_format.hpp"
#include "tally/core/base/holds_testing.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::output {
namespace {

using result::EventGrade;
using result::Verdict;

result::Verify verified_sample() {
  result::Verify verify;
  verify.backend = "perf";
  verify.environment.cpu = "A <processor>";
  verify.environment.microcode = "0x2b";
  verify.environment.pmus = {"cpu"};
  verify.environment.tally_version = "0.1";
  verify.duration = std::chrono::milliseconds(2500);
  verify.runs = 240;
  verify.events = {{{"instructions", Mode::user},
                    EventGrade::unusable,
                    "G6, a REP is one instruction: off",
                    "cpu",
                    1,
                    999'999,
                    std::nullopt,
                    183,
                    "conditional-branches:u"},
                   {{"conditional-branches", Mode::user},
                    EventGrade::exact,
                    "equal to what 61 programs do",
                    "cpu",
                    std::nullopt,
                    0,
                    std::nullopt,
                    183,
                    ""},
                   {{"cycles", Mode::user},
                    EventGrade::speculative,
                    "no program has a known answer",
                    "cpu",
                    std::nullopt,
                    std::nullopt,
                    0.5,
                    18,
                    ""}};
  verify.checks = {{"G6", "a REP is one instruction", "instructions:u", "rep_movsb 1000000", 9, 1'000'008, "64",
                    "faults and interrupts taken off", Verdict::fail, "30 of 30 runs are off", 30, 30},
                   {"G1", "conditional branches of loops", "conditional-branches:u", "loop_movsb 1000000", 1'000'000,
                    1'000'000, "±0", "", Verdict::pass, "", 30, 0},
                   {"G19", "counters that take turns", "", "", std::nullopt, std::nullopt, "", "",
                    Verdict::inconclusive, "no multiplexing here", 0, 0}};
  verify.notices = {"a word about it"};
  return verify;
}

TEST(VerifyReport, begins_with_the_answer_and_reports_what_failed) {
  const std::string text = verify_text(verified_sample(), false);
  EXPECT_TRUE(holds(text, "Some counts of the PMU cpu cannot be trusted: 1 of 3 checks failed.")) << text;
  EXPECT_TRUE(holds(text, "count conditional-branches:u instead")) << text;
  EXPECT_TRUE(holds(text, "measured 1,000,008, tolerance 64")) << text;
  EXPECT_TRUE(holds(text, "G19: no multiplexing here")) << text;
  EXPECT_FALSE(holds(text, "loop_movsb 1000000")) << text;
  EXPECT_TRUE(holds(verify_text(verified_sample(), true), "loop_movsb 1000000"));
}

TEST(VerifyReport, names_noise_and_an_interrupt) {
  result::Verify verify = verified_sample();
  verify.noise = "seed=1,irq=0.25,fault=1";
  verify.incomplete = true;
  EXPECT_TRUE(holds(verify_answer(verify), "seed=1,irq=0.25,fault=1"));
  EXPECT_TRUE(holds(verify_answer(verify), "interrupted"));
}

TEST(VerifyReport, its_json_can_be_read_back) {
  const std::string json = verify_json(verified_sample());
  ASSERT_TRUE(result::is_verify(json));
  const auto read = result::read_verify(json, "verify.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, verified_sample());
  EXPECT_FALSE(result::read_verify("{\"schema\": \"tally-verify/3\"}", "x"));
  EXPECT_FALSE(result::read_verify(json.substr(0, json.size() / 2), "x"));
  EXPECT_FALSE(result::is_verify("{\"schema\": \"tally-stat/2\"}"));
}

TEST(VerifyReport, its_page_has_the_grades_and_all_checks) {
  const std::string page = html_page({{"verify.json", page_section(verified_sample())}});
  EXPECT_TRUE(holds(page, "Counters verified: A &lt;processor&gt;"));
  EXPECT_TRUE(holds(page, "microcode 0x2b"));
  EXPECT_TRUE(holds(page, "unusable"));
  EXPECT_TRUE(holds(page, "rep_movsb 1000000"));
  EXPECT_TRUE(holds(page, "no multiplexing here"));
}

}  // namespace
}  // namespace tally::output
