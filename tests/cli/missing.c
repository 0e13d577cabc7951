// Functions with known numbers of misses, for the tests of `tally profile` with a machine model.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { line = 64, lines = 8192 };
static volatile char block[lines * line] __attribute__((aligned(4096)));
static volatile char small[line * 16] __attribute__((aligned(4096)));
static char copied[lines * line / 8] __attribute__((aligned(4096)));

// Half a megabyte: each load is of a line that no first level holds.
__attribute__((noinline)) static void strides(void) {
  for (int i = 0; i < lines; i++) (void)block[i * line];
}

// The same with loads of eight bytes, four of each line and four of the next one.
__attribute__((noinline)) static void across(void) {
  for (int i = 0; i + 1 < lines; i++) (void)*(volatile unsigned long*)(block + i * line + line - 4);
}

// A kilobyte, again and again.
__attribute__((noinline)) static void stays(void) {
  for (int i = 0; i < 16 * lines; i++) (void)small[i % 16 * line];
}

__attribute__((noinline)) static void copies(void) {
  void* to = copied;
  const void* from = (const void*)block;
  size_t n = sizeof copied;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

// A bit of a pseudo-random sequence: a branch that no predictor predicts.
__attribute__((noinline)) static int guesses(void) {
  unsigned state = 1;
  volatile int odd = 0;
  for (int i = 0; i < 20000; i++) {
    state = state * 1103515245 + 12345;
    if (state >> 16 & 1) odd++;
  }
  return odd;
}

static void* thread(void* nothing) {
  strides();
  return nothing;
}

int main(int argc, char** argv) {
  strides();
  across();
  stays();
  copies();
  (void)guesses();
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    if (fork() == 0) {
      strides();
      _exit(0);
    }
    wait(NULL);
  }
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
  }
  return 0;
}
