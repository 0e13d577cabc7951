/// Objects of CPython in the program's memory (channel/python_layout.hpp).
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/channel/python_layout.hpp"

namespace tally::engine::instrument {

using channel::python::CodeObject;

/// The index of the layout of the interpreter in this process; add_python_marks() sets it.
extern u32 python_version;
inline const channel::python::Layout& python_layout() { return channel::python::layouts[python_version]; }

/// Returns the address of the variable that contains the current _PyInterpreterFrame of a PyThreadState; 0: none.
u64 current_frame_at(u64 thread_state);
/// These are frames of Python functions; 0: none.
u64 current_frame(u64 thread_state);
u64 previous_frame(u64 frame);
/// The frame, or the one before it that is a Python function's.
u64 python_frame(u64 frame);
u64 code_of_frame(u64 frame);

CodeObject read_code_object(u64 code);

/// Writes a str object as UTF-8 with a zero at its end. `keeps_end`: a long text is cut at its beginning.
void read_python_text(u64 text, char* to, u32 room, bool keeps_end);

}  // namespace tally::engine::instrument
