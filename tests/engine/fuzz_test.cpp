// Random code, the same from the same seed: its effects on registers, flags, vectors and memory natively and under the
// engine, and the counts of a short run.
#include <fmt/format.h>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command fuzz(int first, int count, int length) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/fuzz", std::to_string(first), std::to_string(count),
                   std::to_string(length)};
  return command;
}

class FuzzTest : public testing::TestWithParam<int> {};

TEST_P(FuzzTest, has_the_same_effects_as_natively) {
  const Command command = fuzz(GetParam(), 25, 400);
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  Counts counts;
  for (const int size : block_sizes()) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
    if (size == block_sizes()[0]) counts = counted.counts;
    expect_counts(counted.counts, counts);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, FuzzTest, testing::Range(1, 501, 25),
                         [](const auto& one) { return fmt::format("from_{}", one.param); });

class SteppedFuzzTest : public testing::TestWithParam<int> {};

TEST_P(SteppedFuzzTest, counts_what_the_stepper_counts) { expect_as_stepped(fuzz(GetParam(), 1, 150), 0, true); }

const auto seed_of = [](const auto& one) { return fmt::format("seed_{}", one.param); };
INSTANTIATE_TEST_SUITE_P(engine, SteppedFuzzTest, testing::Range(1000, 1003), seed_of);
INSTANTIATE_TEST_SUITE_P(more, SteppedFuzzTest, testing::Range(1003, 1010), seed_of);

}  // namespace
}  // namespace tally::engine_test
