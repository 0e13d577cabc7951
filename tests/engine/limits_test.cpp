// Conflicts between the engine's resources and the program's: descriptors, memory, room for translated code.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command shell(const std::string& script) {
  Command command;
  command.words = {"/bin/sh", "-c", script};
  return command;
}

void expect_as_natively(const Command& command) {
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  expect_same(run_counted(command).outcome, native);
}

TEST(Descriptors, may_be_few) { expect_as_natively(shell("ulimit -n 4; /bin/echo hi")); }

TEST(Descriptors, may_all_be_closed) { expect_as_natively(shell("exec <&- >&- 2>&-; exec /bin/true")); }

// Listed by the program itself, by a child about its parent, and under the other names of the same directory.
TEST(Descriptors, of_the_engine_are_not_listed) {
  expect_as_natively(shell("ls /proc/self/fd /proc/self/fdinfo"));
  expect_as_natively(shell("for d in fd fdinfo task/$$/fd task/$$/fdinfo; do cd /proc/$$/$d; ls; done"));
}

// The engine's descriptors are above the limit, where the program may have none.
TEST(Descriptors, of_every_number_are_free) {
  Command command;
  command.words = {"/usr/bin/perl", "-e",
                   "for $n (3 .. 1023) { require POSIX; POSIX::dup2(1, $n) // die qq($n: $!\\n); } print qq(done\\n)"};
  expect_as_natively(command);
}

TEST(Descriptors, let_tally_run_under_tally) {
  Command command;
  command.words = {TALLY, "stat", "--", "/bin/echo", "hi"};
  const Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.code, 0) << counted.outcome.err;
  EXPECT_EQ(counted.outcome.out, "hi\n");
  EXPECT_FALSE(counted.exact);  // the inner tally's engine runs the program, not the outer's
}

TEST(Memory, may_have_any_layout) { expect_as_natively(shell("ulimit -s unlimited; /bin/echo hi")); }

// With too little address space for the engine, a program runs natively.
TEST(Memory, may_be_too_little_for_the_engine) {
  expect_as_natively(shell("ulimit -v 60000; /bin/echo hi"));
  expect_as_natively(shell("ulimit -d 20000; /bin/echo hi"));
}

TEST(Memory, that_is_too_little_is_reported_with_its_limit) {
  for (const std::string limit : {"-v 900000", "-d 300000"}) {
    Command command = shell("ulimit " + limit + "; exec \"$0\" stat -e instructions -- /bin/echo hi");
    command.words.emplace_back(TALLY);
    const Outcome outcome = run_native(command);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "hi\n");
    EXPECT_NE(outcome.err.find("not enough memory for the engine (see `ulimit " + limit.substr(0, 2) + "`)"),
              std::string::npos)
        << outcome.err;
  }
}

// A limit that a program sets for itself applies to the program only: the engine's memory does not count.
TEST(Memory, may_be_limited_by_the_program) {
  for (const char* limit : {"-v 300000", "-d 100000", "-v 1400000"}) {
    const std::string script =
        std::string("ulimit ") + limit + "; ulimit -v; ulimit -d; /bin/sh -c '/bin/echo hi; exec /bin/echo ho'";
    const Command command = shell(script);
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 0) << native.err;
    const Counted counted = run_counted(command);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

// Enough for the engine, but not for its caches: the program must not enter and leave the engine for ever.
TEST(Memory, may_end_at_any_limit) {
  // python3 has a fixed address, and its libraries are far from it: two caches.
  const char* program =
      access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3 -c 'print(1)'" : "/usr/bin/perl -e 'print 1'";
  for (int limit = 800; limit <= 2000; limit += 100) {
    Command command = shell(std::string("ulimit -v ") + std::to_string(limit) + "000; exec \"$0\" stat -- " + program);
    command.words.emplace_back(TALLY);
    const Outcome outcome = run_native(command);
    EXPECT_EQ(outcome.code, 0) << limit << " " << outcome.err;
  }
}

// The engine's tables cannot grow any more: it reuses them, or the program continues natively.
TEST(Memory, may_be_used_up_by_the_program) {
  for (const char* kind : {"dynamic", "static"}) {
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/edges_" + kind, "without_space"};
    expect_as_natively(command);
  }
}

Command limited(std::vector<std::string> arguments) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/limits_static"};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

// A hardened service hands this on to all that it executes.
TEST(Memory, that_may_not_be_writable_code_is_named) {
  Command command = limited({"without_writable_code", "/bin/true"});
  if (run_native(command).code == 77) GTEST_SKIP() << "the kernel has no PR_SET_MDWE";
  command = limited({"without_writable_code", TALLY, "stat", "-e", "instructions", "--", "/bin/echo", "hi"});
  const Outcome outcome = run_native(command);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "hi\n");
  EXPECT_NE(outcome.err.find("MemoryDenyWriteExecute"), std::string::npos) << outcome.err;
}

// With vm.overcommit_memory = 2 the kernel counts all memory that could be written, for each forked process again.
// Tests cannot set that; the engine does what it does there.
TEST(Memory, becomes_usable_in_steps) {
  Command command = limited({"writable_memory"});
  command.environment.emplace_back("TALLY_ENGINE_TEST=steps");
  const Counted small = run_counted(command);
  EXPECT_EQ(small.outcome.out, "less than 128 MB\n");
  expect_exact(small);
  command.words = {std::string(PROGRAMS) + "/fuzz", "1000", "300", "400"};
  const Counted in_steps = run_counted(command);
  command.environment.pop_back();
  const Counted counted = run_counted(command);
  expect_same(in_steps.outcome, counted.outcome);
  expect_counts(in_steps.counts, counted.counts);
  expect_exact(in_steps);
}

