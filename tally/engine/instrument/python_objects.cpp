#include "tally/engine/instrument/python_objects.hpp"

#include "tally/engine/translate/entry.hpp"

namespace tally::engine::instrument {
namespace {

template <class T>
T read(u64 address) {
  T value{};
  return safe_copy(&value, reinterpret_cast<const void*>(address), sizeof value) == 0 ? value : T{};
}

/// What is read of a code object, by offset.
struct RawCode {
  u64 references, type;
  u64 before_line[7];
  u32 line, local_count;
  u64 before_file[4];
  u64 file, name, qualified_name;
};
static_assert(offsetof(RawCode, line) == 72 && offsetof(RawCode, file) == 112);

/// The head of a str object. A text of ASCII characters follows it; other texts follow 24 bytes later.
struct RawText {
  u64 references, type;
  s64 length;
  u64 hash;
  u32 state, padding;
  u64 wide;
};
static_assert(sizeof(RawText) == 48);
constexpr u32 other_head_bytes = 72;

/// Writes a character as UTF-8. Returns the number of bytes, 0 without room.
u32 put(u32 c, char* to, u32 room) {
  const u32 n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  if (n > room) return 0;
  static const u8 first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (u32 i = n; i-- > 1; c >>= 6) to[i] = static_cast<char>(0x80 | (c & 0x3f));
  to[0] = static_cast<char>(first[n] | c);
  return n;
}

}  // namespace

u64 current_frame_at(u64 thread_state) {
  const u64 cframe = read<u64>(thread_state + cframe_in_state);
  return cframe == 0 ? 0 : cframe + frame_in_cframe;
}

u64 current_frame(u64 thread_state) { return read<u64>(current_frame_at(thread_state)); }

u64 previous_frame(u64 frame) { return read<u64>(frame + 48); }

u64 code_of_frame(u64 frame) { return read<u64>(frame + 32); }

CodeObject read_code_object(u64 code) {
  const auto raw = read<RawCode>(code);
  return {raw.qualified_name, raw.file, raw.line, raw.type != 0 && raw.qualified_name != 0 && raw.file != 0};
}

void read_python_text(u64 text, char* to, u32 room, bool keeps_end) {
  const auto raw = read<RawText>(text);
  const u32 kind = raw.state >> 2 & 7;  // bytes of a character
  const bool is_compact = (raw.state >> 5 & 1) != 0, is_ascii = (raw.state >> 6 & 1) != 0;
  u32 used = 0;
  if (is_compact && (kind == 1 || kind == 2 || kind == 4) && raw.length > 0) {
    const u64 length = static_cast<u64>(raw.length), characters = text + (is_ascii ? sizeof raw : other_head_bytes);
    u64 i = keeps_end && length >= room ? length - room + 1 : 0;
    for (; i < length; i++) {
      u32 c = 0;
      if (safe_copy(&c, reinterpret_cast<const void*>(characters + i * kind), kind) != 0) break;
      const u32 n = put(c, to + used, room - 1 - used);
      if (n == 0) break;
      used += n;
    }
  }
  to[used] = 0;
}

}  // namespace tally::engine::instrument
