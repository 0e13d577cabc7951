// A program that switches counting on and off itself, as benchmark harnesses do through `perf stat --control`.
// Arguments: the descriptors for commands and answers, then the work before and after each command.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int commands, answers;

static void command(const char* text) {
  char answer[5];
  if (write(commands, text, strlen(text)) < 0 || read(answers, answer, sizeof answer) < 0) exit(9);
}

// Ten thousand instructions and one page fault for each unit.
static void work(int units) {
  if (units == 0) return;
  char* memory = mmap(NULL, 4096 * (size_t)units, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < units; i++) {
    memory[i * 4096] = 1;
    long n = 1000;
    __asm__ volatile("1: nop; nop; nop; nop; nop; nop; nop; nop; dec %0; jnz 1b" : "+r"(n) : : "cc");
  }
}

int main(int argc, char** argv) {
  commands = atoi(argv[1]);
  answers = atoi(argv[2]);
  command("ping\n");
  for (int i = 3; i < argc; i++) {
    work(atoi(argv[i]));
    if (i + 1 < argc) command(i % 2 == 1 ? "enable\n" : "disable\n");
  }
  return 0;
}
