// Signals: the program receives its own; tally writes the results that it has and dies of the same signal.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// A program that prints when it is ready and then runs until a signal ends it.
constexpr const char* endless = "echo ready; while :; do :; done";

std::vector<pid_t> processes_of_group(pid_t group) {
  std::vector<pid_t> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t process = atoi(entry.path().filename().c_str());
    if (process > 0 && getpgid(process) == group) all.push_back(process);
  }
  return all;
}

class Interrupted {
 public:
  explicit Interrupted(const std::string& script, const Environment& environment = {}, const Words& more = {})
      : running_(words(script, more), environment) {
    EXPECT_TRUE(running_.wait_for_output("ready\n"));
  }

  Running* operator->() { return &running_; }
  bool has_result() const { return file_.content().has_value(); }
  json result() const { return json::parse(file_.content().value_or("no file")); }

 private:
  Words words(const std::string& script, const Words& more) const {
    Words all{"stat", "--backend", "none", "-e", "user_time,minor-faults", "--format", "json", "-o", file_.path()};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return tally_words(all);
  }

  TemporaryFile file_{"result.json"};
  Running running_;
};

TEST(Signals, on_ctrl_c_the_results_are_written_and_tally_dies_of_it) {
  Interrupted one(endless);
  one->signal_group(SIGINT);
  EXPECT_EQ(one->finish().code(), -SIGINT);
  const json result = one.result();
  EXPECT_EQ(result["interrupted_by"], SIGINT);
  EXPECT_EQ(result["incomplete"], true);
  EXPECT_EQ(result["signal"], SIGINT);
  EXPECT_EQ(result["events"][1]["trust"], "partial");
  EXPECT_GT(result["events"][1]["value"], 0);
}

TEST(Signals, a_program_that_survives_ctrl_c_ends_tally_with_its_exit_code) {
  for (const int number : {SIGINT, SIGTERM}) {
    Interrupted one("trap 'echo handled; exit 5' INT TERM; echo ready; while :; do :; done");
    one->signal_group(number);
    const Finished finished = one->finish();
    EXPECT_EQ(finished.code(), 5);
    EXPECT_NE(finished.out.find("handled"), std::string::npos);
    const json result = one.result();
    EXPECT_EQ(result["exit_code"], 5);
    EXPECT_EQ(result["interrupted_by"], number);
    EXPECT_EQ(result["incomplete"], false);
    EXPECT_EQ(result["events"][1]["trust"], "counted");
  }
}

TEST(Signals, ctrl_c_twice_is_left_to_the_program) {
  Interrupted one("n=0; trap 'n=$((n+1)); echo got $n; [ $n -lt 2 ] || exit 0' INT; echo ready; while :; do :; done",
                  {.input = {}, .has_terminal = true});
  one->press_ctrl_c();
  ASSERT_TRUE(one->wait_for_output("got 1\n"));
  one->press_ctrl_c();
  EXPECT_EQ(one->finish().code(), 0);
  EXPECT_EQ(one.result()["incomplete"], false);
}

TEST(Signals, ctrl_c_again_and_again_leaves_a_program_that_does_not_end) {
  Interrupted one("trap '' INT; echo ready; exec >/dev/null 2>&1; while :; do :; done");
  const pid_t group = one->pid();
  const pid_t sender = fork();
  if (sender == 0) {
    // Pending signals of one kind are merged: repeat until tally has received enough.
    while (kill(-group, SIGINT) == 0) usleep(1000);
    _exit(0);
  }
  EXPECT_EQ(one->finish().code(), -SIGINT);
  kill(sender, SIGKILL);
  waitpid(sender, nullptr, 0);
  EXPECT_EQ(kill(-group, SIGKILL), 0) << "the program should still run";
  const json result = one.result();
  EXPECT_TRUE(result["exit_code"].is_null());
  EXPECT_EQ(result["incomplete"], true);
  EXPECT_EQ(result["events"][1]["trust"], "partial");
}

TEST(Signals, sent_to_tally_alone_reach_the_program) {
  for (const int number : {SIGTERM, SIGHUP, SIGQUIT, SIGINT}) {
    Interrupted one(endless);
    one->signal(number);
    EXPECT_EQ(one->finish().code(), -number);
    const json result = one.result();
    EXPECT_EQ(result["signal"], number);
    EXPECT_EQ(result["interrupted_by"], number);
    EXPECT_EQ(result["incomplete"], number == SIGINT) << "the others stop a service, which was counted to its end";
    EXPECT_EQ(result["events"][1]["trust"], number == SIGINT ? "partial" : "counted");
  }
}

/// How a supervisor stops a service.
enum class Sent { to_group, to_each, as_timeout };

