// Runs a few hundred functions once each: in the first thread, or with an argument in a thread that ends.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <utility>

namespace {

template <int N>
[[gnu::noinline]] std::intptr_t step(std::intptr_t x) {
  x = x % (N % 13 + 2) == 0 ? x + N : x ^ N;
  for (std::intptr_t i = 0; i < x % 5; ++i) x = x * 3 + i;
  return x % 100000;
}

template <int... N>
std::intptr_t all(std::integer_sequence<int, N...>) {
  std::intptr_t x = 7;
  ((x = step<N>(x)), ...);
  return x;
}

void* work(void*) { return reinterpret_cast<void*>(all(std::make_integer_sequence<int, 400>())); }

}  // namespace

int main(int count, char**) {
  void* result = nullptr;
  pthread_t thread;
  if (count == 1)
    result = work(nullptr);
  else if (pthread_create(&thread, nullptr, work, nullptr) != 0 || pthread_join(thread, &result) != 0)
    return 1;
  std::printf("%d\n", static_cast<int>(reinterpret_cast<std::intptr_t>(result)));
}
