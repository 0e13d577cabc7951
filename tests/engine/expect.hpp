#pragma once
#include <gtest/gtest.h>

#include <span>

#include "tally/core/base/full_run_testing.hpp"
#include "tests/engine/run.hpp"

namespace tally::engine_test {

/// Blocks of one instruction, and traces that are re-created along executed paths; in a full run also blocks of a few
/// instructions, and of more than most programs have in a row.
inline std::span<const int> block_sizes() {
  static constexpr int sizes[] = {1, reoptimized, 3, 64};
  return std::span(sizes).first(test::in_full_run(4, 2));
}

/// Equal in everything that is visible of a run from outside.
inline void expect_same(const Outcome& engine, const Outcome& native) {
  EXPECT_EQ(engine.code, native.code);
  EXPECT_EQ(engine.out, native.out);
  EXPECT_EQ(engine.err, native.err);
}

/// Equal counts, or a message with all of both.
inline void expect_counts(const Counts& engine, const Counts& expected) {
  EXPECT_TRUE(engine == expected) << "the engine:\n" << describe(engine) << "expected:\n" << describe(expected);
}

inline void expect_exact(const Counted& counted) { EXPECT_TRUE(counted.exact) << counted.problem; }

/// What the stepper counts. With a machine model a default run compares with a run of the engine without it, which is
/// compared with the stepper where there is no model.
inline Counted run_expected(Command command, bool exact) {
  if (!uses_model() || !exact || test::is_full_run()) return run_stepped(command);
  command.without_model = true;
  return run_counted(command);
}

/// Ends with `code`, behaves as natively and counts what the stepper counts, in every block size. The counts of a
/// program that is killed from outside must not be exact.
inline void expect_as_stepped(const Command& command, int code, bool exact) {
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, code) << native.err;
  const Counted stepped = run_expected(command, exact);
  ASSERT_TRUE(stepped.exact) << stepped.problem;
  expect_same(stepped.outcome, native);
  for (const int size : block_sizes()) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_counts(counted.counts, stepped.counts);
    if (exact) expect_exact(counted);
  }
}

}  // namespace tally::engine_test