// Returns how often the program got a signal. A program that is signalled twice at once gets one signal: several
// rounds.
int most_received(const Words& before, Sent how, int number) {
  constexpr const char* counting =
      "import os, signal, sys, time\n"
      "got = 0\n"
      "def count(*_):\n    global got; got += 1\n"
      "signal.signal(int(sys.argv[1]), count)\n"
      "print('ready', os.getpid(), flush=True)\n"
      "while not got: time.sleep(0.01)\n"
      "end = time.time() + 0.2\n"
      "while time.time() < end: time.sleep(0.01)\n"
      "sys.exit(got)\n";
  std::vector<int> received;
  for (int round = 0; round < 3; ++round) {
    Running running(with(before, {"python3", "-S", "-c", counting, std::to_string(number)}));
    EXPECT_TRUE(running.wait_for_output("\n"));
    const std::vector<pid_t> all = processes_of_group(running.pid());
    if (how == Sent::as_timeout) running.signal(number);
    if (how != Sent::to_each) running.signal_group(number);
    if (how == Sent::to_each) {  // as systemd: the main process first, then the others of the control group
      running.signal(number);
      for (const pid_t process : all)
        if (process != running.pid()) kill(process, number);
    }
    received.push_back(running.finish().code());
  }
  // The test's process may be held up between its signals once.
  std::ranges::sort(received);
  return received[received.size() - 2];
}

TEST(Signals, of_the_whole_group_reach_the_program_once) {
  const TemporaryFile file("result");
  for (const Words& words :
       {tally_words({"stat", "-q", "--backend", "none", "-e", "page-faults", "-o", file.path(), "--"}),
        tally_words({"stat", "-q", "-e", "instructions", "-o", file.path(), "--"})}) {
    SCOPED_TRACE(words[3]);
    EXPECT_EQ(most_received(words, Sent::as_timeout, SIGTERM), 1);
    EXPECT_EQ(most_received(words, Sent::to_each, SIGTERM), 1);
    EXPECT_EQ(most_received(words, Sent::to_group, SIGHUP), 1);
  }
}

/// Signals that supervisors send to a service, which a program handles.
const std::array handled = {SIGHUP, SIGUSR1, SIGUSR2,  SIGALRM, SIGVTALRM,    SIGPROF,     SIGIO,
                            SIGPWR, SIGURG,  SIGWINCH, SIGCONT, SIGRTMIN + 1, SIGRTMAX - 1};

// Prints the number of each signal, and ends by itself after SIGTERM.
constexpr const char* service =
    "import signal, sys, time\n"
    "for number in sys.argv[1:]: signal.signal(int(number), lambda got, _: print('got', got, flush=True))\n"
    "signal.signal(signal.SIGTERM, lambda got, _: sys.exit(3))\n"
    "print('ready', flush=True)\n"
    "while True: time.sleep(0.01)\n";  // a signal just before a pause would wait for the next one

Words service_words() {
  Words all{"python3", "-S", "-c", service};
  for (const int number : handled) all.push_back(std::to_string(number));
  return all;
}

TEST(Signals, of_supervisors_reach_the_program_as_natively) {
  const TemporaryFile file("result");
  const std::vector<Words> before{
      {"/usr/bin/env"},
      tally_words({"stat", "-q", "--backend", "none", "-e", "page-faults", "-o", file.path(), "--"}),
      tally_words({"stat", "-q", "-e", "instructions", "-o", file.path(), "--"}),
      tally_words({"profile", "-q", "-e", "instructions", "-o", file.path(), "--"}),
      tally_words({"sample", "-q", "-e", "instructions", "--every", "1M", "-o", file.path(), "--"}),
      tally_words({"run", "--"}),
  };
  for (const Words& words : before) {
    SCOPED_TRACE(words.size() > 1 ? words[1] : words[0]);
    Running running(with(words, service_words()));
    ASSERT_TRUE(running.wait_for_output("ready\n"));
    for (const int number : handled) {
      running.signal(number);
      ASSERT_TRUE(running.wait_for_output("got " + std::to_string(number) + "\n")) << number;
    }
    running.signal(SIGTERM);
    EXPECT_EQ(running.finish().code(), 3);
  }
}

