// Code that changes, in each way that programs use: libc/changes.cpp.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Change {
  const char* name;
  bool exact = true;
  bool repeats = true;  ///< always the same number of instructions
};

std::ostream& operator<<(std::ostream& stream, const Change& change) { return stream << change.name; }

class ChangeTest : public testing::TestWithParam<Change> {};

/// In blocks of one instruction, also with a cache of a few blocks, and with all code reoptimized while it runs.
struct Limits {
  int block_size, cache_limit;
};
constexpr Limits limits[] = {{0, 0}, {1, 0}, {0, 20}, {reoptimized, 0}};

/// Runs a program natively and with all limits. `repeats`: the counts are the same each time.
void expect_as_natively(const Command& command, bool exact, bool repeats) {
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  Counts first;
  for (const Limits& limit : limits) {
    SCOPED_TRACE(testing::Message() << "block size " << limit.block_size << ", cache limit " << limit.cache_limit);
    const Counted counted = run_counted(command, limit.block_size, limit.cache_limit);
    expect_same(counted.outcome, native);
    EXPECT_EQ(counted.exact, exact) << counted.problem;
    if (&limit == &limits[0]) first = counted.counts;
    if (repeats) expect_counts(counted.counts, first);
  }
}

/// If the kernel may write at any time, no page is protected, and code is compared at each entry.
TEST_P(ChangeTest, is_seen_where_code_is_compared) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/changes_static", GetParam().name, "compared"};
  expect_as_natively(command, GetParam().exact, false);
}

TEST_P(ChangeTest, is_seen) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/changes_static", GetParam().name};
  expect_as_natively(command, GetParam().exact, GetParam().repeats);
}

INSTANTIATE_TEST_SUITE_P(
    engine, ChangeTest,
    testing::Values(Change{"over_and_over"}, Change{"dual_memory_file"}, Change{"dual_late"}, Change{"dual_protected"},
                    Change{"dual_unlinked_file"}, Change{"dual_private"}, Change{"dual_by_remap"},
                    Change{"dual_system_v"}, Change{"dual_read"}, Change{"dual_named_file", true, false},
                    Change{"written_file"}, Change{"truncated_file"}, Change{"written_memory"}, Change{"received"},
                    Change{"back_and_forth"}, Change{"toggled"}, Change{"looked_ahead"}, Change{"next_instruction"},
                    Change{"threads_patch", true, false}, Change{"crossing", true, false}, Change{"on_the_stack"},
                    Change{"vfork_patches"}, Change{"fork_patches", true, false}, Change{"child_patches", true, false},
                    Change{"child_patches_file", true, false}, Change{"sent_file", true, false},
                    Change{"inherited_file", true, false}, Change{"thrown_away"}, Change{"removed"}, Change{"pointers"},
                    Change{"pointers_half"}, Change{"pointers_shared"}, Change{"pointers_thrown_away"},
                    Change{"pointers_in_step", true, false}),
    [](const auto& one) { return std::string(one.param.name); });

/// All ways of writing code, one random way after the other: libc/code_writers.cpp.
class CodeWritersTest : public testing::TestWithParam<int> {};

TEST_P(CodeWritersTest, never_run_old_code) {
  for (const bool has_threads : {false, true}) {
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/code_writers_static", std::to_string(GetParam()), "300"};
    if (has_threads) command.words.emplace_back("threads");
    expect_as_natively(command, true, !has_threads);
  }
}

/// The numbers of generated code are compared with the plain models'.
TEST_P(CodeWritersTest, never_run_old_code_with_a_machine_model) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/code_writers_static", std::to_string(GetParam()), "300"};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  command.options = {"--model",     "haswell", "--llc", "private",
                     "--models-by", "both",    "-e",    "branch-misses,L1-dcache-load-misses,L1-icache-load-misses"};
  for (const Limits& limit : limits) {
    SCOPED_TRACE(testing::Message() << "block size " << limit.block_size << ", cache limit " << limit.cache_limit);
    expect_same(run_counted(command, limit.block_size, limit.cache_limit).outcome, native);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, CodeWritersTest, testing::Range(1, 4));

}  // namespace
}  // namespace tally::engine_test
