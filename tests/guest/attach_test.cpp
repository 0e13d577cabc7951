// Processes, threads and processors that run already, and the times at which is counted, with a PMU.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <thread>
#include <vector>

#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Words = test::Words;

const std::string whole_row = "\r\n1,,,,,,instructions:u,";

constexpr std::int64_t few = 1000;
constexpr std::int64_t many = 1000000;
constexpr std::int64_t difference = 2 * (many - few);

// Two instructions a turn.
void count_down(std::int64_t turns) {
#if defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
  asm volatile("1: decq %0\n jnz 1b" : "+r"(turns) : : "cc");
#endif
}

// A byte that somebody waits for.
class Signal {
 public:
  Signal() { EXPECT_EQ(pipe(ends_), 0); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void give() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void wait() const {
    char given = 0;
    if (read(ends_[0], &given, 1) != 1) _exit(1);
  }

 private:
  int ends_[2] = {-1, -1};
};

// A child that says when it is ready, does something when it is told, and ends.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) {
    pid_ = fork();
    if (pid_ == 0) {
      body(ready_, go_);
      _exit(0);
    }
    ready_.wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  void go() const { go_.give(); }

 private:
  Signal ready_;
  Signal go_;
  pid_t pid_ = -1;
};

// Counts instructions of a child's work by attaching to it: from before it is told to work to its end.
template <class Body>
std::int64_t attached(Body body, const Words& options = {}) {
  const Child child(body);
  Words words{"stat", "-q", "--format", "csv", "-o", "-", "-e", "instructions", "-I", "50"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-p", std::to_string(child.pid())});
  test::Running counting(test::tally_words(words));
  // The first interval is over: the counters are open.
  EXPECT_TRUE(counting.wait_for_output("\r\n1,"));
  child.go();
  const test::Finished finished = counting.finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const std::size_t at = finished.out.find(whole_row);
  if (at == std::string::npos) {
    ADD_FAILURE() << finished.out << finished.err;
    return -1;
  }
  EXPECT_NE(finished.out.find(",counted,", at), std::string::npos);
  return std::stoll(finished.out.substr(at + whole_row.size()));
}

// Emulated, one thread's difference is exact. Threads that meet do a little more or less, as it happens.
void expect_near(std::int64_t value, std::int64_t known, std::int64_t tolerance) {
  EXPECT_NEAR(static_cast<double>(value), static_cast<double>(known),
              static_cast<double>(tolerance + (is_guest() ? 0 : 2000)));
}

auto turns_of(std::int64_t turns) {
  return [turns](const Signal& ready, const Signal& go) {
    ready.give();
    go.wait();
    count_down(turns);
  };
}

TEST(Attach, a_process_to_the_instruction) {
  TALLY_NEEDS_PMU();
  const std::int64_t one = attached(turns_of(few));
  const std::int64_t other = attached(turns_of(many));
  expect_near(other - one, difference, 0);
}

TEST(Attach, what_it_starts_from_then_on) {
  TALLY_NEEDS_PMU();
  const auto body = [](std::int64_t turns) {
    return [turns](const Signal& ready, const Signal& go) {
      ready.give();
      go.wait();
      for (int i = 0; i < 3; ++i) {
        if (fork() != 0) continue;
        count_down(turns);
        std::thread([turns] { count_down(turns); }).join();
        _exit(0);
      }
      while (wait(nullptr) > 0) {
      }
    };
  };
  expect_near(attached(body(many)) - attached(body(few)), 6 * difference, 60000);
}

TEST(Attach, all_threads_that_it_has) {
  TALLY_NEEDS_PMU();
  const auto body = [](std::int64_t turns) {
    return [turns](const Signal& ready, const Signal& go) {
      const Signal work;
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          work.wait();
          count_down(turns);
        });
      }
      ready.give();
      go.wait();
      for (int i = 0; i < 3; ++i) work.give();
      for (std::thread& thread : threads) thread.join();
    };
  };
  expect_near(attached(body(many)) - attached(body(few)), 3 * difference, 60000);
}

TEST(Attach, one_thread_alone) {
  TALLY_NEEDS_PMU();
  const Child child([](const Signal& ready, const Signal& go) {
    ready.give();
    go.wait();
    std::thread([] { count_down(many); }).join();
    count_down(few);
  });
  test::Running counting(test::tally_words({"stat", "-q", "--format", "csv", "-o", "-", "-e", "instructions", "-I",
                                            "50", "-t", std::to_string(child.pid())}));
  ASSERT_TRUE(counting.wait_for_output("\r\n1,"));
  child.go();
  const test::Finished finished = counting.finish();
  const std::size_t at = finished.out.find(whole_row);
  ASSERT_NE(at, std::string::npos) << finished.out;
  const std::int64_t value = std::stoll(finished.out.substr(at + whole_row.size()));
  EXPECT_GE(value, 2 * few);
  EXPECT_LT(value, 2 * many) << "the other thread's are not its own";
}

