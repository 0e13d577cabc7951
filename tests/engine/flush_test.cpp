// A full code cache is discarded while the program's threads run: the program does not notice, and no instruction is
// counted twice or lost. With caches of a few traces that happens thousands of times.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Program {
  const char* name;
  std::vector<std::string> words;
};

std::ostream& operator<<(std::ostream& stream, const Program& program) { return stream << program.name; }

const auto name_of = [](const auto& one) { return std::string(one.param.name); };

Command command_of(const Program& program) {
  Command command;
  command.words = program.words;
  command.options = {"--wait-all"};  // orphans of late_child may run last, on a slow machine
  return command;
}

std::string bare(const char* name) { return std::string(PROGRAMS) + "/" + name; }
std::string libc(const char* name) { return std::string(LIBC_PROGRAMS) + "/" + name; }

/// Every trace alone, and a few.
constexpr int cache_limits[] = {1, 20};

class FlushTest : public testing::TestWithParam<Program> {};

TEST_P(FlushTest, changes_no_count) {
  const Command command = command_of(GetParam());
  const Outcome native = run_native(command);
  const Counted unlimited = run_counted(command);
  expect_same(unlimited.outcome, native);
  for (const int limit : cache_limits) {
    SCOPED_TRACE(testing::Message() << "cache limit " << limit);
    const Counted counted = run_counted(command, 0, limit);
    expect_same(counted.outcome, native);
    expect_exact(counted);
    expect_counts(counted.counts, unlimited.counts);
  }
}

INSTANTIATE_TEST_SUITE_P(
    engine, FlushTest,
    testing::Values(Program{"branches", {bare("branches")}}, Program{"rewrite", {bare("rewrite")}},
                    Program{"threads", {bare("threads")}}, Program{"processes", {bare("processes")}},
                    Program{"late_child", {bare("late_child")}}, Program{"nested", {bare("nested")}},
                    Program{"alternate_stack", {bare("alternate_stack")}},
                    Program{"leave_handler", {bare("leave_handler")}}, Program{"queued", {bare("queued")}},
                    Program{"restarts", {bare("restarts")}}, Program{"thread_signals", {bare("thread_signals")}},
                    Program{"fault_skip", {bare("fault_skip")}}, Program{"strings", {bare("strings")}},
                    Program{"locked", {libc("edges_static"), "locked"}},
                    Program{"hello_dynamic", {libc("hello_dynamic"), "you"}}),
    name_of);

/// Several threads alternate in any order: the visible results are the same.
class ThreadedFlushTest : public testing::TestWithParam<Program> {};

TEST_P(ThreadedFlushTest, behaves_as_natively) {
  const Command command = command_of(GetParam());
  const Outcome native = run_native(command);
  for (const int limit : {30, 100, 1000}) {
    SCOPED_TRACE(testing::Message() << "cache limit " << limit);
    const Counted counted = run_counted(command, 0, limit);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, ThreadedFlushTest,
                         testing::Values(Program{"workers_dynamic", {libc("workers_dynamic")}},
                                         Program{"workers_static", {libc("workers_static")}},
                                         Program{"masks", {libc("edges_static"), "masks"}},
                                         Program{"killed_at_birth", {libc("edges_static"), "killed_at_birth"}},
                                         Program{"failed_exec", {libc("edges_static"), "failed_exec"}},
                                         Program{
                                             "spawns",
                                             {"/bin/sh", "-c",
                                              "for i in 1 2 3 4 5; do (/bin/echo $i & /bin/true; wait) | cat; done; "
                                              "wait"}}),
                         name_of);

}  // namespace
}  // namespace tally::engine_test
