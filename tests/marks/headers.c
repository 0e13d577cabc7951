// The hooks of benchmark libraries, with the macros of callgrind.h: CodSpeed's sequence of requests around a benchmark.
#include <valgrind/callgrind.h>

__attribute__((noinline, noipa)) static void work(long n) {
  __asm__ volatile("1: sub $1, %0\n jne 1b" : "+r"(n));
}

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

int main(void) {
  work(5000);
  measure(100, "bench::shorter");
  measure(1000, "bench::longer");
  measure(100, 0);
  return RUNNING_ON_VALGRIND;
}
