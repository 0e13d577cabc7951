#include "tally/core/count/formula.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

std::optional<double> value(const std::string& text, const std::vector<std::int64_t>& values) {
  const auto formula = Formula::parse(text);
  if (!formula) return std::nullopt;
  std::vector<Count> counts;
  for (const std::int64_t one : values) counts.push_back(exact(one, Source::engine));
  return formula->evaluate(counts).value;
}

TEST(Formula, follows_the_rules_of_arithmetic) {
  EXPECT_EQ(value("a / b", {1, 4}), 0.25);
  EXPECT_EQ(value("1000 * a / b", {3, 2}), 1500);
  EXPECT_EQ(value("a + b * c", {1, 2, 3}), 7);
  EXPECT_EQ(value("(a + b) * c", {1, 2, 3}), 9);
  EXPECT_EQ(value("a - b - c", {10, 3, 2}), 5);
  EXPECT_EQ(value("a / b / c", {12, 3, 2}), 2);
  EXPECT_EQ(value("a / (b / c)", {12, 3, 2}), 8);
  EXPECT_EQ(value("((a))", {5}), 5);
  EXPECT_EQ(value(".5 * a", {5}), 2.5);
  EXPECT_EQ(value("a * a", {5}), 25) << "a name that comes twice is one count";
}

TEST(Formula, takes_the_characters_of_names_as_they_are) {
  const auto formula = Formula::parse("branch-misses:u / cpu/event=0xc4,umask=0x1/");
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->names(), (std::vector<std::string>{"branch-misses:u", "cpu/event=0xc4,umask=0x1/"}));
}

TEST(Formula, needs_spaces_only_where_a_name_could_go_on) {
  const struct {
    const char* text;
    const char* spaced;
  } cases[] = {{"64*cache-misses", "64 * cache-misses"},
               {"cache-misses*64/instructions", "cache-misses * 64 / instructions"},
               {"(loads+stores)/instructions", "(loads + stores) / instructions"},
               {"1e+3*a-2", "1e+3 * a-2"},
               {"1e-3*a -2", "1e-3 * a - 2"},
               {"64*cpu/event=0xc4,umask=0x1/", "64 * cpu/event=0xc4,umask=0x1/"}};
  for (const auto& one : cases) {
    const auto formula = Formula::parse(one.text);
    ASSERT_TRUE(formula) << formula.error().message;
    EXPECT_EQ(formula->text(), one.spaced);
  }
}

TEST(Formula, reports_where_it_is_wrong) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {{"", "it is empty"},
               {"a /", "something is missing at its end"},
               {"/ a", "a value is missing before '/'"},
               {"a b", "an operator is missing before 'b'"},
               {"a (b)", "an operator is missing before '('"},
               {"(a", "a ')' is missing"},
               {"a)", "a '(' is missing"},
               {"()", "something is missing before ')'"},
               {"1x * a", "'1x' is not a number"},
               {"1e999 * a", "'1e999' is not a number"}};
  for (const auto& one : cases) {
    const auto formula = Formula::parse(one.text);
    ASSERT_FALSE(formula) << one.text;
    EXPECT_EQ(formula.error().code, Code::bad_usage);
    EXPECT_NE(formula.error().message.find(one.expected), std::string::npos) << formula.error().message;
  }
}

TEST(Formula, text_means_the_same_formula) {
  for (const char* text : {"a / b", "a - (b - c)", "(a + b) / c", "a * (b / c)", "a - b - c", "a + b * c",
                           "((a - (b + c)) * d) / (e - f)", "1000 * a / b"}) {
    const auto formula = Formula::parse(text);
    ASSERT_TRUE(formula) << text;
    const auto again = Formula::parse(formula->text());
    ASSERT_TRUE(again) << formula->text();
    EXPECT_EQ(*again, *formula) << formula->text();
  }
  EXPECT_EQ(Formula::parse("a  / ( b + c )")->text(), "a / (b + c)");
  EXPECT_EQ(Formula::parse("a / b")->renamed({"x:u", "y:u"}).text(), "x:u / y:u");
}

TEST(Formula, is_as_trustworthy_as_its_worst_part) {
  Count modelled = exact(2, Source::engine);
  modelled.trust = Trust::modelled;
  modelled.model = "gshare";
  const Formula formula = *Formula::parse("1000 * a / (b + c)");
  const Ratio ratio = formula.evaluate({modelled, counted(1, CountSource::pmu("cpu")), exact(3, Source::engine)});
  EXPECT_EQ(ratio.value, 500);
  EXPECT_EQ(ratio.trust, Trust::modelled);
  EXPECT_EQ(ratio.model, "gshare");
  const Ratio mixed =
      formula.evaluate({exact(1, Source::engine), partial(1, Source::wait4, "mixed"), exact(3, Source::engine)});
  EXPECT_EQ(mixed.trust, Trust::partial);
  EXPECT_EQ(mixed.reason, "mixed");
}

TEST(Formula, with_an_absent_part_is_absent_with_the_reason) {
  const Ratio ratio = Formula::parse("a / b")->evaluate({partial(1, Source::wait4, "mixed"), absent("no counter")});
  EXPECT_FALSE(ratio.value);
  EXPECT_EQ(ratio.trust, Trust::absent);
  EXPECT_EQ(ratio.reason, "no counter") << "what the present part lacks explains nothing";
}

TEST(Formula, is_absent_after_a_division_by_zero) {
  const Ratio ratio = Formula::parse("a / (b - c)")
                          ->evaluate({exact(1, Source::engine), exact(2, Source::engine), exact(2, Source::engine)});
  EXPECT_FALSE(ratio.value);
  EXPECT_EQ(ratio.trust, Trust::absent);
  EXPECT_EQ(ratio.reason, "division by 0 in a / (b - c)");
}

// Every text parses to a formula or an error, and every formula has a value or a reason why not.
TEST(Formula, of_any_text_is_an_error_or_has_a_value_or_a_reason) {
  const std::string alphabet = "ab1.+-*/() e";
  std::uint64_t state = 42;
  std::size_t formulas = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::size_t length = state >> 60;
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += alphabet[(state >> 33) % alphabet.size()];
    }
    const auto formula = Formula::parse(text);
    if (!formula) continue;
    ++formulas;
    const Ratio ratio = formula->evaluate(std::vector<Count>(formula->names().size(), exact(3, Source::engine)));
    EXPECT_NE(ratio.value.has_value(), ratio.trust == Trust::absent) << text;
    EXPECT_NE(ratio.value.has_value(), !ratio.reason.empty()) << text;
    EXPECT_EQ(*Formula::parse(formula->text()), *formula) << text;
  }
  EXPECT_GT(formulas, 100u);
}

}  // namespace
}  // namespace tally
