// Columns of whole numbers in few bytes: the compact file of windows is made of them, and the pages of windows hold
// them. docs/reference/windows-file.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tally::result {

/// Adds a number: seven bits a byte, the lowest first; the sign is the lowest bit of all.
void put_number(std::int64_t value, std::string& to);

/// Adds a column of at least one number, in the shortest of its forms.
void put_column(std::span<const std::int64_t> column, std::string& to);

/// Reads what these write, and remembers whether there were too few bytes or wrong ones.
class ColumnReader {
 public:
  explicit ColumnReader(std::span<const char> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  std::int64_t number();
  /// So many bytes as the number before them says.
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
