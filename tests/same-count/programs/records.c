/* Memory from malloc, qsort, and a hash table. */
#include <stdio.h>
#include <stdlib.h>

struct record {
  unsigned key, seen;
  struct record* next;
};

static struct record* buckets[1024];

static int by_key(const void* a, const void* b) {
  const unsigned x = (*(struct record* const*)a)->key, y = (*(struct record* const*)b)->key;
  return (x > y) - (x < y);
}

int main(void) {
  enum { count = 20000 };
  static struct record* all[count];
  unsigned random = 1, n = 0;
  for (unsigned i = 0; i < 3 * count && n < count; i++) {
    random = random * 1103515245u + 12345u;
    const unsigned key = random >> 12 & 0xffff;
    struct record* one = buckets[key % 1024];
    while (one != NULL && one->key != key) one = one->next;
    if (one == NULL) {
      one = malloc(sizeof *one);
      if (one == NULL) return 1;
      *one = (struct record){key, 0, buckets[key % 1024]};
      all[n++] = buckets[key % 1024] = one;
    }
    one->seen++;
  }
  qsort(all, n, sizeof *all, by_key);
  printf("%u %u %u\n", n, all[0]->key, all[n - 1]->seen);
  return 0;
}
