// Programs that read a clock that counts their instructions (--clock counted).
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command reading(const std::string& what, const char* kind = "dynamic") {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/clocks_" + kind, what};
  command.options = {"--repeatable", "--clock", "counted"};
  return command;
}

/// The numbers in each line, by its name.
std::map<std::string, std::vector<std::int64_t>> numbers_in(const std::string& text) {
  std::map<std::string, std::vector<std::int64_t>> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    std::istringstream words(line.substr(colon + 1));
    for (std::string word; words >> word;)
      if (word.front() >= '0' && word.front() <= '9') found[line.substr(0, colon)].push_back(std::stoll(word));
  }
  return found;
}

class Clocks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(engine, Clocks, testing::Values("dynamic", "static"));

TEST_P(Clocks, are_the_same_in_each_run) {
  const Counted first = run_counted(reading("all", GetParam()));
  EXPECT_EQ(first.outcome.code, 0);
  expect_exact(first);
  for (const int size : {0, 1, 64, reoptimized}) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted again = run_counted(reading("all", GetParam()), size);
    expect_same(again.outcome, first.outcome);
    expect_counts(again.counts, first.counts);
  }
}

TEST(Clocks, have_one_time_and_their_offsets) {
  const auto read = numbers_in(run_counted(reading("all")).outcome.out);
  constexpr std::int64_t second = 1'000'000'000, epoch = 1'893'456'000, boot = 10'000;
  for (const char* const name : {"clock 0", "clock 5", "clock 8"}) EXPECT_EQ(read.at(name)[0] / second, epoch) << name;
  EXPECT_EQ(read.at("clock 11")[0] / second, epoch + 37);
  for (const char* const name : {"clock 1", "clock 4", "clock 6", "clock 7", "clock 9", "ticks"}) {
    EXPECT_EQ(read.at(name)[0] / second, boot) << name;
    EXPECT_LT(read.at(name)[0], read.at(name)[1]);
    EXPECT_LT(read.at(name)[1] - read.at(name)[0], 1'000'000);
  }
  EXPECT_LT(read.at("clock 2")[0], second);
  EXPECT_LT(read.at("clock 3")[0], read.at("own clocks")[0]);
  EXPECT_EQ(read.at("day")[0], epoch);
  EXPECT_EQ(read.at("seconds"), (std::vector<std::int64_t>{epoch, epoch}));
  EXPECT_EQ(read.at("times")[0], boot * 100);
}

TEST_P(Clocks, answer_whatever_else_depends_on_time) {
  const Counted first = run_counted(reading("others", GetParam()));
  EXPECT_EQ(first.outcome.code, 0);
  expect_same(run_counted(reading("others", GetParam())).outcome, first.outcome);
  const auto read = numbers_in(first.outcome.out);
  constexpr std::int64_t us = 1000, ms = 1000 * us, second = 1000 * ms;
  using Numbers = std::vector<std::int64_t>;
  for (const char* const clock : {"0", "1", "2", "5", "6", "7", "11"})
    EXPECT_EQ(read.at("resolution of " + std::string(clock)), (Numbers{1, 1})) << clock;
  const auto expect_between = [&](const char* name, std::size_t i, std::int64_t low, std::int64_t high) {
    EXPECT_TRUE(read.at(name)[i] >= low && read.at(name)[i] < high) << name << ": " << read.at(name)[i];
  };
  // Some reads of the clock are the child's, too.
  expect_between("wait4", 0, 30 * ms / us, 31 * ms / us);
  expect_between("before the wait", 0, 30 * ms / us, 31 * ms / us);
  expect_between("waitid", 0, 50 * ms / us, 51 * ms / us);
  expect_between("children", 0, 100 * ms / us, 102 * ms / us);
  for (const char* const name : {"wait4", "waitid", "children", "times of children"}) EXPECT_EQ(read.at(name)[1], 0);
  EXPECT_EQ(read.at("times of children")[0], 10);
  expect_between("clock of a thread", 0, 10, 12);
  for (const char* const name : {"timerfd_gettime", "timer_gettime", "timer_settime"}) {
    expect_between(name, 0, 999 * second + 990 * ms, 999 * second + 995 * ms);
    EXPECT_EQ(read.at(name)[1], 7);
  }
  expect_between("getitimer", 0, 999'990'000, 999'995'000);
  EXPECT_EQ(read.at("alarm")[0], 1000);
  EXPECT_EQ(read.at("stopped")[0], 0);
  EXPECT_EQ(read.at("sysinfo")[0], 10000);
  EXPECT_NE(first.outcome.out.find("/proc/uptime: 10000."), std::string::npos) << first.outcome.out;
  EXPECT_NE(first.outcome.out.find("/proc/stat: btime 1893446000\n"), std::string::npos);
  const Numbers own = read.at("own stat");
  ASSERT_EQ(own.size(), 10u) << first.outcome.out;
  EXPECT_EQ((Numbers{own[1], own[2], own[3]}), (Numbers{0, 10, 0}));
  EXPECT_EQ(own[4], 1'000'000);
  EXPECT_GE(own[5], own[0]);
}

