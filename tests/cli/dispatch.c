// A small interpreter for the test of compiler profiles: it calls instructions through function pointers, nearly all of
// one kind; its checks hardly ever fail.
#include <stdio.h>
#include <stdlib.h>
typedef struct Interpreter Interpreter;
typedef long (*Operation)(Interpreter*, long);
struct Interpreter {
  long sum, errors;
  unsigned seed;
};
static long add(Interpreter* m, long x) { return m->sum += x; }
static long mix(Interpreter* m, long x) { return m->sum ^= x * 31; }
static long turn(Interpreter* m, long x) { return m->sum = (m->sum << 7) ^ ((unsigned long)m->sum >> 57) ^ x; }
static Operation operations[4] = {add, add, mix, turn};
static int check(Interpreter* m, long x) {
  if (x > 1000000) {
    m->errors++;
    for (int i = 0; i < 64; i++) m->sum += i * x;
    printf("large %ld\n", x);
    return 1;
  }
  if (m->errors > 100) {
    fprintf(stderr, "too many\n");
    exit(1);
  }
  return 0;
}
static void step(Interpreter* m, const unsigned char* code, long n) {
  for (long i = 0; i < n; i++) {
    if (check(m, code[i])) continue;
    operations[code[i] & 3](m, code[i]);
  }
}
int main(void) {
  static unsigned char code[4096];
  Interpreter m = {0, 0, 1};
  for (int i = 0; i < 4096; i++) {
    m.seed = m.seed * 1103515245 + 12345;
    unsigned r = (m.seed >> 16) % 100;
    code[i] = (unsigned char)((m.seed >> 24 & ~3u) | (r < 98 ? r & 1 : 2 + (r & 1)));
  }
  for (int round = 0; round < 200; round++) step(&m, code, 4096);
  printf("%ld %ld\n", m.sum, m.errors);
}
