// The hooks of benchmark libraries, with the macros of callgrind.h: CodSpeed's sequence of requests around a benchmark.
#include <stdio.h>
#include <valgrind/callgrind.h>

__attribute__((noinline, noipa)) static void work(long n) { __asm__ volatile("1: sub $1, %0\n jne 1b" : "+r"(n)); }

__attribute__((noinline, noipa)) static void begin(void) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_START_INSTRUMENTATION;
}

__attribute__((noinline, noipa)) static void end(const char* name) {
  CALLGRIND_STOP_INSTRUMENTATION;
  if (name) CALLGRIND_DUMP_STATS_AT(name);
}

__attribute__((noinline, noipa)) static void measure(long n, const char* name) {
  begin();
  work(n);
  end(name);
}

static long sum(int thread, long a, long b) { return 1000 * thread + a + b; }

static int answers(void) {
  const double kept = 0.5 * RUNNING_ON_VALGRIND;
  const long called = (long)VALGRIND_NON_SIMD_CALL2(sum, 4, 7);
  const int printed = VALGRIND_PRINTF("%d %s|%5ld|%-4u|%x\n", -3, "text", 123L, 7u, 255);
  printf("%d %ld %d %.1f\n", (int)RUNNING_ON_VALGRIND, called, printed, kept);
  return 0;
}

int main(int count, char** words) {
  (void)words;
  if (count > 1) return answers();
  work(5000);
  measure(100, "bench::shorter");
  measure(1000, "bench::longer");
  measure(100, 0);
  return RUNNING_ON_VALGRIND;
}