TEST(Signals, a_reload_is_no_interrupt) {
  const TemporaryFile file("result.json");
  Running running(
      with(tally_words({"stat", "--backend", "none", "-e", "page-faults", "-o", file.path(), "--"}), service_words()));
  ASSERT_TRUE(running.wait_for_output("ready\n"));
  std::string all = running.output();
  for (int i = 0; i < 3; ++i) {
    running.signal(SIGHUP);
    ASSERT_TRUE(running.wait_for_output(all += "got 1\n"));
    usleep(250'000);  // earlier signals count as the same
  }
  running.signal(SIGTERM);
  EXPECT_EQ(running.finish().code(), 3);
  const json result = json::parse(*file.content());
  EXPECT_TRUE(result["interrupted_by"].is_null() || result["interrupted_by"] == SIGTERM);
  EXPECT_EQ(result["incomplete"], false);
  EXPECT_EQ(result["events"][0]["trust"], "counted");
}

TEST(Signals, a_signal_that_ends_the_program_ends_tally_with_its_code) {
  for (const int number : {SIGUSR1, SIGALRM, SIGRTMIN + 1}) {
    Interrupted one(endless);
    one->signal(number);
    const int code = one->finish().code();
    EXPECT_TRUE(code == 128 + number || code == -number) << code;
    EXPECT_EQ(one.result()["signal"], number);
  }
}

TEST(Signals, tally_and_the_program_stop_and_continue) {
  Interrupted one("trap 'echo continued' CONT; trap 'exit 3' TERM; echo ready; while :; do :; done");
  int status = 0;
  one->signal(SIGTSTP);
  // A process group without a parent in its session does not stop.
  if (getsid(one->pid()) != one->pid()) {
    EXPECT_EQ(waitpid(one->pid(), &status, WUNTRACED), one->pid());
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  one->signal(SIGCONT);
  EXPECT_TRUE(one->wait_for_output("continued\n"));
  one->signal(SIGTERM);
  EXPECT_EQ(one->finish().code(), 3);
}

// After Ctrl-Z, `kill -CONT` names tally alone; `fg` names the whole job.
/// Whether a child of a process is stopped.
bool has_stopped_child(pid_t parent) {
  std::ifstream children("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream status("/proc/" + std::to_string(child) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("State:\tT")) return true;
  }
  return false;
}

TEST(Signals, a_continue_of_tally_alone_after_ctrl_z_continues_the_program) {
  const std::string number = std::to_string(SIGCONT);
  int terminal = -1;
  // As a shell with jobs: the terminal is the job's.
  const pid_t shell = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (shell == 0) {
    signal(SIGTTOU, SIG_IGN);
    const pid_t job = fork();
    setpgid(job, job);
    if (job == 0) {
      tcsetpgrp(STDIN_FILENO, getpid());
      signal(SIGTTOU, SIG_DFL);
      execl(TALLY_COMMAND, TALLY_COMMAND, "stat", "--backend", "none", "-q", "-o", "/dev/null", "--", "python3", "-S",
            "-c", service, number.c_str(), nullptr);
      _exit(127);
    }
    waitpid(job, nullptr, WUNTRACED);
    while (!has_stopped_child(job)) usleep(10'000);
    kill(job, SIGCONT);
    waitpid(job, nullptr, 0);
    _exit(0);
  }
  std::string text;
  const auto read_until = [&](const char* word) {
    for (pollfd ready{terminal, POLLIN, 0}; text.find(word) == std::string::npos && poll(&ready, 1, 20'000) > 0;) {
      char bytes[256];
      const ssize_t size = read(terminal, bytes, sizeof bytes);
      if (size <= 0) break;
      text.append(bytes, static_cast<std::size_t>(size));
    }
    return text.find(word) != std::string::npos;
  };
  EXPECT_TRUE(read_until("ready")) << text;
  EXPECT_EQ(write(terminal, "\x1a", 1), 1);
  EXPECT_TRUE(read_until("got")) << text;
  close(terminal);
  kill(shell, SIGKILL);  // SIGHUP to what is left
  waitpid(shell, nullptr, 0);
}

// mpirun sends SIGTERM, and SIGKILL to the rank's process group a second later, or when its program has ended.
TEST(Signals, a_rank_that_its_launcher_kills_keeps_its_results) {
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  for (const bool asks_first : {true, false}) {
    Interrupted one("trap '' TERM; echo ready; while :; do :; done");
    if (asks_first) one->signal_group(SIGTERM);
    one->signal_group(SIGKILL);
    EXPECT_EQ(one->finish().code(), -SIGKILL);
    EXPECT_TRUE(is_true_with_time([&](int factor) {
      for (int i = 0; i < 100 * factor && !one.has_result(); ++i) usleep(10'000);
      return one.has_result();
    }));
    EXPECT_EQ(one.result()["signal"], SIGKILL);
  }
  Interrupted one("trap 'exit 7' USR1; echo ready; while :; do :; done");
  one->signal(SIGUSR1);
  EXPECT_EQ(one->finish().code(), 7);
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(Signals, an_interrupt_ends_a_series) {
  Interrupted one(endless, {}, {"-r", "9"});
  one->signal_group(SIGINT);
  EXPECT_EQ(one->finish().code(), -SIGINT);
  EXPECT_EQ(one.result()["runs"].size(), 1u);
  EXPECT_EQ(one.result()["incomplete"], true);
}

TEST(Signals, ignored_at_the_start_stay_ignored) {
  // The program sends it to its whole group, which includes tally: no other moment is certain.
  Environment hangup_ignored;
  hangup_ignored.ignored_hangup = true;
  Interrupted one("kill -HUP 0; echo ready; exit 6", hangup_ignored);
  EXPECT_EQ(one->finish().code(), 6);
  EXPECT_TRUE(one.result()["interrupted_by"].is_null());
}

}  // namespace
}  // namespace tally::test