/// A control group whose memory is limited, if this user can create one.
class LimitedGroup {
 public:
  explicit LimitedGroup(const std::string& limit) {
    const std::string name = "/tally-test-" + std::to_string(getpid());
    for (const std::string folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/memory"}) {
      if (!path_.empty() || mkdir((folder + name).c_str(), 0755) != 0) continue;
      path_ = folder + name;
      bool has_limit = false;
      for (const char* file : {"/memory.swap.max", "/memory.max", "/memory.limit_in_bytes"})
        if (access((path_ + file).c_str(), W_OK) == 0) {
          std::ofstream(path_ + file) << (std::string(file) == "/memory.swap.max" ? "0" : limit);
          has_limit = std::string(file) != "/memory.swap.max";
        }
      if (has_limit) continue;
      rmdir(path_.c_str());
      path_.clear();
    }
  }
  ~LimitedGroup() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// As in a container or a unit of systemd with MemoryMax.
TEST(Memory, that_a_control_group_lacks_is_named) {
  const LimitedGroup group("64M");
  if (group.path().empty()) GTEST_SKIP() << "no control group with a limit on memory can be created here";
  if (read_file("/proc/swaps").find("\n/") != std::string::npos) GTEST_SKIP() << "there is swap";
  Command command =
      shell("echo $$ >" + group.path() + "/cgroup.procs; exec \"$0\" stat -e instructions -- /bin/sh -c '" +
            "head -c 200000000 /dev/zero | tail >/dev/null'");
  command.words.emplace_back(TALLY);
  const Outcome outcome = run_native(command);
  EXPECT_NE(outcome.err.find("the kernel killed 1 process for lack of memory in the control group /tally-test-"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("limited to 64.00 MiB by " + group.path() + "/memory."), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("partial"), std::string::npos) << outcome.err;
}

TEST(Memory, may_be_locked_by_an_ordinary_user) {
  const Command command = limited({"locked_memory"});
  const Outcome native = run_native(command);
  EXPECT_EQ(native.out, "");
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_NE(counted.problem.find("RLIMIT_MEMLOCK"), std::string::npos) << counted.problem;
}

/// A program as an argument of a command of tally, which runs in a shell after `limit`.
Outcome with_limit(const std::string& limit, const std::string& tally, std::vector<std::string> program) {
  Command command = shell(limit + "; exec \"$0\" " + tally + " -q -o /dev/null -- \"$@\"");
  command.words.emplace_back(TALLY);
  command.words.insert(command.words.end(), program.begin(), program.end());
  return run_native(command);
}

// The parts of the environment have fixed addresses in a repeatable run, below those of the kernel.
TEST(Memory, of_the_stack_is_as_large_as_natively) {
  for (const auto& [limit, kib] : {std::pair{"ulimit -s 8192", "8000"}, {"ulimit -s 2000", "1900"}})
    for (const char* const options : {"stat", "stat --repeatable"})
      EXPECT_EQ(with_limit(limit, options, {std::string(LIBC_PROGRAMS) + "/limits_static", "stack", kib}).code, 0)
          << limit << " " << options;
  EXPECT_EQ(with_limit("ulimit -s 2000", "stat --repeatable",
                       {std::string(LIBC_PROGRAMS) + "/limits_static", "stack", "2100"})
                .code,
            128 + SIGSEGV);
}

// What the engine writes in the program's process is no file of the program.
TEST(Files, may_be_limited_by_the_program) {
  const std::string script = "(ulimit -f 0; /bin/true && cat /proc/cpuinfo >/dev/null) && echo hi";
  for (const char* const options : {"stat", "stat --mix", "stat --repeatable", "profile --calls"}) {
    const Outcome outcome = with_limit(":", options, {"/bin/sh", "-c", script});
    EXPECT_EQ(outcome.code, 0) << options << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "hi\n") << options;
  }
}

TEST(Mappings, of_a_thread_are_two_more_than_natively) {
  const Command command = limited({"mappings_of_threads"});
  EXPECT_EQ(run_native(command).out, "64 of 64 threads started\n0 mappings for each thread\n");
  const Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.out, "64 of 64 threads started\n2 mappings for each thread\n");
  expect_exact(counted);
}

// The program needs the last mappings that the kernel grants: those that the engine has.
TEST(Mappings, may_be_used_up_by_the_program) {
  const int limit = std::stoi(read_file("/proc/sys/vm/max_map_count"));
  if (limit > 1'000'000) GTEST_SKIP() << "vm.max_map_count is " << limit;
  constexpr int own = 16;  // of a static program, which has 11
  const Command command = limited({"mappings", std::to_string(limit - own)});
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0);
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_FALSE(counted.exact);
  EXPECT_NE(counted.problem.find("vm.max_map_count"), std::string::npos) << counted.problem;
}

// Code that is overwritten again and again: 3,000 functions at one address, a block for each instruction. Translations
// of overwritten code use room; when it is used up, all are discarded.
TEST(Code, may_be_replaced_without_end) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/fuzz", "1000", "3000", "400"};
  const Outcome native = run_native(command);
  const Counted counted = run_counted(command, 1);
  expect_same(counted.outcome, native);
  expect_exact(counted);
}

}  // namespace
}  // namespace tally::engine_test
