/// Marked addresses and their translation: a trace at a marked address begins with a gate that enters the engine.
///
/// The caller holds cache_lock, unless a comment says otherwise.
#pragma once
#include "tally/engine/channel/marks_layout.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// A marked address.
struct Slot {
  u64 pc;
  u32 given;    // marked by the command
  u16 returns;  // it is the return address of a function that was entered
  u8 done;      // length of the instruction there, if the engine emulates it
  bool reads;   // that instruction is rdpmc
};

/// Returns the data of an address; its `pc` is 0 if there is none. Needs no lock if the address is marked.
Slot& slot_of(u64 pc);
/// Returns the addresses that the command has marked. Needs no lock.
const channel::MarkPoints& given_marks();
/// Whether the command has marked an address in this range.
bool has_given_marks(u64 start, u64 bytes);
/// Marks the return address of a function that was entered. False if there are too many. Takes cache_lock.
bool mark_return(u64 pc);

/// Checks an indirect jump of a followed thread. Needs no lock.
void marks_landed(Thread* t);

}  // namespace tally::engine::instrument
