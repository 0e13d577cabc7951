#include "tally/output/result/compact_columns.hpp"

#include <cstddef>

namespace tally::output {
namespace {

enum class ColumnEncoding : char {
  steps,        ///< the first value, and the difference between successive values, which is always the same
  differences,  ///< the first value, and the difference of each value from its predecessor
  values,
};

// Differences may overflow: they wrap around.
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

void put_number(std::int64_t value, std::string& to) {
  // Moves the sign to the lowest bit, so that small negative numbers are short too.
  std::uint64_t bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  char bytes[10];
  std::size_t size = 0;
  for (; bits >= 0x80; bits >>= 7) bytes[size++] = static_cast<char>(bits | 0x80);
  bytes[size++] = static_cast<char>(bits);
  to.append(bytes, size);
}

}  // namespace

void put_column(std::span<const std::int64_t> column, std::string& to) {
  const std::int64_t step = column.size() > 1 ? minus(column[1], column[0]) : 0;
  bool same = true;
  for (std::size_t i = 2; i < column.size() && same; ++i) same = minus(column[i], column[i - 1]) == step;
  if (same) {
    to += static_cast<char>(ColumnEncoding::steps);
    put_number(column[0], to);
    put_number(step, to);
    return;
  }
  std::string differences, values;
  std::int64_t before = 0;
  for (const std::int64_t one : column) {
    put_number(minus(one, before), differences);
    put_number(one, values);
    before = one;
  }
  const bool shorter = differences.size() <= values.size();
  to += static_cast<char>(shorter ? ColumnEncoding::differences : ColumnEncoding::values);
  to += shorter ? differences : values;
}

}  // namespace tally::output
