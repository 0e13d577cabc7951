#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tally/linux/files/output_file.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/machine/pages.hpp"
#include "tally/linux/machine/topology.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/process/usage.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

// A temporary directory of files.
class Tree : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tally-linux-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string add(const std::string& path, const std::string& content, int mode = 0644) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
    chmod((root_ / path).c_str(), static_cast<mode_t>(mode));
    return (root_ / path).string();
  }

  std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path root_;
};

using FindProgram = Tree;

TEST_F(FindProgram, takes_the_first_executable_file_of_the_path) {
  add("a/tool", "not executable");
  fs::create_directories(root_ / "b/tool");
  const std::string right = add("c/tool", "", 0755);
  add("d/tool", "", 0755);
  const std::string path = (root_ / "a").string() + ":" + (root_ / "b").string() + ":" + (root_ / "nowhere").string() +
                           ":" + (root_ / "c").string() + ":" + (root_ / "d").string();
  EXPECT_EQ(find_program("tool", path), right);
}

TEST_F(FindProgram, distinguishes_a_missing_file_from_one_that_cannot_run) {
  const std::string plain = add("a/tool", "");
  EXPECT_EQ(find_program("tool", (root_ / "a").string()).error().code, Code::not_executable);
  EXPECT_EQ(find_program("tool", (root_ / "b").string()).error().code, Code::not_found);
  EXPECT_EQ(find_program(plain, "").error().os_errno, EACCES);
  EXPECT_EQ(find_program(root_.string(), "").error().os_errno, EISDIR);
  EXPECT_EQ(find_program(plain + "/x", "").error().code, Code::not_found);
  EXPECT_EQ(find_program("", "/bin").error().code, Code::not_found);
}

using ReadHostMachine = Tree;

TEST_F(ReadHostMachine, a_virtual_machine_without_pmu) {
  add("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nmicrocode\t: 0x42\nflags\t\t: fpu hypervisor sse\n\n"
      "processor\t: 1\nmodel name\t: Another\n");
  add("proc/sys/kernel/osrelease", "6.1.0-test\n");
  add("proc/sys/kernel/perf_event_paranoid", "-1\n");
  add("sys/bus/event_source/devices/software/type", "1\n");
  add("sys/bus/event_source/devices/breakpoint/type", "5\n");
  const HostMachine machine = read_host_machine(root_.string());
  EXPECT_EQ(machine.cpu, "Some CPU @ 2.00GHz");
  EXPECT_EQ(machine.microcode, "0x42");
  EXPECT_EQ(machine.kernel, "6.1.0-test");
  EXPECT_EQ(machine.hypervisor, true);
  EXPECT_EQ(machine.perf_event_paranoid, -1);
  EXPECT_EQ(machine.governor, "");
  EXPECT_TRUE(machine.pmus.empty());
}

