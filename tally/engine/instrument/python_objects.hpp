/// Objects of CPython 3.11 in the program's memory: thread states, frames, code objects and texts. Invalid pointers
/// read as zeros.
///
/// The layouts are those of the release's headers (Include/cpython, Include/internal) in release builds; debug builds
/// have others, and their code objects are not recognised.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::instrument {

/// Offset of the active _PyCFrame's address in a PyThreadState, and of the current frame's address in a _PyCFrame.
inline constexpr u32 cframe_in_state = 56, frame_in_cframe = 8;

/// Returns the current _PyInterpreterFrame of a PyThreadState, and the address of the variable that contains it; 0:
/// none.
u64 current_frame(u64 thread_state);
u64 current_frame_at(u64 thread_state);

u64 previous_frame(u64 frame);
u64 code_of_frame(u64 frame);

/// What a code object says of its function.
struct CodeObject {
  u64 name, file;  ///< addresses of texts
  u32 line;
  bool is_valid;
};
CodeObject read_code_object(u64 code);

/// Writes a str object as UTF-8 with a zero at its end. `keeps_end`: a long text is cut at its beginning.
void read_python_text(u64 text, char* to, u32 room, bool keeps_end);

}  // namespace tally::engine::instrument
