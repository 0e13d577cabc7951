// bins K [store]: adds a million times to one of K counters, in turn. With `store`, each time also stores to their
// first line at a fixed address.
#include <stdlib.h>

struct {
  unsigned stored, bins[64];
} table __attribute__((aligned(64)));

static inline __attribute__((always_inline)) void add(unsigned long last, int stores) {
  for (unsigned long i = 0, bin = 0; i < 1000000; ++i) {
    __asm__ volatile("addl $1, (%0,%1,4)" ::"r"(table.bins), "r"(bin) : "memory");
    if (stores) __asm__ volatile("movl %%eax, table(%%rip)" ::: "memory");
    bin = bin == last ? 0 : bin + 1;
  }
}

int main(int argc, char** argv) {
  const unsigned long last = argc > 1 ? strtoul(argv[1], NULL, 10) - 1 : 0;
  if (argc > 2)
    add(last, 1);
  else
    add(last, 0);
  return 0;
}
