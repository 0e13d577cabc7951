// Asks the engine to fail, which it does only in tests: natively the exit code is 3.
//
//     fails FAILURE [child]   here, or in a forked child
//     fails forks N           no failure: N children, one after the other; every second one executes a program
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tally/engine/channel/count_request.hpp"

int main(int argc, char** argv) {
  using namespace tally::channel;
  if (argc < 2) return 2;
  int status = 0;
  if (strcmp(argv[1], "forks") == 0) {
    for (int left = atoi(argv[2]); left > 0; left--) {
      const pid_t child = fork();
      if (child < 0) return 4;
      if (child == 0 && left % 2 == 0) execl("/bin/true", "true", nullptr);
      if (child == 0) _exit(left % 2);
      if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != left % 2) return 5;
    }
    puts("done");
    return 0;
  }
  puts("begun");
  fflush(stdout);
  if (argc > 2) {
    if (fork() != 0) {
      wait(&status);
      printf("the child's exit code is %d\n", WEXITSTATUS(status));
      return 0;
    }
  }
  prctl(static_cast<int>(ask_option), ask_failed, atol(argv[1]), 0, 0);
  return 3;
}
