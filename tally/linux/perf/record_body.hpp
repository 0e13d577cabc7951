// What lies in the body of a record of perf_event_open(2).
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace tally::linux {

/// The number that lies at this byte; there must be so many.
template <class T>
T number_at(std::span<const std::byte> body, std::size_t offset) {
  T value;
  std::memcpy(&value, body.data() + offset, sizeof value);
  return value;
}

/// The name that lies between two bytes, with zeros behind it.
inline std::string_view text_at(std::span<const std::byte> body, std::size_t offset, std::size_t end) {
  const std::string_view text(reinterpret_cast<const char*>(body.data()) + offset, end - offset);
  return text.substr(0, text.find('\0'));
}

}  // namespace tally::linux
