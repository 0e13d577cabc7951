/// Parts of a run that marks in the program separate: see engine/channel/run_parts.hpp.
///
/// A part begins after the instructions of the mark that begins it, and ends before those of the mark that ends it: the
/// instructions of a mark belong to no part. The counts of a part are the differences between what a thread had counted
/// at its ends, so counting itself does not change.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

inline bool parts_on() { return settings().parts.on != 0; }

/// Called once, when the settings are known.
void parts_init();
/// Prepares a thread that has its channel record, whose counters are zero. `goes_on`: after a fork, in the state of its
/// parent.
void parts_attach(Thread* t, bool goes_on);
/// Records what a thread that ends has counted. It is stopped, or is the caller, which holds threads_lock.
void parts_end(Thread* t);

/// Moves the counts of a thread to its record and its part of the code log. It is stopped, or is the caller, which
/// holds threads_lock. Defined in the guest layer.
void collect_counts(Thread* t);

enum class PartAction : u8 {
  start,   ///< instrumentation is on from here
  stop,    ///< it is off
  toggle,  ///< collection of the calling thread changes
  zero,    ///< what was counted in this part is discarded
  dump,    ///< the part ends, and the next one begins
};

/// The name of what callgrind's and cachegrind's marks separate.
inline constexpr const char* collected = "collected";

/// Carries out the action of a mark of `instructions` instructions, at which the calling thread is. `name`: of a dump,
/// or null; of a start, what it separates. Holds the other threads of the process meanwhile, if the action concerns
/// them.
void change_parts(Thread* t, PartAction action, const char* name, u32 instructions);

/// Switches the collection of the calling thread, at an address that is no mark.
void toggle_collection(Thread* t);

/// A work item `id`, as gem5 defines them, begins or ends at the calling thread, as in change_parts(). A part begins
/// with it and ends with it, named "work ID". It is open until it has ended as often as it has begun, so several
/// threads may share it. Within another item it takes the place of that one.
void begin_work_item(Thread* t, u64 id, u32 instructions);
void end_work_item(Thread* t, u64 id, u32 instructions);

}  // namespace tally::engine::instrument
