// Reads structures of a file that nobody vouches for: a read outside of it returns nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tally::symbol {

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size()) return {};
    return bytes_.substr(offset, size);
  }

 private:
  std::string_view bytes_;
};

/// Returns the text at an offset of a string table; empty outside of it.
inline std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace tally::symbol
