/// Windows: a row of counts whenever a thread has counted N instructions or other events
/// (engine/channel/window_rows_layout.hpp).
///
/// A thread writes the row when its countdown (countdowns.hpp) is full.
#pragma once
#include "tally/engine/instrument/access_records.hpp"
#include "tally/engine/instrument/countdowns.hpp"

namespace tally::engine::instrument {

inline bool windows_on() { return settings().windows.on != 0; }

/// Makes translation count down if windows are requested. Called once, after the settings and marks are known.
void windows_init();

/// Returns the address at which the thread's ring is mapped.
channel::NoteRing* window_ring(const Thread* t);

/// Begins the first window of a thread that has its channel record. False without memory.
bool windows_attach(Thread* t);
/// Prepares the first thread of a program, before it has its record: its windows begin at once, or at an address.
void windows_of_program(Thread* t);
/// Prepares a new thread, before it has its record: its windows have started or stopped like those of its parent.
void windows_inherit(Thread* t, const Thread* parent);
/// Starts or stops the windows of a thread at its current address. Unless they repeat, only the first start and the
/// first stop count.
void windows_start(Thread* t);
void windows_stop(Thread* t);
/// Whether they have started, and not stopped.
bool are_windows_open(const Thread* t);
/// Called before the counters of a thread are zeroed, and after they were added to its record and zeroed.
void windows_before_fold(Thread* t);
void windows_folded(Thread* t);
/// Cuts the thread's last window: it counts nothing more. The thread is stopped, or is the caller.
void windows_close(Thread* t);
/// Called for each read of a source of differences, with a hash of what was read (translate/sources.hpp).
void windows_read(Thread* t, channel::Source source, u64 pc, u64 value);

}  // namespace tally::engine::instrument
