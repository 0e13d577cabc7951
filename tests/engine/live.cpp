#include "tests/engine/live.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace tally::engine_test {

Live::Live(const std::vector<std::string>& words, const Command& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (const std::string& one : command.environment) envp.push_back(const_cast<char*>(one.c_str()));
  envp.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    personality(ADDR_NO_RANDOMIZE);
    dup2(ends[1], 1);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
}

Live::~Live() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    end();
  }
  close(output_);
}

bool Live::wait_for(const std::string& text) {
  char part[256];
  while (text_.find(text) == std::string::npos) {
    const ssize_t got = read(output_, part, sizeof part);
    if (got <= 0) return false;
    text_.append(part, static_cast<size_t>(got));
  }
  return true;
}

void Live::signal_group(int signal) const { kill(-pid_, signal); }

int Live::end() {
  int status = 0;
  waitpid(pid_, &status, 0);
  ended_ = true;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t child_of(pid_t pid) {
  const std::string name = std::to_string(pid);
  const std::string children = read_file("/proc/" + name + "/task/" + name + "/children");
  return children.empty() ? -1 : std::stoi(children);
}

}  // namespace tally::engine_test
