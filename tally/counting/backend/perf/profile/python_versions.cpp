#include "tally/counting/backend/perf/profile/python_versions.hpp"

namespace tally::backend::perf {
namespace {

namespace python = channel::python;

constexpr PythonLayout version_3_11{.holder = python::holder_in_runtime, .objects = python::layouts[0]};
// The lock by the debug information of 3.12.1.
constexpr PythonLayout version_3_12{
    .interpreter = 0x30, .lock = 0x180, .is_locked = 16, .holder = 8, .objects = python::layouts[1]};

// The words of _Py_DebugOffsets in 3.13, which begins _PyRuntime (Include/internal/pycore_runtime.h).
enum DebugWord : std::uint64_t {
  cookie = 0,
  version_number = 1,
  free_threaded = 2,
  interpreters_head = 5,
  next_interpreter = 8,
  ceval_gil = 14,
  own_gil = 15,
  gil_locked = 17,
  gil_holder = 18,
  current_frame = 23,
  previous_frame = 29,
  executable = 30,
  owner = 33,
  file_name = 35,
  qualified_name = 37,
  first_line = 39,
};

std::optional<PythonLayout> described_layout(std::uint64_t runtime, const ReadWord& read) {
  const auto word = [&](DebugWord index) { return read(runtime + 8 * index); };
  constexpr std::uint64_t xdebugpy = 0x7970677562656478;  // "xdebugpy" as a little-endian number
  const bool is_3_13 = word(cookie) == xdebugpy && word(version_number) >> 16 == 0x030d && word(free_threaded) == 0;
  if (!is_3_13) return std::nullopt;
  const auto offset = [&](DebugWord index) { return static_cast<std::uint32_t>(word(index)); };
  python::Layout objects = python::layouts[2];
  objects.frame_in_state = offset(current_frame);
  objects.code_in_frame = offset(executable);
  objects.previous_in_frame = offset(previous_frame);
  objects.owner_in_frame = offset(owner);
  objects.line_in_code = offset(first_line);
  if (word(file_name) != python::file_in_code || word(qualified_name) != python::qualified_name_in_code)
    return std::nullopt;
  return PythonLayout{.interpreter = word(interpreters_head),
                      .next_interpreter = word(next_interpreter),
                      .lock = word(ceval_gil),
                      // Offsets in the interpreter, which contains a lock of its own.
                      .is_locked = word(gil_locked) - word(own_gil),
                      .holder = word(gil_holder) - word(own_gil),
                      .objects = objects};
}

}  // namespace

std::optional<PythonLayout> python_layout(std::string_view file, std::uint64_t runtime, const ReadWord& read) {
  if (file.find("python3.11") != file.npos) return version_3_11;
  if (file.find("python3.12") != file.npos) return version_3_12;
  if (file.find("python3.13") != file.npos) return described_layout(runtime, read);
  return std::nullopt;
}

}  // namespace tally::backend::perf
