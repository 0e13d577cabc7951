/// Pending signals that the program blocks and the kernel must not block: the faults and traps that the engine needs
/// itself (see engine_signals). They are pending in the engine instead of the kernel, in sets as in signal(7): one per
/// thread and one for the process. The kernel keeps all other signals.
///
/// A signal for the process goes to a thread that does not block it. The kernel cannot choose that thread, because it
/// sees none of these signals as blocked. So a thread that receives one and blocks it passes it on.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Signals that the engine must receive even if the program blocks them: faults and the trap flag.
inline constexpr u64 bit(int signal) { return 1ull << (signal - 1); }
inline constexpr u64 engine_signals = bit(4) | bit(5) | bit(7) | bit(8) | bit(11);  // ILL TRAP BUS FPE SEGV

/// Sends a signal again to the calling thread. A thread may use any siginfo for a signal to itself, but not for others.
void send_to_self(int signal, const u8* info);

/// A thread may send itself a siginfo that resembles a fault (a positive si_code). The engine disguises such a siginfo
/// on its way through the kernel, so that it does not mistake it for a fault of its own code.
void disguise(u8* info);
/// The same for any signal of an event, to another thread of the process, which the kernel refuses otherwise.
void disguise_event(int signal, u8* info);
/// Whether that has happened in this process.
bool has_disguised_events();
/// Restores a disguised siginfo. Returns true if it was one, and its signal is one that the engine needs.
bool reveal(int signal, u8* info);

/// Adds the signal to the pending set of the thread or of its process, as its siginfo says. Keeps one signal per
/// number, as the kernel does. Returns true if the signal is for the process: if this thread blocks it, another thread
/// may want it, and route_pending() must be called soon.
bool add_pending(Thread* t, int signal, const u8* info);

/// Returns the signals of the thread and its process that are pending in the engine and not blocked by the thread's
/// mask.
u64 deliverable(const Thread* t);
/// Returns the signals that are pending in the engine for the process of this thread.
u64 pending_for_process(const Thread* t);
/// Take the first signal in `which` that is pending in the engine for the thread, or for its process. Return 0 if there
/// is none.
int take_own(Thread* t, u64 which, u8* info);
int take_of_process(Thread* t, u64 which, u8* info);
/// Takes the first signal in `which` that is pending for this thread alone in the kernel, where it is blocked. Slow.
int take_own_from_kernel(u64 which, u8* info);
/// Discards this signal for all threads of the process and for the process, as when the program starts to ignore it.
void discard_pending(Thread* t, int signal);

/// The signals of one timer that were pending in the engine.
struct TimerSignals {
  u32 count = 0;
  u8 info[5][128];
};
/// Takes the pending signals of a timer that the program deletes or sets again: since Linux 6.13 they are discarded
/// with it.
void take_back(Thread* t, u64 timer, TimerSignals& taken);
/// Makes them pending again. `as_taken`: marked as taken back (timer_signals.hpp).
void put_back(Thread* t, const TimerSignals& taken, bool as_taken);

/// Passes signals of the process on to threads that accept them. Call it without any lock.
void route_pending(Thread* t);
/// Whether a siginfo was sent by route_pending(). The signal itself is then in the process's set, unless another thread
/// has taken it.
bool is_routed(const u8* info);
/// Replaces a routed siginfo with the signal itself. Returns false if another thread has taken it.
bool take_routed(Thread* t, int signal, u8* info);

/// Moves the thread's pending signals to the kernel before a system call, and those of its process that the call may
/// ask for. The kernel blocks what the program blocks at this time.
void show_pending(Thread* t);
/// Moves all pending signals to the kernel permanently.
void move_pending_to_kernel(Thread* t);

/// Notes that the program sends a signal with a value to one of its threads (rt_tgsigqueueinfo). Nothing in the
/// received siginfo shows that it was not sent to the process.
void note_queued_to_thread(u64 tid, int signal);
/// Forgets that note after the signal was taken.
void forget_queued_to_thread(Thread* t, int signal);
/// Notes that the program reads these signals from a descriptor (signalfd): every system call may then ask for them.
void note_descriptor(u64 signals);
u64 read_from_descriptors();
/// Replaces the routing entries and disguised signals that read(2) of such a descriptor wrote to `buffer` with the
/// signals themselves.
/// Returns the number of bytes left; 0 if other threads took all of them.
s64 resolve_routed(Thread* t, u64 buffer, s64 bytes);

void pending_after_fork(Thread* t);

}  // namespace tally::engine::guest
