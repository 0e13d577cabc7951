#include "tally/engine/instrument/python_objects.hpp"

#include "tally/engine/translate/entry.hpp"

namespace tally::engine::instrument {
namespace {

namespace python = channel::python;

struct OwnMemory {
  bool read(void* to, u64 from, u64 bytes) const {
    return safe_copy(to, reinterpret_cast<const void*>(from), bytes) == 0;
  }
};

u64 read_word(u64 address) { return python::read_as<u64>(OwnMemory{}, address); }

}  // namespace

u64 current_frame_at(u64 thread_state) {
  if (python_layout().frame_in_cframe == python::none) return thread_state + python_layout().frame_in_state;
  const u64 cframe = read_word(thread_state + python_layout().frame_in_state);
  return cframe == 0 ? 0 : cframe + python_layout().frame_in_cframe;
}

u64 python_frame(u64 frame) { return python::python_frame(OwnMemory{}, frame, python_layout()); }

u64 current_frame(u64 thread_state) { return python_frame(read_word(current_frame_at(thread_state))); }

u64 previous_frame(u64 frame) { return python_frame(read_word(frame + python_layout().previous_in_frame)); }

u64 code_of_frame(u64 frame) { return read_word(frame + python_layout().code_in_frame); }

CodeObject read_code_object(u64 code) { return python::read_code_object(OwnMemory{}, code, python_layout()); }

void read_python_text(u64 text, char* to, u32 room, bool keeps_end) {
  python::read_text(OwnMemory{}, text, to, room, keeps_end, python_layout());
}

}  // namespace tally::engine::instrument
