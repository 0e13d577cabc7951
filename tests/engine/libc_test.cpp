// Compares programs with a C library in the engine with native runs and with the single-stepper, under equal
// conditions: no ASLR, no rseq, the same environment and arguments.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> words = {};
  int code = 0;
  std::string input = {};
};

std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.name; }

std::string built(const char* name) { return std::string(LIBC_PROGRAMS) + "/" + name; }

Command command_of(const Case& one) {
  Command command;
  command.words = one.words;
  command.input = one.input;
  return command;
}

const auto name_of = [](const auto& one) { return std::string(one.param.name); };

/// Short enough to be single-stepped.
class SteppedLibcTest : public testing::TestWithParam<Case> {};

TEST_P(SteppedLibcTest, counts_what_the_stepper_counts) {
  expect_as_stepped(command_of(GetParam()), GetParam().code, true);
}

INSTANTIATE_TEST_SUITE_P(engine, SteppedLibcTest,
                         testing::Values(Case{"true_", {"/bin/true"}}, Case{"echo", {"/bin/echo", "hi"}},
                                         Case{"false_", {"/bin/false"}, 1},
                                         Case{"hello_dynamic", {built("hello_dynamic"), "you"}},
                                         Case{"hello_static", {built("hello_static"), "you"}},
                                         Case{"work_static", {built("work_static")}},
                                         Case{"jumps_dynamic", {built("jumps_dynamic")}, 3},
                                         Case{"jumps_static", {built("jumps_static")}, 3},
                                         Case{"handles_static", {built("handles_static")}, 3},
                                         Case{"streams_static", {built("streams_static")}, 5, "some\ninput\n"}),
                         name_of);

/// Programs that are too long to single-step. Their counts must be the same in each run, with every block size.
class LibcTest : public testing::TestWithParam<Case> {};

TEST_P(LibcTest, counts_one_total) {
  const Command command = command_of(GetParam());
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, GetParam().code) << native.err;
  const Counted first = run_counted(command);
  expect_same(first.outcome, native);
  expect_exact(first);
  EXPECT_GT(first.counts.instructions, 10000u);
  for (const int size : block_sizes()) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_counts(counted.counts, first.counts);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, LibcTest,
                         testing::Values(Case{"work_dynamic", {built("work_dynamic")}},
                                         Case{"throws_dynamic", {built("throws_dynamic")}},
                                         Case{"throws_static", {built("throws_static")}},
                                         Case{"handles_dynamic", {built("handles_dynamic")}, 3},
                                         Case{"streams_dynamic", {built("streams_dynamic")}, 5, "a\nb\n"}),
                         name_of);

/// Programs whose threads alternate in any order. Their counts may differ; the visible results must be the same.
class ThreadedLibcTest : public testing::TestWithParam<Case> {};

TEST_P(ThreadedLibcTest, behaves_as_natively) {
  const Command command = command_of(GetParam());
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, GetParam().code) << native.err;
  for (const int size : block_sizes()) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
    EXPECT_GT(counted.counts.instructions, 100000u);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, ThreadedLibcTest,
                         testing::Values(Case{"workers_dynamic", {built("workers_dynamic")}},
                                         Case{"workers_static", {built("workers_static")}}),
                         name_of);

}  // namespace
}  // namespace tally::engine_test
