/// The code of CPython's _PyEval_EvalFrameDefault: which instructions change the current frame.
///
/// Up to 3.12 the function has a variable _PyCFrame on its stack frame. Its first instructions store the variable's
/// address in the thread state, which comes as an argument; so the variable's place is known without symbols or debug
/// information. In 3.13 the thread state has the current frame: every store at that offset may be one.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::instrument {

/// An instruction that stores the current frame: `mov [base + displacement], value`.
struct FrameStore {
  u8 base, value;
  s16 displacement;
};
inline u32 word_of(const FrameStore& s) {
  return u32{s.base} | u32{s.value} << 4 | static_cast<u32>(static_cast<u16>(s.displacement)) << 16;
}
inline FrameStore frame_store_of(u32 word) {
  return {static_cast<u8>(word & 15), static_cast<u8>(word >> 4 & 15), static_cast<s16>(word >> 16)};
}

/// What changes the current frame. The function's blocks that the compiler placed elsewhere are included.
struct FrameChanges {
  static constexpr u32 limit = 96;
  struct Change {
    u64 pc;
    u32 store;  ///< word_of() its FrameStore; of a return: not used
    bool is_return;
  };
  u32 count;
  Change change[limit];
};

/// Searches the function's code, in the version python_version. Returns no changes if it is not as expected.
void find_frame_changes(u64 begin, u64 bytes, FrameChanges& changes);

}  // namespace tally::engine::instrument
