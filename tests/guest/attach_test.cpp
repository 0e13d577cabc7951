// Attaching to running processes, threads and processors, and counting at times of the run, with a PMU.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Words = test::Words;

constexpr std::int64_t difference = 2 * (many - few);

// Two instructions a turn.
void count_down(std::int64_t turns) {
#if defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
  asm volatile("1: decq %0\n jnz 1b" : "+r"(turns) : : "cc");
#endif
}

// A byte that another process waits for.
class Signal {
 public:
  Signal() { EXPECT_EQ(pipe(ends_), 0); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void send_byte() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void wait() const {
    char given = 0;
    if (read(ends_[0], &given, 1) != 1) _exit(1);
  }

 private:
  int ends_[2] = {-1, -1};
};

// A child that prints when it is ready, works when it is asked to, and ends.
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
  void go() const { go_.send_byte(); }

 private:
  Signal ready_;
  Signal go_;
  pid_t pid_ = -1;
};

// Attaches by these options, and lets the children work once the counters are open; until their end.
test::Finished attach(const Words& options, const std::vector<const Child*>& children) {
  Words words{"stat", "-q", "--format", "csv", "-o", "-", "-e", "instructions", "-I", "50"};
  words.insert(words.end(), options.begin(), options.end());
  test::Running counting(test::tally_words(words));
  // The first interval is over, so the counters are open.
  EXPECT_TRUE(counting.wait_for_output("\r\n1,"));
  for (const Child* child : children) child->go();
  test::Finished finished = counting.finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  return finished;
}

// The counts of a row of that CSV: of the total, or of what these columns name ("PID,TID").
std::int64_t value_of(const test::Finished& finished, const std::string& whose = ",") {
  const std::string row = "\r\n1,," + whose + ",,,instructions:u,";
  const std::size_t at = finished.out.find(row);
  if (at == std::string::npos) {
    ADD_FAILURE() << row << " is not in " << finished.out << finished.err;
    return -1;
  }
  EXPECT_EQ(finished.out.find(",counted,", at), finished.out.find_first_of(",", at + row.size())) << finished.out;
  return std::stoll(finished.out.substr(at + row.size()));
}

// Counts the instructions of a child's work by attaching to it: from before the request to work to its end.
template <class Body>
std::int64_t attached(Body body, const char* option = "-p") {
  const Child child(body);
  return value_of(attach({option, std::to_string(child.pid())}, {&child}));
}

// Whether a thread's first line of status says that it is a zombie.
bool ends(pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(thread) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.find(") Z ") != std::string::npos;
}

// On an emulated processor one thread's difference is exact. Threads that synchronise execute a few more or fewer, by
// chance.
void expect_near(std::int64_t value, std::int64_t known, std::int64_t tolerance) {
  EXPECT_NEAR(static_cast<double>(value), static_cast<double>(known),
              static_cast<double>(tolerance + (is_guest() ? 0 : 2000)));
}

auto counting_down(std::int64_t turns) {
  return [turns](const Signal& ready, const Signal& go) {
    ready.send_byte();
    go.wait();
    count_down(turns);
  };
}

TEST(Attach, a_process_to_the_instruction) {
  TALLY_NEEDS_PMU();
  const std::int64_t one = attached(counting_down(few));
  const std::int64_t other = attached(counting_down(many));
  expect_near(other - one, difference, 0);
}

TEST(Attach, processes_that_it_starts_later) {
  TALLY_NEEDS_PMU();
  const auto body = [](std::int64_t turns) {
    return [turns](const Signal& ready, const Signal& go) {
      ready.send_byte();
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
      ready.send_byte();
      go.wait();
      for (int i = 0; i < 3; ++i) work.send_byte();
      for (std::thread& thread : threads) thread.join();
    };
  };
  expect_near(attached(body(many)) - attached(body(few)), 3 * difference, 60000);
}

TEST(Attach, one_thread_alone) {
  TALLY_NEEDS_PMU();
  const auto body = [](std::int64_t turns) {
    return [turns](const Signal& ready, const Signal& go) {
      ready.send_byte();
      go.wait();
      std::thread([turns] { count_down(turns); }).join();
      if (fork() == 0) _exit((count_down(turns), 0));
      wait(nullptr);
      count_down(turns);
    };
  };
  expect_near(attached(body(many), "-t") - attached(body(few), "-t"), difference, 2000);
}

TEST(Attach, several_processes_are_one_count) {
  TALLY_NEEDS_PMU();
  const auto both = [](std::int64_t one_turns, std::int64_t other_turns) {
    const Child one(counting_down(one_turns));
    const Child other(counting_down(other_turns));
    return value_of(attach({"-p", std::to_string(one.pid()) + "," + std::to_string(other.pid())}, {&one, &other}));
  };
  const std::int64_t little = both(few, few);
  expect_near(both(many, few) - little, difference, 0);
  expect_near(both(few, many) - little, difference, 0);
}

