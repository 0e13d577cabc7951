// Processes in every way that programs start them. The argument selects the case; exit code 0 means that everything was
// as natively, any other that it was not (the line on standard error).
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void check(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  dprintf(2, "line %d, errno %d\n", line, errno);
  _exit(line % 255 + 1);
}

int code_of(pid_t child) {
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

char echo[] = "/bin/true";
char* arguments[] = {echo, nullptr};
char* none[] = {nullptr};

/// With the environment, so that a test can switch rseq off for both programs.
void spawn_once() {
  pid_t child = 0;
  check(posix_spawn(&child, echo, nullptr, nullptr, arguments, environ) == 0 && code_of(child) == 0);
}

/// posix_spawn reports to its caller why it failed: the child writes it to shared memory.
void spawn_errors() {
  pid_t child = 0;
  for (int i = 0; i < 20; ++i) {
    check(posix_spawn(&child, "/nonexistent/program", nullptr, nullptr, arguments, none) == ENOENT);
    check(posix_spawn(&child, "/etc/passwd", nullptr, nullptr, arguments, none) == EACCES);
    check(posix_spawn(&child, "/etc", nullptr, nullptr, arguments, none) == EACCES);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, 987, 1);
    check(posix_spawn(&child, echo, &actions, nullptr, arguments, none) == EBADF);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 5, "/nonexistent", O_RDONLY, 0);
    check(posix_spawn(&child, echo, &actions, nullptr, arguments, none) == ENOENT);
    posix_spawn_file_actions_destroy(&actions);
    check(posix_spawn(&child, echo, nullptr, nullptr, arguments, none) == 0 && code_of(child) == 0);
    check(posix_spawnp(&child, "true", nullptr, nullptr, arguments, none) == 0 && code_of(child) == 0);
  }
  // A file that is not a program.
  char path[] = "/tmp/tally-spawning-XXXXXX";
  const int file = mkstemp(path);
  check(file >= 0 && write(file, "\177ELFnot", 7) == 7 && fchmod(file, 0700) == 0 && close(file) == 0);
  const int r = posix_spawn(&child, path, nullptr, nullptr, arguments, none);
  unlink(path);
  check(r == ENOEXEC);
}

volatile bool enough;
volatile uint64_t rounds[3];
void* busy(void* which) {
  volatile uint64_t& mine = rounds[reinterpret_cast<intptr_t>(which)];
  while (!enough) {
    mine = mine + 1;
    free(malloc(100));
  }
  return nullptr;
}

/// Forks while others run, and sometimes hold locks of the C library.
void forks() {
  pthread_t threads[3];
  for (intptr_t i = 0; i < 3; ++i) check(pthread_create(&threads[i], nullptr, busy, reinterpret_cast<void*>(i)) == 0);
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    check(child >= 0);
    if (child == 0) {
      free(malloc(100));
      _exit(i % 100);
    }
    check(code_of(child) == i % 100);
  }
  enough = true;
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void* nothing(void*) { return reinterpret_cast<void*>(7); }

/// Everything that a program can close is closed; what runs then is still counted.
void closed() {
  for (int round = 0; round < 3; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      if (round == 0) closefrom(0);
      if (round == 1) check(close_range(0, ~0u, 0) == 0);
      if (round == 2)
        for (int fd = 0; fd < 70000; ++fd) close(fd);
      pthread_t thread;
      void* got = nullptr;
      check(pthread_create(&thread, nullptr, nothing, nullptr) == 0 && pthread_join(thread, &got) == 0);
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(9);
      check(code_of(grandchild) == 9);
      execve(echo, arguments, none);
      _exit(1);
    }
    check(code_of(child) == 0);
  }
}

void limits() {
  rlimit few{16, 16};
  check(setrlimit(RLIMIT_NOFILE, &few) == 0);
  pid_t child = fork();
  if (child == 0) {
    execve(echo, arguments, none);
    _exit(1);
  }
  check(code_of(child) == 0);
  rlimit nobody{0, 0};
  child = fork();
  if (child == 0) {
    check(setrlimit(RLIMIT_NPROC, &nobody) == 0);
    if (geteuid() == 0) check(setresuid(65534, 65534, 65534) == 0);
    pthread_t thread;
    check(fork() == -1 && errno == EAGAIN);
    check(pthread_create(&thread, nullptr, nothing, nullptr) == EAGAIN);
    check(posix_spawn(&child, echo, nullptr, nullptr, arguments, none) == EAGAIN);
    _exit(5);
  }
  check(code_of(child) == 5);
}

/// A pid namespace, if it is permitted.
void numbers() {
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(3);
    const pid_t first = fork();
    if (first == 0) {
      check(getpid() == 1);
      const pid_t second = fork();
      if (second == 0) {
        check(getpid() == 2 && getppid() == 1);
        execve(echo, arguments, none);
        _exit(1);
      }
      check(second == 2 && code_of(second) == 0);
      check(posix_spawn(nullptr, echo, nullptr, nullptr, arguments, none) == 0);
      _exit(wait(nullptr) == 3 ? 4 : 1);
    }
    check(code_of(first) == 4);
    _exit(3);
  }
  check(code_of(child) == 3);
}

void daemonised() {
  int ends[2];
  check(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    check(daemon(0, 0) == 0);
    check(write(ends[1], "d", 1) == 1);
    _exit(0);
  }
  check(code_of(child) == 0);
  close(ends[1]);
  char byte = 0;
  check(read(ends[0], &byte, 1) == 1 && byte == 'd' && read(ends[0], &byte, 1) == 0);
}

void* ends_all(void*) {
  syscall(SYS_exit_group, 0);
  return nullptr;
}

/// A thread that is not the leader ends the process; the leader waits for another thread.
void ended() {
  pthread_t thread;
  check(pthread_create(&thread, nullptr, ends_all, nullptr) == 0);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } all[] = {
      {"spawn_errors", spawn_errors}, {"forks", forks},           {"closed", closed}, {"limits", limits},
      {"numbers", numbers},           {"daemonised", daemonised}, {"ended", ended},   {"spawn_once", spawn_once}};
  for (const auto& one : all) {
    if (argc < 2 || strcmp(argv[1], one.name) != 0) continue;
    one.run();
    return 0;
  }
  return 99;
}
