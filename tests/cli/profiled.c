// Functions whose counts are known, for the tests of `tally profile`. Arguments: what to do.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Eleven instructions, one of them a load and two of them stores.
__asm__(
    "        .globl eleven\n"
    "        .type eleven, @function\n"
    "eleven: movl %esi, -4(%rsp)\n"
    "        movl -4(%rsp), %eax\n"
    "        movl %eax, -8(%rsp)\n"
    "        nop; nop; nop; nop; nop; nop; nop\n"
    "        ret\n"
    "        .size eleven, . - eleven\n");
void eleven(void);

__attribute__((noinline)) static void times(int n) {
  while (n-- > 0) eleven();
}

static void* thread(void* n) {
  times((int)(long)n);
  return NULL;
}

int main(int argc, char** argv) {
  times(1000);
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    if (fork() == 0) {
      times(200);
      _exit(0);
    }
    wait(NULL);
  }
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    pthread_t one, other;
    pthread_create(&one, NULL, thread, (void*)30L);
    pthread_create(&other, NULL, thread, (void*)4L);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
  }
  if (argc > 1 && strcmp(argv[1], "kill") == 0) kill(getpid(), SIGKILL);
  if (argc > 1 && strcmp(argv[1], "remove") == 0) unlink(argv[0]);
  return argc > 1 && strcmp(argv[1], "fail") == 0 ? 3 : 0;
}
