#include "tally/linux/process/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// Message of the child to its parent, in a pipe that a successful execve closes. Smaller than PIPE_BUF, so never split.
struct Report {
  int exec_errno;      // 0: before the execve
  rusage before_exec;  // the child's usage before: tally's share, not the program's
};

void send(int fd, int exec_errno) {
  Report report{};
  report.exec_errno = exec_errno;
  getrusage(RUSAGE_SELF, &report.before_exec);
  // The parent may have ended; the program is executed anyway.
  [[maybe_unused]] const ssize_t size = write(fd, &report, sizeof report);
}

// Arguments of execve, prepared before the fork: nothing may be allocated after it.
struct Image {
  std::vector<char*> direct;         // the command's arguments
  std::vector<char*> through_shell;  // the same as a script of /bin/sh
  std::vector<char*> environment;
};

int execute(int fd, const ChildHooks& hooks, const char* path, const std::vector<char*>& arguments,
            const std::vector<char*>& environment) {
  if (hooks.before_exec) hooks.before_exec(hooks.context);
  send(fd, 0);
  execve(path, arguments.data(), environment.data());
  const int why = errno;
  if (hooks.after_failed_exec) hooks.after_failed_exec(hooks.context, why);
  return why;
}

// Runs in the forked child: only async-signal-safe calls, no allocation.
[[noreturn]] void child(int fd, const Signals& signals, const ChildHooks& hooks, const Conditions& conditions,
                        const Image& image) {
  signals.restore_in_child();
  if (conditions.processor && !stay_on(*conditions.processor)) {
    send(fd, errno);
    _exit(127);
  }
  const auto& [direct, through_shell, environment] = image;
  int why = execute(fd, hooks, through_shell[1], direct, environment);
  // A script without `#!`: executed by sh, as execvp and every shell do.
  if (why == ENOEXEC) why = execute(fd, hooks, through_shell[0], through_shell, environment);
  send(fd, why);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> made;
  for (std::string& word : words) made.push_back(word.data());
  made.push_back(nullptr);
  return made;
}

Error exec_error(const std::string& path, int why) {
  const std::string shown = printable(path);
  if (why == ENOENT) {
    return {Code::not_found, fmt::format("cannot run '{}': the interpreter that it names does not exist", shown),
            "see its first line (a script) or `readelf -l` (a program)", why};
  }
  return {Code::not_executable, fmt::format("cannot run '{}': {}", shown, errno_text(why)), "", why};
}

}  // namespace

bool is_killed_by_timer(int wait_status) { return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM; }

Exit exit_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {128 + WTERMSIG(wait_status), WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), std::nullopt};
}

std::optional<Change> next_change() {
  Change change;
  change.process = retry([&] { return wait4(-1, &change.wait_status, __WALL | WNOHANG, &change.statistics); });
  if (change.process <= 0) return std::nullopt;
  change.stopped = WIFSTOPPED(change.wait_status);
  return change;
}

void end_process(pid_t process, End how) { kill(process, how == End::kill ? SIGKILL : SIGTERM); }

Result<Program> Program::start(const std::vector<std::string>& command, Signals& signals, ChildHooks hooks,
                               Conditions conditions) {
  if (command.empty()) return fail(Code::bad_usage, "there is no command to run");
  auto path = find_program(command.front(), search_path());
  if (!path) return fail(path.error());

  std::vector<std::string> direct = command;
  std::vector<std::string> through_shell{"/bin/sh", *path};
  through_shell.insert(through_shell.end(), command.begin() + 1, command.end());
  std::vector<std::string> environment = environment_for(conditions);
  const Image image{pointers(direct), pointers(through_shell), pointers(environment)};
  std::optional<FixedAddresses> fixed;
  if (conditions.repeatable) {
    auto held = FixedAddresses::hold();
    if (!held) return fail(held.error());
    fixed.emplace(std::move(*held));
  }

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure(Code::cannot_measure, "cannot start the program (pipe)");
  Program program;
  program.path_ = *path;
  program.report_ = Descriptor(ends[0]);
  const Descriptor write_end(ends[1]);
  program.started_ = this_moment();
  signals.expect_program();
  program.pid_ = fork();
  if (program.pid_ < 0) return system_failure(Code::cannot_measure, "cannot start the program (fork)");
  if (program.pid_ == 0) child(write_end.get(), signals, hooks, conditions, image);
  signals.pass_on(program.pid_);
  return program;
}

Result<void> Program::executed() {
  if (!report_) return {};
  Report report{};
  Report last{};
  while (retry([&] { return read(report_.get(), &report, sizeof report); }) == static_cast<ssize_t>(sizeof report)) {
    last = report;
  }
  report_.reset();
  before_exec_ = usage_of(last.before_exec);
  if (last.exec_errno == 0) return {};
  retry([&] { return waitpid(pid_, nullptr, 0); });
  return fail(exec_error(path_, last.exec_errno));
}

Result<std::optional<Ended>> Program::ended() {
  int status = 0;
  rusage statistics{};
  const pid_t reaped = retry([&] { return wait4(pid_, &status, WNOHANG, &statistics); });
  if (reaped < 0) return system_failure(Code::cannot_measure, "cannot read how the program ended (wait4)");
  if (reaped == 0) return std::optional<Ended>{};
  return std::optional<Ended>{ended_with(status, statistics)};
}

Ended Program::ended_with(int wait_status, const rusage& statistics) const {
  return {wait_status, since(usage_of(statistics), before_exec_)};
}

}  // namespace tally::linux
