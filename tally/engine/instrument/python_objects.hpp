/// Objects of CPython 3.11 in the program's memory (channel/python_layout.hpp).
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/channel/python_layout.hpp"

namespace tally::engine::instrument {

using channel::python::cframe_in_state, channel::python::frame_in_cframe, channel::python::CodeObject;

/// Returns the current _PyInterpreterFrame of a PyThreadState, and the address of the variable that contains it; 0:
/// none.
u64 current_frame(u64 thread_state);
u64 current_frame_at(u64 thread_state);

u64 previous_frame(u64 frame);
u64 code_of_frame(u64 frame);

CodeObject read_code_object(u64 code);

/// Writes a str object as UTF-8 with a zero at its end. `keeps_end`: a long text is cut at its beginning.
void read_python_text(u64 text, char* to, u32 room, bool keeps_end);

}  // namespace tally::engine::instrument
