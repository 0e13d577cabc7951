// bins K: adds a million times to one of K counters, in turn.
#include <stdlib.h>

static unsigned bins[64];

int main(int argc, char** argv) {
  const unsigned long last = argc > 1 ? strtoul(argv[1], NULL, 10) - 1 : 0;
  for (unsigned long i = 0, bin = 0; i < 1000000; ++i) {
    __asm__ volatile("addl $1, (%0,%1,4)" ::"r"(bins), "r"(bin) : "memory");
    bin = bin == last ? 0 : bin + 1;
  }
  return 0;
}