TEST_F(ReadHostMachine, a_hybrid_processor_with_a_governor) {
  add("proc/cpuinfo", "flags\t\t: fpu nohypervisor\n");
  add("sys/bus/event_source/devices/cpu_core/type", "4\n");
  add("sys/bus/event_source/devices/cpu_atom/type", "10\n");
  add("sys/bus/event_source/devices/uncore_imc_0/type", "20\n");
  add("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  const HostMachine machine = read_host_machine(root_.string());
  EXPECT_EQ(machine.hypervisor, false);
  EXPECT_EQ(machine.pmus, (std::vector<std::string>{"cpu_atom", "cpu_core"}));
  EXPECT_EQ(machine.governor, "performance");
}

TEST_F(ReadHostMachine, an_empty_machine_reports_nothing) {
  HostMachine nothing;
  nothing.architecture = read_host_machine().architecture;
  EXPECT_EQ(read_host_machine(root_.string()), nothing);
}

using Writing = Tree;

TEST_F(Writing, replaces_a_file_and_keeps_it_until_then) {
  const std::string path = add("file", "a long earlier text");
  {
    auto output = Output::open_file(path);
    ASSERT_TRUE(output);
    EXPECT_EQ(content(path), "a long earlier text");
    EXPECT_TRUE(output->write("new"));
  }
  EXPECT_EQ(content(path), "new");
}

TEST_F(Writing, leaves_no_empty_file) {
  const std::string path = (root_ / "file").string();
  { ASSERT_TRUE(Output::open_file(path)); }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Writing, a_file_that_was_removed_meanwhile_is_created_again) {
  const std::string path = add("folder/file", "an earlier text");
  auto output = Output::open_file(path);
  ASSERT_TRUE(output);
  fs::remove(path);
  ASSERT_TRUE(output->write("new"));
  EXPECT_EQ(content(path), "new");

  auto no_folder = Output::open_file(path);
  fs::remove_all(root_ / "folder");
  const auto lost = no_folder->write("new");
  ASSERT_FALSE(lost) << "nobody would ever see it";
  EXPECT_NE(lost.error().message.find("removed meanwhile"), std::string::npos) << lost.error().message;

  const std::string rows = add("rows", "header\n");
  auto appended = Output::open_to_append(rows);
  fs::remove(rows);
  EXPECT_FALSE(appended->write("row\n")) << "without its header";
}

TEST_F(Writing, a_full_disk_is_an_error) {
  auto output = Output::open_file("/dev/full");
  ASSERT_TRUE(output);
  const auto written = output->write("text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::cannot_write);
  EXPECT_EQ(written.error().os_errno, ENOSPC);
}

// Each hook call appends a letter to a file that parent and child share.
class Hooks : public Tree {
 protected:
  void SetUp() override {
    Tree::SetUp();
    const int fd = open((root_ / "seen").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    file_ = Descriptor(fd);
  }
  ChildHooks hooks() {
    return {&file_, [](void* context) { put(context, 'b'); },
            [](void* context, int why) { put(context, why == ENOEXEC ? 'n' : 'f'); }};
  }
  static void put(void* context, char letter) {
    if (write(static_cast<Descriptor*>(context)->get(), &letter, 1) != 1) _exit(98);
  }
  Result<Ended> run(const std::vector<std::string>& command) {
    auto signals = Signals::watch();
    auto program = Program::start(command, *signals, hooks());
    if (!program) return fail(program.error());
    if (auto executed = program->executed(); !executed) return fail(executed.error());
    while (true) {
      auto ended = program->ended();
      if (!ended) return fail(ended.error());
      if (*ended) return **ended;
      signals->wait();
      signals->take(program->pid());
    }
  }
  std::string calls() { return content((root_ / "seen").string()); }

  Descriptor file_;
};

TEST_F(Hooks, run_once_before_a_good_execve) {
  EXPECT_EQ(exit_of(run({"sh", "-c", "exit 9"})->wait_status).code, 9);
  EXPECT_EQ(calls(), "b");
}

// Like Ctrl-C in a terminal before the program exists: only tally gets it, so tally must forward it.
TEST_F(Hooks, forward_a_signal_that_came_before_the_program) {
  auto signals = Signals::watch();
  raise(SIGINT);
  auto program = Program::start({"sleep", "100000"}, *signals, hooks());
  ASSERT_TRUE(program && program->executed());
  Result<std::optional<Ended>> ended;
  while (ended && !*ended) {
    usleep(10'000);
    ended = program->ended();
  }
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ(exit_of((*ended)->wait_status).signal, SIGINT);
  signals->settle();
  EXPECT_EQ(signals->interrupted_by(), SIGINT);
}

TEST_F(Hooks, run_in_pairs_where_execve_fails) {
  const std::string script = add("script", "exit 8\n", 0755);
  EXPECT_EQ(exit_of(run({script})->wait_status).code, 8);
  EXPECT_EQ(calls(), "bnb");
}

TEST_F(Hooks, are_called_after_the_last_failure_too) {
  const std::string script = add("script", "#!/nowhere/interpreter\n", 0755);
  EXPECT_EQ(run({script}).error().code, Code::not_found);
  EXPECT_EQ(calls(), "bf");
}

TEST_F(Hooks, a_repeatable_program_has_fixed_addresses_and_tally_has_its_own_again) {
  const int before = personality(0xffffffff);
  auto signals = Signals::watch();
  const std::string file = (root_ / "personality").string();
  auto program = Program::start({"sh", "-c", "cat /proc/self/personality >" + file}, *signals, {},
                                {.repeatable = true, .processor = {}});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(program->executed());
  EXPECT_EQ(personality(0xffffffff), before);
  while (!*program->ended()) {
    signals->wait();
    signals->take(0);
  }
  EXPECT_EQ(content(file), "00040000\n");
}

TEST(RepeatableEnvironment, keeps_what_is_set_and_adds_to_lists) {
  const auto made = repeatable_environment(
      {"PYTHONHASHSEED=7", "GLIBC_TUNABLES=glibc.malloc.check=1", "GODEBUG=", "PERL_HASH_SEED_DEBUG=1"});
  const auto count = [&](const std::string& one) { return std::count(made.begin(), made.end(), one); };
  EXPECT_EQ(count("PYTHONHASHSEED=7"), 1);
  EXPECT_EQ(count("PYTHONHASHSEED=0"), 0);
  EXPECT_EQ(count("GLIBC_TUNABLES=glibc.malloc.check=1:glibc.pthread.rseq=0"), 1);
  EXPECT_EQ(count("GODEBUG=randautoseed=0"), 1);
  EXPECT_EQ(count("PERL_HASH_SEED=0"), 1);
  EXPECT_EQ(repeatable_environment(made), made);
  EXPECT_EQ(repeatable_environment({"GLIBC_TUNABLES=glibc.pthread.rseq=1"})[0], "GLIBC_TUNABLES=glibc.pthread.rseq=1");
}

TEST(ExitOf, has_the_exit_codes_of_a_shell) {
  EXPECT_EQ(exit_of(3 << 8).code, 3);
  EXPECT_FALSE(exit_of(3 << 8).signal);
  EXPECT_EQ(exit_of(11).code, 139);
  EXPECT_EQ(exit_of(11).signal, 11);
}

TEST(UsageOf, subtracts_what_was_used_before_the_program) {
  Usage start;
  start.user = Nanoseconds{5};
  start.minor_faults = 3;
  start.peak_rss_bytes = 100;
  Usage now_used = start;
  now_used.user = Nanoseconds{4};
  now_used.minor_faults = 10;
  now_used.peak_rss_bytes = 150;
  const Usage used = since(now_used, start);
  EXPECT_EQ(used.user, Nanoseconds{0}) << "never negative";
  EXPECT_EQ(used.minor_faults, 7);
  EXPECT_EQ(used.peak_rss_bytes, 150);
  EXPECT_EQ(used.peak_floor_bytes, 100);
}

TEST(UsageOf, a_living_process_is_read_from_proc) {
  const auto mine = usage_of_living(getpid());
  ASSERT_TRUE(mine);
  EXPECT_GT(mine->minor_faults, 0);
  EXPECT_GT(mine->peak_rss_bytes, 100'000);
  EXPECT_FALSE(usage_of_living(0));
}

TEST(Cpuid, is_executed_on_x86) {
  const auto registers = cpuid(0);
#if defined(__x86_64__)
  ASSERT_TRUE(registers);
  EXPECT_GE(registers->eax, 1U);
  EXPECT_NE(registers->ebx, 0U);  // first letters of the vendor
#else
  EXPECT_FALSE(registers);
#endif
}

TEST(Topology, threads_of_a_core_have_the_same_position) {
  std::string root = (std::filesystem::temp_directory_path() / "tally-topology-XXXXXX").string();
  ASSERT_TRUE(mkdtemp(root.data()));
  const auto put = [&](int processor, const char* socket, const char* core) {
    const auto folder =
        std::filesystem::path(root) / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "physical_package_id") << socket << '\n';
    std::ofstream(folder / "core_id") << core << '\n';
  };
  put(0, "0", "0");
  put(1, "1", "0");
  put(4, "0", "0");
  put(5, "-1", "3");
  EXPECT_EQ(cpu_position(0, root), cpu_position(4, root));
  EXPECT_NE(cpu_position(0, root), cpu_position(1, root)) << "core numbers start again in each socket";
  EXPECT_EQ(cpu_position(5, root), (CpuPosition{0, 3}));
  EXPECT_FALSE(cpu_position(6, root));
  std::filesystem::remove_all(root);
}

TEST_F(Tree, available_memory_respects_the_limits_of_cgroups) {
  add("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 2048 kB\n");
  EXPECT_EQ(available_bytes(root_.string()), 2048u * 1024);
  add("proc/self/cgroup", "4:memory:/box/inner\n3:cpuset:/\n0::/new\n");
  add("sys/fs/cgroup/memory/box/inner/memory.limit_in_bytes", "9223372036854771712\n");
  add("sys/fs/cgroup/memory/box/inner/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(available_bytes(root_.string()), 2048u * 1024) << "no limit";
  add("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1048576\n");
  add("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "48576\n");
  EXPECT_EQ(available_bytes(root_.string()), 1'000'000u) << "of the group above";
  add("sys/fs/cgroup/new/memory.max", "500000\n");
  add("sys/fs/cgroup/new/memory.current", "600000\n");
  EXPECT_EQ(available_bytes(root_.string()), 0u) << "the new hierarchy has less, and all is used";
  EXPECT_FALSE(available_bytes("/nowhere"));
}

TEST_F(Tree, killed_processes_are_those_of_the_cgroup) {
  EXPECT_FALSE(memory_kills(root_.string()));
  add("proc/self/cgroup", "4:memory:/old\n0::/system.slice/run-1.scope\n");
  add("sys/fs/cgroup/system.slice/memory.max", "33554432\n");
  add("sys/fs/cgroup/system.slice/run-1.scope/memory.max", "max\n");
  add("sys/fs/cgroup/system.slice/run-1.scope/memory.events", "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\n");
  auto kills = memory_kills(root_.string());
  ASSERT_TRUE(kills);
  EXPECT_EQ(kills->processes, 2u);
  EXPECT_EQ(kills->group, "/system.slice/run-1.scope");
  EXPECT_EQ(kills->limit_bytes, 33554432u);
  EXPECT_EQ(kills->limit_file, (root_ / "sys/fs/cgroup/system.slice/memory.max").string());
  EXPECT_FALSE(memory_kills(root_.string(), false)->limit_bytes);
  add("proc/self/cgroup", "4:memory:/old\n0::/\n");
  add("sys/fs/cgroup/memory/old/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  add("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "9223372036854771712\n");
  kills = memory_kills(root_.string());
  ASSERT_TRUE(kills) << "cgroup v1";
  EXPECT_EQ(kills->processes, 1u);
  EXPECT_EQ(kills->group, "/old");
  EXPECT_FALSE(kills->limit_bytes);
}

}  // namespace
}  // namespace tally::linux
