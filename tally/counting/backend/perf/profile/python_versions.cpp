#include "tally/counting/backend/perf/profile/python_versions.hpp"

#include "tally/engine/channel/python_layout.hpp"

namespace tally::backend::perf {
namespace {

namespace python = channel::python;

// What the engine reads, too, of one of the versions.
constexpr PythonLayout layout_of(const python::Layout& layout) {
  PythonLayout made{.frame_in_state = layout.frame_in_state,
                    .code_in_frame = layout.code_in_frame,
                    .previous_in_frame = layout.previous_in_frame,
                    .line_in_code = layout.line_in_code,
                    .file_in_code = python::file_in_code,
                    .name_in_code = python::qualified_name_in_code,
                    .ascii_head = layout.ascii_head,
                    .other_head = layout.other_head};
  if (layout.frame_in_cframe != python::none) made.frame_in_cframe = layout.frame_in_cframe;
  if (layout.owner_in_frame != python::none) made.owner_in_frame = layout.owner_in_frame;
  return made;
}

PythonLayout layout_3_11() {
  PythonLayout layout = layout_of(python::layouts[0]);
  layout.holder = python::holder_in_runtime;
  return layout;
}

// The lock by the debug information of 3.12.1.
PythonLayout layout_3_12() {
  PythonLayout layout = layout_of(python::layouts[1]);
  layout.interpreter = 0x30;
  layout.lock = 0x180;
  layout.is_locked = 16;
  layout.holder = 8;
  return layout;
}

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
  return PythonLayout{.interpreter = word(interpreters_head),
                      .next_interpreter = word(next_interpreter),
                      .lock = word(ceval_gil),
                      // Offsets in the interpreter, which contains a lock of its own.
                      .is_locked = word(gil_locked) - word(own_gil),
                      .holder = word(gil_holder) - word(own_gil),
                      .frame_in_state = word(current_frame),
                      .code_in_frame = word(executable),
                      .previous_in_frame = word(previous_frame),
                      .owner_in_frame = word(owner),
                      .line_in_code = word(first_line),
                      .file_in_code = word(file_name),
                      .name_in_code = word(qualified_name),
                      .ascii_head = python::layouts[2].ascii_head,
                      .other_head = python::layouts[2].other_head};
}

}  // namespace

std::optional<PythonLayout> python_layout(std::string_view file, std::uint64_t runtime, const ReadWord& read) {
  if (file.find("python3.11") != file.npos) return layout_3_11();
  if (file.find("python3.12") != file.npos) return layout_3_12();
  if (file.find("python3.13") != file.npos) return described_layout(runtime, read);
  return std::nullopt;
}

}  // namespace tally::backend::perf
