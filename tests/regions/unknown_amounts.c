/* Stores whose bytes the engine does not count: in a function, in a region, between two readings, in a thread.
   With `at_once` it ends without exit handlers. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tally/tally.h>

static _Alignas(64) unsigned char to[64];

__attribute__((noinline)) static void known(void) { memset(to, 1, sizeof to); }

__attribute__((noinline)) static void unknown(void) {
  __asm__ volatile("pcmpeqb %%mm0, %%mm0\n maskmovq %%mm0, %%mm0\n emms" ::"D"(to) : "memory", "mm0");
}

static void* thread(void* none) {
  unknown();
  return none;
}

static void print(tally_counters* counters, const char* when) {
  tally_count counts[2];
  if (tally_read(counters, counts, 2) != 2) return;
  for (int i = 0; i < 2; ++i) printf("%s %s %s\n", when, counts[i].event, counts[i].trust);
}

int main(int argc, char** argv) {
  tally_counters* const counters = tally_open("store-bytes,stores");
  print(counters, "before");
  TALLY_BEGIN("known");
  known();
  TALLY_END("known");
  TALLY_BEGIN("unknown");
  unknown();
  TALLY_END("unknown");
  print(counters, "after");
  fflush(stdout);
  pthread_t other;
  if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0) return 1;
  if (argc > 1 && strcmp(argv[1], "at_once") == 0) _exit(0);
  return 0;
}
