/// Functions of a Python program: what a thread counted while each of them was the innermost one.
///
/// Each thread has a table in an area of the channel, so it outlives the process. Freestanding.
#pragma once
#include <stdint.h>

namespace tally::channel {

inline constexpr uint32_t python_event_limit = 4;

/// A Python function, as its code object describes it. Texts are UTF-8 and end with a zero.
struct PythonFunction {
  uint64_t code;                     ///< address of the code object
  uint64_t name_at, file_at;         ///< addresses of its texts: another code object may be at the same address later
  uint32_t line;                     ///< of its definition
  uint32_t active;                   ///< how often it is being executed
  uint64_t calls;                    ///< begun and resumed executions
  int64_t self[python_event_limit];  ///< counted while it was the innermost function, with the C code that it called
  int64_t inclusive[python_event_limit];  ///< from its outermost call to its end
  int64_t start[python_event_limit];      ///< the counts at the beginning of the outermost call
  char name[120];                         ///< qualified name, cut at the end
  char file[256];                         ///< cut at the beginning
};
static_assert(sizeof(PythonFunction) == 512);

/// The table. The first function stands for everything outside Python functions.
struct PythonTable {
  uint32_t functions;  ///< how many are used, with the first
  uint32_t is_cut;     ///< 1: too many functions, or too many active calls
  uint64_t reserved[63];
  PythonFunction function[1];
};
inline constexpr uint32_t python_function_limit = (1u << 16) - 2;

}  // namespace tally::channel
