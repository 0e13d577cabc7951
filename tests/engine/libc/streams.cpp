// Reads standard input to its end, prints its length, and closes standard output and error afterwards.
#include <unistd.h>

#include <cstdio>

int main() {
  size_t bytes = 0;
  unsigned sum = 0;
  for (int c = 0; (c = std::getchar()) != EOF; ++bytes) sum = sum * 31 + static_cast<unsigned>(c);
  std::printf("%zu %u\n", bytes, sum);
  std::fprintf(stderr, "closing\n");
  if (std::fclose(stdout) != 0 || std::fclose(stderr) != 0) return 1;
  // The numbers are free again, and stay available to the program.
  int ends[2];
  if (pipe(ends) != 0) return 2;
  return ends[0] == 1 && ends[1] == 2 ? 5 : 6;
}
