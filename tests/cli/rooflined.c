// 40,000,000 dependent additions in compute(): some 40 ms on a processor.
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
  return compute(40000000) != 60000000.0 * argc;
}
