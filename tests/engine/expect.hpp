#pragma once
#include <gtest/gtest.h>

#include "tests/engine/run.hpp"

namespace tally::engine_test {

/// Blocks of one instruction, of a few, and of more than most programs have in a row.
inline constexpr int block_sizes[] = {1, 3, 64};

/// Equal in everything the world sees of a run.
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

}  // namespace tally::engine_test
