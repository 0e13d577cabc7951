// rows [unmap]: a product of matrices, row by row. With `unmap`, after each 50 rows it executes code and unmaps it.
#define _GNU_SOURCE
#include <sys/mman.h>

enum { size = 300 };
double a[size][size], b[size][size], sums[size][size];

static void execute_and_unmap(void) {
  unsigned char* const code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return;
  *code = 0xc3;  // ret
  ((void (*)(void))code)();
  munmap(code, 4096);
}

int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j)
      for (int k = 0; k < size; ++k) sums[i][k] += a[i][j] * b[j][k];
    if (argc > 1 && i % 50 == 0) execute_and_unmap();
  }
  return 0;
}
