/// Marked addresses, and what translation does there: a trace begins with a gate that leads into the engine.
///
/// Everything here wants cache_lock held, unless it says otherwise.
#pragma once
#include "tally/engine/channel/marks.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// One of them.
struct Slot {
  u64 pc;
  u32 given;    // by the command
  u16 returns;  // a function was entered with it as its return address
  u8 done;      // the length of an instruction there whose work the engine does
  bool reads;   // it is rdpmc
};

/// What is known of an address; its `pc` is 0 where nothing is. Needs no lock where the address is marked.
Slot& slot_of(u64 pc);
/// Those that the command has named. Needs no lock.
const channel::MarkPoints& given_marks();
/// A function was entered with this return address. False where there are too many addresses. Takes cache_lock.
bool mark_return(u64 pc);

/// Whether the thread is asked at each indirect jump; and it is. Need no lock.
bool is_watched(const Thread* t);
void marks_landed(Thread* t);

}  // namespace tally::engine::instrument
