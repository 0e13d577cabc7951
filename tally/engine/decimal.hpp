/// Decimal numbers in text that the engine writes.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine {

/// Writes at most 20 digits, and returns the address after them.
inline char* write_decimal(char* to, u64 number) {
  char digits[20];
  u32 n = 0;
  do digits[n++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (n > 0) *to++ = digits[--n];
  return to;
}

}  // namespace tally::engine
