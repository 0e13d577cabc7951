// Where the versions of CPython keep their frames, for reading them from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tally/engine/channel/python_layout.hpp"

namespace tally::backend::perf {

/// Offsets in release builds.
struct PythonLayout {
  // The thread state that holds the global interpreter lock.
  std::uint64_t interpreter = 0;       ///< in _PyRuntime, of the newest or only interpreter; 0: holder is in _PyRuntime
  std::uint64_t next_interpreter = 0;  ///< in an interpreter, of the one before; 0: `interpreter` is the main one
  std::uint64_t lock = 0;              ///< in an interpreter, of the lock's address
  std::uint64_t is_locked = 0;         ///< in the lock, 4 bytes
  std::uint64_t holder = 0;            ///< in the lock, or in _PyRuntime

  channel::python::Layout objects = {};
};

/// Reads 8 bytes of the process; 0 if that is not possible.
using ReadWord = std::function<std::uint64_t(std::uint64_t address)>;

/// The layout of the interpreter in a file of this name, such as "libpython3.12.so.1.0", whose _PyRuntime is at this
/// address. Empty for versions that nobody has tried, and for builds without a global interpreter lock.
std::optional<PythonLayout> python_layout(std::string_view file, std::uint64_t runtime, const ReadWord& read);

}  // namespace tally::backend::perf
