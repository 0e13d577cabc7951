/// Objects of CPython 3.11 to 3.13 in the memory of a process: thread states, frames, code objects and texts.
/// Freestanding.
///
/// The layouts are those of the releases' headers (Include/cpython, Include/internal) in release builds with a global
/// interpreter lock; others have other layouts, and their code objects are not recognised.
///
/// `Memory` reads them: `bool read(void* to, uint64_t from, uint64_t bytes)`. Invalid pointers read as zeros.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace tally::channel::python {

inline constexpr uint32_t none = 0xffffffff;

/// Offsets of one version.
struct Layout {
  uint32_t version;          ///< Py_Version >> 16
  uint32_t frame_in_state;   ///< in a PyThreadState, of the current _PyInterpreterFrame's address, or of what has it:
  uint32_t frame_in_cframe;  ///< in the active _PyCFrame; `none`: there is no such struct
  uint32_t code_in_frame, previous_in_frame;
  uint32_t owner_in_frame;  ///< 1 byte; `none`: every frame is that of a Python function
  uint32_t line_in_code;
  uint32_t ascii_head, other_head;  ///< bytes of a str object before its characters
};
/// 3.12 by the debug information of 3.12.1, 3.13 by the _Py_DebugOffsets of 3.13.0.
inline constexpr Layout layouts[] = {
    {0x030b, 56, 8, 32, 48, none, 72, 48, 72},
    {0x030c, 56, 0, 0, 8, 70, 68, 40, 56},
    {0x030d, 72, none, 0, 8, 70, 68, 40, 56},
};
/// Of 3.11, in _PyRuntime: the PyThreadState that holds the global interpreter lock.
inline constexpr uint32_t holder_in_runtime = 576;
/// In the code objects of each version.
inline constexpr uint32_t file_in_code = 112, qualified_name_in_code = 128;
inline constexpr uint8_t owned_by_c_stack = 3;  ///< of a frame's owner: a frame of C code has no function

/// What is read of a code object.
struct RawCode {
  uint64_t references, type;
  uint8_t others[qualified_name_in_code + 8 - 16];
};
static_assert(sizeof(RawCode) == 136);

/// The head of a str object. A text of ASCII characters follows it; other texts follow 24 bytes later.
struct RawText {
  uint64_t references, type;
  int64_t length;
  uint64_t hash;
  uint32_t state, padding;
  uint64_t wide;
};
static_assert(sizeof(RawText) == 48);

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
CodeObject read_code_object(Memory&& memory, uint64_t code, const Layout& layout) {
  const auto raw = read_as<RawCode>(memory, code);
  const auto copy = [&](void* to, uint32_t offset, uint32_t bytes) {
    __builtin_memcpy(to, reinterpret_cast<const char*>(&raw) + offset, bytes);
  };
  CodeObject object{};
  copy(&object.name, qualified_name_in_code, sizeof object.name);
  copy(&object.file, file_in_code, sizeof object.file);
  copy(&object.line, layout.line_in_code, sizeof object.line);
  object.is_valid = raw.type != 0 && object.name != 0 && object.file != 0;
  return object;
}

/// The frame itself, or the one before it that is a Python function's: neither of C code nor one that the interpreter
/// adds around `__init__`, whose code has the same text for its name and its file. 0: none.
template <class Memory>
uint64_t python_frame(Memory&& memory, uint64_t frame, const Layout& layout) {
  if (layout.owner_in_frame == none) return frame;
  // More than two in a row are the memory of a thread that changed its frames meanwhile.
  for (int i = 0; frame != 0 && i < 8; i++, frame = read_as<uint64_t>(memory, frame + layout.previous_in_frame)) {
    if (read_as<uint8_t>(memory, frame + layout.owner_in_frame) == owned_by_c_stack) continue;
    const auto object = read_code_object(memory, read_as<uint64_t>(memory, frame + layout.code_in_frame), layout);
    if (!object.is_valid || object.name != object.file) break;
  }
  return frame;
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

/// Writes a str object as UTF-8 with a zero at its end. `keeps_end`: a long text is cut at its beginning.
template <class Memory>
void read_text(Memory&& memory, uint64_t text, char* to, uint32_t room, bool keeps_end, const Layout& layout) {
  const auto raw = read_as<RawText>(memory, text);
  const uint32_t kind = raw.state >> 2 & 7;  // bytes of a character
  const bool is_compact = (raw.state >> 5 & 1) != 0, is_ascii = (raw.state >> 6 & 1) != 0;
  uint32_t used = 0;
  if (is_compact && (kind == 1 || kind == 2 || kind == 4) && raw.length > 0) {
    const uint64_t length = static_cast<uint64_t>(raw.length),
                   characters = text + (is_ascii ? layout.ascii_head : layout.other_head);
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
