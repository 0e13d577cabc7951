/// Windows: a row of counts each time that a thread has counted so many instructions, or other events
/// (engine/channel/windows.hpp).
///
/// Generated code counts down (translate/countdown.hpp) and leaves a little too early; then the thread goes in steps of
/// one instruction until the window is full, and the row is written where the program stands then.
#pragma once
#include "tally/engine/instrument/access_records.hpp"

namespace tally::engine::instrument {

inline bool windows_on() { return settings().windows.on != 0; }

/// Translation counts down from now on, where there are any. Called once, when the settings are known, after marks.
void windows_init();

/// Another number for each way of counting down and summing; 0 where there are no windows. How long they are does not
/// matter.
u64 windows_key();

/// Where the ring of a thread is mapped.
channel::NoteRing* window_ring(const Thread* t);

/// A thread that has its record: its first window begins. False without memory.
bool windows_attach(Thread* t);
/// The first thread of a program, before it has its record: its windows begin at once, or at an address.
void windows_of_program(Thread* t);
/// One that another begins, as yet without a record: it is as far as that one.
void windows_inherit(Thread* t, const Thread* parent);
/// The thread, which stands there, has come to where windows start or stop: what it does for the first time counts.
void windows_start(Thread* t);
void windows_stop(Thread* t);
/// The counters of a thread are about to be zeroed; and they were, and their sum is in its record.
void windows_before_fold(Thread* t);
void windows_folded(Thread* t);
/// The thread counts nothing more: its last window is cut. It stands still, or calls it itself.
void windows_close(Thread* t);
/// An instruction is about to be executed at its own address, at the thread's pc.
void windows_step(Thread* t);
/// The thread is between two instructions, and about to look for its next trace: full windows end here, and it goes in
/// steps, or does not.
void windows_settle(Thread* t);

}  // namespace tally::engine::instrument
