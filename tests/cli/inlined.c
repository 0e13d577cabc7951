// Inlined functions with known counts, for the tests of `tally profile --inlines`.
#define INLINED static inline __attribute__((always_inline)) void
#define APART __attribute__((noinline)) void

INLINED three(void) { __asm__ volatile("nop; nop; nop"); }
INLINED seven(void) {
  __asm__ volatile("nop; nop; nop; nop");
  three();
}

APART both(int n) {
  while (n-- > 0) {
    seven();
    three();
  }
}

APART other(int n) {
  three();
  both(n);
  __asm__ volatile("");
}

int main(void) {
  both(100);
  other(10);
  return 0;
}
