// Memory, strings and sorting: the functions for which the C library has vector code.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int compare(const void* a, const void* b) {
  return std::strcmp(static_cast<const char*>(a), static_cast<const char*>(b));
}

}  // namespace

int main() {
  constexpr size_t words = 40;
  constexpr size_t bytes = 16;
  auto* text = static_cast<char*>(std::calloc(words, bytes));
  if (text == nullptr) return 1;
  unsigned state = 12345;
  for (size_t i = 0; i < words; ++i) {
    for (size_t k = 0; k < 3 + i % 10; ++k) {
      state = state * 1103515245u + 12345u;
      text[i * bytes + k] = static_cast<char>('a' + (state >> 16) % 26);
    }
  }
  std::qsort(text, words, bytes, compare);
  size_t total = 0;
  for (size_t i = 0; i < words; ++i) total += std::strlen(text + i * bytes);
  char* copy = static_cast<char*>(std::malloc(100000));
  std::memset(copy, 'x', 99999);
  copy[99999] = 0;
  std::memmove(copy + 1, copy, 50000);
  std::printf("%s %s %zu %zu\n", text, text + (words - 1) * bytes, total, std::strlen(copy));
  std::free(copy);
  std::free(text);
  return 0;
}