TEST(Attach, whole_processors) {
  TALLY_NEEDS_PMU();
  if (geteuid() != 0) GTEST_SKIP() << "whole processors are counted by root";
  const std::string loop = known("countdown", 1000000).path;
  const Counted here = counted({"-C", "0", "-e", "instructions,duration_time", "--pin", "0"}, {loop});
  EXPECT_GE(here.value("instructions:u"), 2 * many);
  EXPECT_LT(here.value("instructions:u"), 3 * many);
  const Counted all = counted({"-a", "-e", "instructions,instructions:k"}, {loop});
  EXPECT_GE(all.value("instructions:u"), 2 * many);
  EXPECT_GT(all.value("instructions:k"), 0);
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "one processor has no other one";
  const Counted elsewhere = counted({"-C", "1", "-e", "instructions", "--pin", "0"}, {loop});
  EXPECT_LT(elsewhere.value("instructions:u"), 2 * many);
}

TEST(Attach, parts_of_processors_add_up) {
  TALLY_NEEDS_PMU();
  if (geteuid() != 0) GTEST_SKIP() << "whole processors are counted by root";
  const std::string loop = known("countdown", 1000000).path;
  for (const char* option : {"--per-core", "--per-socket"}) {
    const Counted result = counted({"-a", option, "-e", "instructions,instructions:k"}, {loop});
    std::int64_t sum = 0;
    for (const auto& [part, rows] : result.parts) sum += rows.at("instructions:u").value.value_or(0);
    EXPECT_FALSE(result.parts.empty()) << option;
    EXPECT_EQ(sum, result.value("instructions:u")) << option;
    EXPECT_GE(sum, 2 * many) << option;
  }
}

// A control group of its own, below the hierarchy that the guest has mounted. The kernel counts in a group only once a
// controller, whichever, is handed down to it.
class Group {
 public:
  Group() {
    std::ofstream(root_ + "/cgroup.subtree_control") << "+pids" << std::flush;
    is_made_ = mkdir(path().c_str(), 0755) == 0;
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { rmdir(path().c_str()); }
  std::string path() const { return root_ + "/tally-test"; }
  bool works() const { return is_made_; }

 private:
  std::string root_ = "/sys/fs/cgroup";
  bool is_made_ = false;
};

TEST(Attach, a_control_group_and_nothing_else) {
  TALLY_NEEDS_PMU();
  if (!is_guest() || geteuid() != 0) GTEST_SKIP() << "control groups are changed in the guest only";
  const Group group;
  ASSERT_TRUE(group.works());
  const std::string loop = known("countdown", 1000000).path;
  const Words events{"--cgroup", "tally-test", "-e", "instructions"};
  const Counted outside = counted(events, {loop});
  EXPECT_EQ(outside.value("instructions:u"), 0);
  const Counted inside =
      counted(events, {"sh", "-c", loop + "; echo $$ >" + group.path() + "/cgroup.procs; exec " + loop});
  EXPECT_GE(inside.value("instructions:u"), 2 * many);
  EXPECT_LT(inside.value("instructions:u"), 3 * many) << "what it did before it joined is none of it";
  EXPECT_EQ(test::tally({"stat", "--cgroup", "no-such", "-e", "instructions", "--", "true"}).code(), 125);
}

TEST(Timing, intervals_of_instructions_add_up) {
  TALLY_NEEDS_PMU();
  const test::Finished finished =
      test::tally({"stat", "-q", "--format", "csv", "-o", "-", "-e", "instructions", "-I", "1", "--", "sh", "-c",
                   known("countdown", 1000000).path + "; " + known("countdown", 1000000).path});
  std::int64_t sum = 0;
  std::int64_t whole = 0;
  for (std::size_t at = finished.out.find("\r\n1,"); at != std::string::npos;
       at = finished.out.find("\r\n1,", at + 1)) {
    const std::size_t value = finished.out.find("instructions:u,", at) + 15;
    if (value < 15) break;
    (finished.out.compare(at, 5, "\r\n1,,") == 0 ? whole : sum) += std::stoll(finished.out.substr(value));
  }
  EXPECT_EQ(sum, whole) << finished.out;
  EXPECT_GT(whole, 4 * many);
}

TEST(Timing, counting_begins_after_the_delay) {
  TALLY_NEEDS_PMU();
  const std::string loop = known("countdown", 1000000).path;
  const Words command{"sh", "-c", loop + "; sleep 0.4; " + known("countdown", 1000).path + "; :"};
  const Counted later = counted({"-e", "instructions", "--delay", "200"}, command);
  EXPECT_GE(later.value("instructions:u"), 2 * few);
  EXPECT_LT(later.value("instructions:u"), 2 * many);
}

TEST(Modes, kernel_and_user_together_where_they_are_asked_for) {
  TALLY_NEEDS_PMU();
  const Counted both = counted({"--kernel", "-e", "instructions,cycles:u"}, {known("system_calls", 1000).path});
  EXPECT_GT(both.value("instructions:uk"), 50000);
  EXPECT_GT(both.value("cycles:u"), 0);
}

}  // namespace
}  // namespace tally::hardware_test
