// workers PROCESSES THREADS TURNS: PROCESSES child processes, each with THREADS threads in addition to its first; each
// thread counts down from TURNS, two instructions a turn.
// workers execute PROGRAM: a second thread executes the program.
// workers killed TIMES FILE: TIMES times a process that forks without end, and is killed meanwhile. Each process
// appends a byte to the file when it begins.
// workers later FILE: prints "ready", starts a second thread when the file is removed, and prints "done".
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

void count_down(long turns) {
#if defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
  asm volatile("1: decq %0\n jnz 1b" : "+r"(turns) : : "cc");
#endif
}

void append_byte(const char* file) {
  const int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fd < 0 || write(fd, "x", 1) != 1) _exit(2);
  close(fd);
}

int kill_those_that_fork(int times, const char* file) {
  append_byte(file);
  for (int i = 0; i < times; ++i) {
    int ready[2];
    if (pipe(ready) != 0) return 2;
    const pid_t child = fork();
    if (child == 0) {
      append_byte(file);
      for (;;) {
        if (fork() == 0) {
          append_byte(file);
          _exit(write(ready[1], "x", 1) == 1 ? 0 : 2);
        }
      }
    }
    // The next process may be anywhere then, each time elsewhere.
    char begun = 0;
    if (read(ready[0], &begun, 1) != 1) return 2;
    count_down(1000 + (i * 7919L) % 100000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
  }
  return 0;
}

int begin_thread_later(const char* file) {
  if (write(1, "ready\n", 6) != 6) return 2;
  while (access(file, F_OK) == 0) count_down(1000);
  std::thread(count_down, 1000).join();
  return write(1, "done\n", 5) == 5 ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "execute") == 0) {
    std::thread([argv] { execl(argv[2], argv[2], nullptr); }).join();
    return 127;
  }
  if (argc == 3 && std::strcmp(argv[1], "later") == 0) return begin_thread_later(argv[2]);
  if (argc != 4) return 2;
  if (std::strcmp(argv[1], "killed") == 0) return kill_those_that_fork(std::atoi(argv[2]), argv[3]);
  const int processes = std::atoi(argv[1]);
  const int threads = std::atoi(argv[2]);
  const long turns = std::atol(argv[3]);
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    std::vector<std::thread> workers;
    for (int j = 0; j < threads; ++j) workers.emplace_back(count_down, turns);
    for (std::thread& worker : workers) worker.join();
    return 0;
  }
  while (wait(nullptr) > 0) {
  }
  return 0;
}
