// setjmp and longjmp, sigsetjmp out of a handler, atexit, and a handled SIGFPE.
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

sigjmp_buf place;
volatile int zero = 0;

void escape(int signal) { siglongjmp(place, signal); }
void last() { std::puts("last"); }

}  // namespace

int main() {
  std::atexit(last);
  std::signal(SIGFPE, escape);
  std::signal(SIGSEGV, escape);
  static int seen;
  static int i;
  for (i = 0; i < 20; ++i) {
    const int value = sigsetjmp(place, 1);
    if (value != 0) {
      seen += value;
      continue;
    }
    if (i % 2 == 0) {
      seen += 1 / zero;
    } else {
      *reinterpret_cast<volatile int*>(static_cast<uintptr_t>(zero)) = 1;
    }
  }
  std::printf("%d\n", seen);
  std::exit(3);
}
