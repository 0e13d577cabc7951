// Tests of the advice after a contended run.
#include "programs/memory/analysis/advice.hpp"

#include <gtest/gtest.h>

#include "programs/memory/analysis/points.hpp"

namespace tally::memory {
namespace {

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Advice, suggests_larger_options) {
  EXPECT_EQ(suggested_options({}), "--mappings 10 --time-budget 180");
  EXPECT_EQ(suggested_options({.mappings = 10, .budget_seconds = 180}), "--mappings 20 --time-budget 540");
}

TEST(Advice, matches_the_cause) {
  const Circumstances two{.processors = 2};
  EXPECT_TRUE(says(advice("mappings differ", two), "or with --mappings 10 --time-budget 180"));
  EXPECT_FALSE(says(advice("", two), "--")) << "of a task that does not look again";
  EXPECT_TRUE(says(advice(core_shared, two), "--cpu"));
  EXPECT_TRUE(says(advice(cache_shared, two), "other users of the cache"));
}

TEST(Advice, omits_useless_options) {
  EXPECT_TRUE(says(advice(processor_shared, {.processor_named = true, .processors = 2}), "omit --cpu"));
  EXPECT_FALSE(says(advice(processor_shared, {.processors = 2}), "--cpu")) << "the idlest one was taken";
  EXPECT_FALSE(says(advice(processor_shared, {.processor_named = true}), "--cpu")) << "there is no other";
  EXPECT_FALSE(says(advice(core_shared, {}), "--cpu")) << "there is no other";
}

}  // namespace
}  // namespace tally::memory
