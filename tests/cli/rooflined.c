// 40,000,000 dependent additions in compute(): some 40 ms on a processor. With TALLY_ENABLE in a region.
#ifdef TALLY_ENABLE
#include <tally/tally.h>
#else
#define TALLY_BEGIN(name)
#define TALLY_END(name)
#endif

static double compute(int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += 1.5;
    __asm__ volatile("" : "+x"(sum));
  }
  return sum;
}

int main(int argc, char** argv) {
  (void)argv;
  TALLY_BEGIN("additions");
  const double sum = compute(40000000);
  TALLY_END("additions");
  return sum != 60000000.0 * argc;
}
