// Programs that are ended from outside: Ctrl-C, SIGTERM and kill -9, while they wait and while they compute.
#include <signal.h>

#include "tests/engine/expect.hpp"
#include "tests/engine/live.hpp"

namespace tally::engine_test {
namespace {

Command ends(const char* way) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/ends", way};
  return command;
}

class InterruptedTest : public testing::TestWithParam<const char*> {};

TEST_P(InterruptedTest, ctrl_c_ends_both_and_the_counts_are_written) {
  const Scratch scratch;
  const Command command = ends(GetParam());
  const std::string json = scratch.file("counts");
  Live live(tally_words(command, json, 0), command);
  ASSERT_TRUE(live.wait_for("ready"));
  live.signal_group(SIGINT);
  EXPECT_EQ(live.end(), 128 + SIGINT);
  EXPECT_GT(read_counts(json).counts.instructions, 2000u);
}

TEST_P(InterruptedTest, kill_of_the_program_is_reported_and_counted) {
  const Scratch scratch;
  const Command command = ends(GetParam());
  const std::string json = scratch.file("counts");
  Live live(tally_words(command, json, 0), command);
  ASSERT_TRUE(live.wait_for("ready"));
  const pid_t program = child_of(live.pid());
  ASSERT_GT(program, 0);
  ASSERT_EQ(kill(program, SIGKILL), 0);
  EXPECT_EQ(live.end(), 128 + SIGKILL);
  EXPECT_GT(read_counts(json).counts.instructions, 2000u);
}

TEST_P(InterruptedTest, a_signal_to_the_program_alone_ends_it_as_natively) {
  const Scratch scratch;
  const Command command = ends(GetParam());
  const std::string json = scratch.file("counts");
  Live native(command.words, command);
  ASSERT_TRUE(native.wait_for("ready"));
  ASSERT_EQ(kill(native.pid(), SIGTERM), 0);
  const int code = native.end();
  EXPECT_EQ(code, 128 + SIGTERM);
  Live live(tally_words(command, json, 0), command);
  ASSERT_TRUE(live.wait_for("ready"));
  ASSERT_EQ(kill(child_of(live.pid()), SIGTERM), 0);
  EXPECT_EQ(live.end(), code);
  const Counted counted = read_counts(json);
  expect_exact(counted);
}

INSTANTIATE_TEST_SUITE_P(engine, InterruptedTest, testing::Values("w", "b"),
                         [](const auto& one) { return one.param[0] == 'w' ? "waiting" : "computing"; });

TEST(Waiting, a_killed_program_has_counted_everything_before_its_wait) {
  const Command command = ends("w");
  uint64_t seen = 0;
  for (int i = 0; i < 3; ++i) {
    const Scratch scratch;
    const std::string json = scratch.file("counts");
    Live live(tally_words(command, json, 0), command);
    ASSERT_TRUE(live.wait_for("ready"));
    const std::string stat = "/proc/" + std::to_string(child_of(live.pid())) + "/syscall";
    // 34 is pause: nothing follows it.
    while (!read_file(stat).starts_with("34 ")) {
    }
    kill(child_of(live.pid()), SIGKILL);
    live.end();
    const uint64_t count = read_counts(json).counts.instructions;
    if (i == 0) seen = count;
    EXPECT_EQ(count, seen);
  }
}

}  // namespace
}  // namespace tally::engine_test