TEST(Clocks, leave_times_of_files_and_of_the_kernel) {
  const std::int64_t real = std::time(nullptr);
  const auto read = numbers_in(run_counted(reading("real")).outcome.out);
  for (const char* const name : {"written", "touched", "adjtimex"})
    EXPECT_LT(std::abs(read.at(name)[0] - real), 1000) << name;
}

TEST(Clocks, count_nothing_for_a_function_but_its_return) {
  // The same program with the real clock executes the functions of the vdso, which a repeatable run does not have.
  Command counted = reading("all"), real = reading("all");
  counted.options = {"--clock", "counted"};
  real.options = {};
  EXPECT_LT(run_counted(counted).counts.instructions, run_counted(real).counts.instructions);
}

TEST_P(Clocks, pass_while_the_program_waits) {
  const Outcome outcome = run_counted(reading("waits", GetParam())).outcome;
  EXPECT_EQ(outcome.code, 0);
  const auto waits = numbers_in(outcome.out);
  EXPECT_GE(waits.size(), 14u) << outcome.out;
  for (const auto& [name, numbers] : waits)
    for (std::size_t i = 0; i < 2; i++) EXPECT_TRUE(numbers[i] >= 20 && numbers[i] < 60) << name << ": " << numbers[i];
}

TEST(Clocks, reach_deadlines) {
  const Outcome outcome = run_counted(reading("polls")).outcome;
  EXPECT_EQ(outcome.out, "all deadlines passed\n");
  EXPECT_EQ(run_counted(reading("signals")).outcome.out, "all deadlines passed\n");
}

TEST(Clocks, are_not_earlier_in_another_thread) {
  for (int i = 0; i < 3; i++)
    EXPECT_EQ(run_counted(reading("threads")).outcome.out,
              "earlier than another thread: 0\nprocess time: 1 thread time: 1\n");
}

TEST(Clocks, continue_in_children_and_programs) {
  const Counted first = run_counted(reading("processes")), second = run_counted(reading("processes"));
  EXPECT_EQ(first.outcome.code, 0);
  EXPECT_EQ(first.outcome.out, second.outcome.out);
  EXPECT_EQ(first.outcome.out.find("earlier"), std::string::npos) << first.outcome.out;
  std::int64_t last = 0;
  for (const char* const name : {"3", "2", "1", "0"}) {
    const std::int64_t time = numbers_in(first.outcome.out).at(name).front();
    EXPECT_GT(time, last);
    last = time;
  }
}

TEST(Clocks, stop_with_the_real_clock_only_where_that_is_asked_for) {
  Command native = reading("all");
  native.options = {};
  EXPECT_NE(run_counted(native).outcome.out, run_counted(reading("all")).outcome.out);
  Command tally;
  tally.words = {TALLY, "stat", "--backend", "none", "--clock", "counted", "--", "/bin/true"};
  const Outcome refused = run_native(tally);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--clock counted needs the engine"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace tally::engine_test
