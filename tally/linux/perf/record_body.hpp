// Reads fields of a perf_event_open(2) record.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace tally::linux {

/// Returns the number at this offset; the body must be long enough.
template <class T>
T number_at(std::span<const std::byte> body, std::size_t offset) {
  T value;
  std::memcpy(&value, body.data() + offset, sizeof value);
  return value;
}

/// Returns the name between two offsets, without the zeros after it.
inline std::string_view text_at(std::span<const std::byte> body, std::size_t offset, std::size_t end) {
  const std::string_view text(reinterpret_cast<const char*>(body.data()) + offset, end - offset);
  return text.substr(0, text.find('\0'));
}

}  // namespace tally::linux