// Three threads that do one, two and three times as much.
TEST(Attach, each_thread_in_its_own_row) {
  TALLY_NEEDS_PMU();
  const Child child([](const Signal& ready, const Signal& go) {
    const Signal work;
    std::vector<std::thread> threads;
    for (int i = 1; i <= 3; ++i) {
      threads.emplace_back([&work, i] {
        work.wait();
        count_down(i * many);
      });
    }
    ready.send_byte();
    go.wait();
    for (int i = 0; i < 3; ++i) work.send_byte();
    for (std::thread& thread : threads) thread.join();
  });
  const std::string pid = std::to_string(child.pid());
  const test::Finished finished = attach({"--per-thread", "--per-process", "-p", pid}, {&child});
  std::int64_t sum = value_of(finished, pid + "," + pid);
  EXPECT_LT(sum, many) << "the first only waits";
  std::vector<std::int64_t> counts;
  for (std::size_t at = 0; (at = finished.out.find("\r\n1,," + pid + ",", at)) != std::string::npos; ++at) {
    const std::string thread =
        finished.out.substr(at + 6 + pid.size(), finished.out.find(',', at + 6 + pid.size()) - at - 6 - pid.size());
    if (thread.empty() || thread == pid) continue;
    counts.push_back(value_of(finished, pid + "," + thread));
    sum += counts.back();
  }
  std::sort(counts.begin(), counts.end());
  ASSERT_EQ(counts.size(), 3u) << finished.out;
  for (std::int64_t i = 0; i < 3; ++i) expect_near(counts[static_cast<std::size_t>(i)], 2 * (i + 1) * many, 20000);
  EXPECT_EQ(value_of(finished, pid + ","), sum) << "of the process";
  EXPECT_EQ(value_of(finished), sum);
}

// The other threads of a process continue after its first thread has ended.
TEST(Attach, a_process_without_its_first_thread) {
  TALLY_NEEDS_PMU();
  const auto body = [](std::int64_t turns) {
    return [turns](const Signal& ready, const Signal& go) {
      const pid_t first = getpid();
      std::thread([=, &ready, &go] {
        while (!ends(first)) {
        }
        ready.send_byte();
        go.wait();
        count_down(turns);
        _exit(0);
      }).detach();
      syscall(SYS_exit, 0);  // ends this thread only, without unwinding
    };
  };
  expect_near(attached(body(many)) - attached(body(few)), difference, 2000);
}

TEST(Attach, of_the_kernels_own_threads_there_is_no_user_mode) {
  TALLY_NEEDS_PMU();
  if (geteuid() != 0) GTEST_SKIP() << "the kernel's threads are counted by root";
  const auto error_for = [](const char* event) {
    return test::tally({"stat", "-e", event, "-p", "2", "--timeout", "10"}).err;
  };
  EXPECT_NE(error_for("instructions").find("2 (kthreadd) is a kernel thread: it never runs in user mode"),
            std::string::npos);
  EXPECT_EQ(error_for("instructions:k").find("kernel thread"), std::string::npos);
}

bool has_counters(pid_t process) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    if (std::filesystem::read_symlink(file, error) == "anon_inode:[perf_event]") return true;
  }
  return false;
}

TEST(Attach, what_is_done_before_the_delay_is_over_is_left_out) {
  TALLY_NEEDS_PMU();
  const Signal done;
  const Child child([&done](const Signal& ready, const Signal& go) {
    ready.send_byte();
    go.wait();
    count_down(many);
    done.send_byte();
    go.wait();
    count_down(few);
  });
  test::Running counting(test::tally_words({"stat", "-q", "--format", "csv", "-o", "-", "-e", "instructions", "-I",
                                            "50", "--delay", "500", "-p", std::to_string(child.pid())}));
  while (!has_counters(counting.pid())) {
  }
  child.go();
  done.wait();
  ASSERT_TRUE(counting.wait_for_output("\r\n1,"));
  child.go();
  const std::int64_t value = value_of(counting.finish());
  EXPECT_GE(value, 2 * few);
  EXPECT_LT(value, 2 * many);
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

// A control group of its own, below the hierarchy that the guest has mounted. The kernel counts in a group only if any
// controller is enabled for it.
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
  EXPECT_LT(inside.value("instructions:u"), 3 * many) << "what it executed before it joined is not counted";
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

TEST(Modes, kernel_and_user_together_on_request) {
  TALLY_NEEDS_PMU();
  const Counted both = counted({"--kernel", "-e", "instructions,cycles:u"}, {known("system_calls", 1000).path});
  EXPECT_GT(both.value("instructions:uk"), 50000);
  EXPECT_GT(both.value("cycles:u"), 0);
}

}  // namespace
}  // namespace tally::hardware_test
