/// Objects of CPython 3.11 in the memory of a process: thread states, frames, code objects and texts. Freestanding.
///
/// The layouts are those of the release's headers (Include/cpython, Include/internal) in release builds; debug builds
/// have others, and their code objects are not recognised.
///
/// `Memory` reads them: `bool read(void* to, uint64_t from, uint64_t bytes)`. Invalid pointers read as zeros.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace tally::channel::python {

/// Offsets: in _PyRuntime, of the PyThreadState that holds the global interpreter lock; in a PyThreadState, of the
/// active _PyCFrame's address; in that, of the current _PyInterpreterFrame's; in a frame, of its code object's and of
/// the previous frame's.
inline constexpr uint32_t holder_in_runtime = 576, cframe_in_state = 56, frame_in_cframe = 8, code_in_frame = 32,
                          previous_in_frame = 48;

/// What is read of a code object.
struct RawCode {
  uint64_t references, type;
  uint64_t before_line[7];
  uint32_t line, local_count;
  uint64_t before_file[4];
  uint64_t file, name, qualified_name;
};
static_assert(offsetof(RawCode, line) == 72 && offsetof(RawCode, file) == 112);

/// The head of a str object. A text of ASCII characters follows it; other texts follow 24 bytes later.
struct RawText {
  uint64_t references, type;
  int64_t length;
  uint64_t hash;
  uint32_t state, padding;
  uint64_t wide;
};
static_assert(sizeof(RawText) == 48);
inline constexpr uint32_t other_head_bytes = 72;

/// What a code object says of its function.
struct CodeObject {
  uint64_t name, file;  ///< addresses of texts
  uint32_t line;
  bool is_valid;
};

template <class T, class Memory>
T read_as(Memory&& memory, uint64_t address) {
  T value{};
  return memory.read(&value, address, sizeof value) ? value : T{};
}

template <class Memory>
CodeObject read_code_object(Memory&& memory, uint64_t code) {
  const auto raw = read_as<RawCode>(memory, code);
  return {raw.qualified_name, raw.file, raw.line, raw.type != 0 && raw.qualified_name != 0 && raw.file != 0};
}

/// Writes a character as UTF-8. Returns the number of bytes, 0 without room.
inline uint32_t put_character(uint32_t c, char* to, uint32_t room) {
  const uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  if (n > room) return 0;
  constexpr uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (uint32_t i = n; i-- > 1; c >>= 6) to[i] = static_cast<char>(0x80 | (c & 0x3f));
  to[0] = static_cast<char>(first[n] | c);
  return n;
}

/// Writes a str object as UTF-8 with a zero at its end. `keeps_end`: a long text is cut at its beginning. The heads are
/// those of 3.11 unless given.
template <class Memory>
void read_text(Memory&& memory, uint64_t text, char* to, uint32_t room, bool keeps_end,
               uint32_t ascii_head = sizeof(RawText), uint32_t other_head = other_head_bytes) {
  const auto raw = read_as<RawText>(memory, text);
  const uint32_t kind = raw.state >> 2 & 7;  // bytes of a character
  const bool is_compact = (raw.state >> 5 & 1) != 0, is_ascii = (raw.state >> 6 & 1) != 0;
  uint32_t used = 0;
  if (is_compact && (kind == 1 || kind == 2 || kind == 4) && raw.length > 0) {
    const uint64_t length = static_cast<uint64_t>(raw.length), characters = text + (is_ascii ? ascii_head : other_head);
    uint64_t i = keeps_end && length >= room ? length - room + 1 : 0;
    for (; i < length; i++) {
      uint32_t c = 0;
      if (!memory.read(&c, characters + i * kind, kind)) break;
      const uint32_t n = put_character(c, to + used, room - 1 - used);
      if (n == 0) break;
      used += n;
    }
  }
  to[used] = 0;
}

}  // namespace tally::channel::python
