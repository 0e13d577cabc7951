// Compares programs with a C library in the engine with native runs and with the single-stepper, under equal
// conditions: no ASLR, no rseq, the same environment and arguments.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct LibcCase {
  const char* name;
  std::vector<std::string> words = {};
  int code = 0;
  std::string input = {};
};

std::ostream& operator<<(std::ostream& stream, const LibcCase& one) { return stream << one.name; }

std::string libc_program(const char* name) { return std::string(LIBC_PROGRAMS) + "/" + name; }

Command command_of(const LibcCase& one) {
  Command command;
  command.words = one.words;
  command.input = one.input;
  return command;
}

const auto libc_name = [](const auto& one) { return std::string(one.param.name); };

/// Short enough to be single-stepped.
class SteppedLibcTest : public testing::TestWithParam<LibcCase> {};

TEST_P(SteppedLibcTest, counts_what_the_stepper_counts) {
  expect_as_stepped(command_of(GetParam()), GetParam().code, true);
}

INSTANTIATE_TEST_SUITE_P(engine, SteppedLibcTest,
                         testing::Values(LibcCase{"true_", {"/bin/true"}}, LibcCase{"echo", {"/bin/echo", "hi"}},
                                         LibcCase{"false_", {"/bin/false"}, 1},
                                         LibcCase{"hello_dynamic", {libc_program("hello_dynamic"), "you"}},
                                         LibcCase{"hello_static", {libc_program("hello_static"), "you"}},
                                         LibcCase{"spawn_once", {libc_program("spawning_dynamic"), "spawn_once"}},
                                         LibcCase{"work_static", {libc_program("work_static")}},
                                         LibcCase{"jumps_dynamic", {libc_program("jumps_dynamic")}, 3},
                                         LibcCase{"jumps_static", {libc_program("jumps_static")}, 3},
                                         LibcCase{"handles_static", {libc_program("handles_static")}, 3},
                                         LibcCase{
                                             "streams_static", {libc_program("streams_static")}, 5, "some\ninput\n"}),
                         libc_name);

/// Programs that are too long to single-step. Their counts must be the same in each run, with every block size.
class LibcTest : public testing::TestWithParam<LibcCase> {};

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
                         testing::Values(LibcCase{"work_dynamic", {libc_program("work_dynamic")}},
                                         LibcCase{"throws_dynamic", {libc_program("throws_dynamic")}},
                                         LibcCase{"throws_static", {libc_program("throws_static")}},
                                         LibcCase{"handles_dynamic", {libc_program("handles_dynamic")}, 3},
                                         LibcCase{"streams_dynamic", {libc_program("streams_dynamic")}, 5, "a\nb\n"}),
                         libc_name);

/// Programs whose threads alternate in any order. Their counts may differ; the visible results must be the same.
class ThreadedLibcTest : public testing::TestWithParam<LibcCase> {};

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
                         testing::Values(LibcCase{"workers_dynamic", {libc_program("workers_dynamic")}},
                                         LibcCase{"workers_static", {libc_program("workers_static")}}),
                         libc_name);

}  // namespace
}  // namespace tally::engine_test
