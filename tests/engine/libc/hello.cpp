// The smallest program with a C library, and a formatted number.
#include <cstdio>

int main(int argc, char** argv) {
  std::printf("hello %d %.3f %s\n", argc, argc / 3.0, argc > 1 ? argv[1] : "nobody");
  return 0;
}
