// Exceptions: the unwinder reads return addresses from the stack and jumps into the middle of functions.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

[[gnu::noinline]] int deep(int n) {
  const std::string kept(static_cast<size_t>(n) + 20, 'x');
  if (n == 0) throw std::runtime_error("deep");
  return deep(n - 1) + static_cast<int>(kept.size());
}

}  // namespace

int main() {
  int caught = 0;
  for (int i = 0; i < 50; ++i) {
    try {
      caught += deep(i % 10);
    } catch (const std::exception& error) {
      caught += error.what()[0] == 'd';
    }
  }
  std::printf("%d\n", caught);
  return caught == 50 ? 0 : 1;
}
