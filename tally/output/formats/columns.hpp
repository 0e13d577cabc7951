// Compact columns of integers, used by the compact file and by the pages of windows. Bytes:
// docs/reference/windows-file.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tally::result {

/// Appends a number: seven bits per byte, the lowest first; the sign is the lowest bit of all.
void put_number(std::int64_t value, std::string& to);

/// Appends a column of at least one number in its shortest encoding.
void put_column(std::span<const std::int64_t> column, std::string& to);

/// Reads this encoding, and remembers whether bytes were missing or invalid.
class ColumnReader {
 public:
  explicit ColumnReader(std::span<const char> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  std::int64_t number();
  /// Reads a length, then that many bytes.
  std::string_view text();
  void column(std::span<std::int64_t> to);
  bool bad() const { return bad_; }
  bool at_end() const { return at_ == end_; }

 private:
  char byte();

  const char* at_;
  const char* end_;
  bool bad_ = false;
};

}  // namespace tally::result
