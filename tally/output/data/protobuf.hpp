// Messages in the wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as far as profiles need
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally::output {

class ProtobufMessage {
 public:
  /// int64, uint64, bool. 0 is the default, and is left out.
  void add(int field, std::int64_t value) {
    if (value == 0) return;
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void add(int field, std::string_view bytes) {
    key(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
  }
  void add(int field, const ProtobufMessage& message) { add(field, std::string_view(message.bytes_)); }
  /// A repeated number, packed; zeros are kept.
  void add(int field, const std::vector<std::int64_t>& values) {
    ProtobufMessage packed;
    for (const std::int64_t value : values) packed.varint(static_cast<std::uint64_t>(value));
    if (!values.empty()) add(field, packed);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, unsigned type) { varint(static_cast<std::uint64_t>(field) << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace tally::output
