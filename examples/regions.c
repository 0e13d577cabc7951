/* Which search in a sorted table costs more, linear or binary? Marks regions in C with the macros of tally/tally.h.
 *
 *     cc -O2 -DTALLY_ENABLE regions.c -ltally -o regions
 *     TALLY_OUTPUT=table ./regions                                 on a machine with a PMU
 *     TALLY_EVENTS=instructions,branches tally stat -- ./regions       on x86-64 anywhere
 *
 * Without -DTALLY_ENABLE the macros expand to nothing, and the program does not need the library. */
#include <stdio.h>
#include <tally/tally.h>

enum { size = 1000 };
static int table[size];

static int one_by_one(int wanted) {
  int at = 0;
  while (table[at] != wanted) ++at;
  return at;
}

static int by_halves(int wanted) {
  int low = 0;
  int high = size;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table[middle] <= wanted) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

int main(void) {
  for (int i = 0; i < size; ++i) table[i] = 3 * i;
  long sum = 0;
  for (int i = 0; i < size; ++i) {
    TALLY_BEGIN("one by one");
    sum += one_by_one(3 * i);
    TALLY_END("one by one");
    TALLY_BEGIN("by halves");
    sum -= by_halves(3 * i);
    TALLY_END("by halves");
  }
  printf("%ld\n", sum);
}
