// workers PROCESSES THREADS TURNS: so many child processes, each with so many threads besides its own, and each of
// these counts down from TURNS, two instructions a turn.
// workers execute PROGRAM: a second thread executes the program.
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

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "execute") == 0) {
    std::thread([argv] { execl(argv[2], argv[2], nullptr); }).join();
    return 127;
  }
  if (argc != 4) return 2;
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
