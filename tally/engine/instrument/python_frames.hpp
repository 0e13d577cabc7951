/// Functions of Python programs: the counts of each thread, by the innermost Python function.
///
/// CPython 3.11 and later execute Python functions in _PyEval_EvalFrameDefault. A call from Python to Python does not
/// call that function again: it stores another frame in the variable `cframe.current_frame` of its stack frame,
/// from 3.13 on in the thread state. The engine marks the function's entry, its return, and each of these stores
/// (marked_addresses.hpp). At a mark it adds what the thread has counted (exact_sums.hpp) since the last one to the
/// function that was the innermost, and reads the new frame's code object. Nothing is sampled or estimated: a count is
/// exact up to the store, which is a few instructions before a function's first bytecode and after its last.
#pragma once
#include "tally/engine/channel/marks_layout.hpp"
#include "tally/engine/channel/python.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::translate {
struct Builder;
}

namespace tally::engine::instrument {

inline bool python_on() { return settings().marks.python != 0; }

/// Chooses how counts are read at marks.
void python_init();
/// Prepares a thread that has its channel record. `goes_on`: after a fork, it continues the calls of its parent. False
/// without memory.
bool python_attach(Thread* t, bool goes_on);
/// Adds what was counted since the last mark: afterwards the table is complete.
void python_settle(Thread* t);

/// Adds the marks in the code of each interpreter that the command has marked (channel::mark_python).
void add_python_marks(channel::MarkPoints& points);
/// Whether the mark is one of an interpreter.
inline bool is_python(const channel::MarkPoint& point) {
  return point.role >= channel::mark_python && point.role <= channel::mark_python_return;
}
/// Called at such a mark; the thread's state is that of the program.
void python_reached(Thread* t, const channel::MarkPoint& point);

/// Whether generated code can ask python_asked() at such a mark, which takes less time.
bool asks_python();
/// Emits this. The flags and registers are preserved, but r11 must be saved.
void emit_python_mark(translate::Builder& b, const channel::MarkPoint& point);
/// Words of generated code, which no call or model uses.
enum PythonWord : u32 { python_entry_word = 12, python_frame_word, python_return_word };
void python_asked(Thread* t, u32 word);
/// Returns a number that identifies what is added to generated code; 0 if nothing is.
u64 python_key();

}  // namespace tally::engine::instrument
