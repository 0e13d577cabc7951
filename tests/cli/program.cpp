#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tally::test {
namespace {

struct Pipe {
  int ends[2];
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  }
};

void set_up_signals(const Environment& environment) {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD}) ::signal(number, SIG_DFL);
  ::signal(SIGHUP, environment.ignored_hangup ? SIG_IGN : SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

int open_terminal() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) throw std::runtime_error("posix_openpt");
  return terminal;
}

/// In a child that leads a session: its standard input is the other end.
void take_terminal(int terminal) {
  char name[64];
  const int own = ptsname_r(terminal, name, sizeof name) == 0 ? open(name, O_RDWR | O_NOCTTY) : -1;
  if (own < 0 || ioctl(own, TIOCSCTTY, 0) != 0) _exit(98);
  dup2(own, 0);
  close(own);
}

}  // namespace

int Finished::code() const { return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status); }

Running::Running(const Words& words, const Environment& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const TemporaryFile input("input", environment.input);
  const int in = open(input.path().c_str(), O_RDONLY | O_CLOEXEC);
  const Pipe out;
  const Pipe err;
  const Pipe executed;  // ends as soon as the command has replaced this program
  if (environment.has_terminal) terminal_ = open_terminal();
  pid_ = fork();
  if (pid_ == 0) {
    if (environment.has_terminal) {
      setsid();
    } else {
      setpgid(0, 0);
    }
    set_up_signals(environment);
    if (environment.has_terminal) {
      take_terminal(terminal_);
    } else {
      dup2(in, 0);
    }
    dup2(out.ends[1], 1);
    dup2(err.ends[1], 2);
    if (environment.closed_output) close(1);
    if (environment.closed_error) close(2);
    if (environment.output_reader_closed) {
      int unread_pipe[2];
      if (pipe(unread_pipe) != 0) _exit(99);
      dup2(unread_pipe[1], 1);
      close(unread_pipe[0]);
      close(unread_pipe[1]);
    }
    execv(arguments[0], arguments.data());
    _exit(99);
  }
  // Both processes do it, because neither knows which is first. A future session leader must not lead a group yet.
  if (!environment.has_terminal) setpgid(pid_, pid_);
  close(in);
  close(out.ends[1]);
  close(err.ends[1]);
  close(executed.ends[1]);
  char none;
  while (read(executed.ends[0], &none, 1) < 0 && errno == EINTR) {
  }
  close(executed.ends[0]);
  out_ = out.ends[0];
  err_ = err.ends[0];
}

Running::~Running() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) close(terminal_);
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

bool Running::read_some() {
  pollfd ready[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  poll(ready, 2, -1);
  const auto take = [](int& fd, short events, std::string& text) {
    if (fd < 0 || events == 0) return;
    char buffer[4096];
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size > 0) {
      text.append(buffer, static_cast<std::size_t>(size));
    } else if (size == 0) {
      close(fd);
      fd = -1;
    }
  };
  take(out_, ready[0].revents, finished_.out);
  take(err_, ready[1].revents, finished_.err);
  return true;
}

bool Running::wait_for_output(const std::string& text) {
  while (finished_.out.find(text) == std::string::npos) {
    if (out_ < 0 || !read_some()) return false;
  }
  return true;
}

void Running::press_ctrl_c() const {
  const char key = 3;
  if (write(terminal_, &key, 1) != 1) throw std::runtime_error("the terminal takes no key");
}

void Running::signal(int number) const { kill(pid_, number); }

void Running::signal_group(int number) const { kill(-pid_, number); }

Finished Running::finish() {
  while (read_some()) {
  }
  waitpid(pid_, &finished_.wait_status, 0);
  pid_ = -1;
  return finished_;
}

Words tally_words(const Words& arguments) {
  Words words{TALLY_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Finished tally(const Words& arguments, const Environment& environment) {
  return Running(tally_words(arguments), environment).finish();
}

TemporaryFile::TemporaryFile(const std::string& name, const std::optional<std::string>& content, int mode) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tally-cli-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
  folder_ = pattern;
  path_ = folder_ + "/" + name;
  if (!content) return;
  std::ofstream(path_) << *content;
  chmod(path_.c_str(), static_cast<mode_t>(mode));
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::optional<std::string> TemporaryFile::content() const { return read(path_); }

std::optional<std::string> TemporaryFile::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tally::test
