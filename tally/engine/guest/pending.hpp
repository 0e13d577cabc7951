/// Signals that the program blocks and the kernel cannot: faults and traps, which the engine needs itself (see
/// engine_signals). They are pending here instead of in the kernel, in sets as signal(7) has them: one for each thread
/// and one for the process. All others the kernel keeps.
///
/// A signal for the process is the thread's that wants it. The kernel cannot know which that is, for it sees none of
/// these as blocked: so whoever is hit by one and blocks it passes it on.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Signals that the engine needs to receive whatever the program blocks: faults and the trap flag.
inline constexpr u64 bit(int signal) { return 1ull << (signal - 1); }
inline constexpr u64 engine_signals = bit(4) | bit(5) | bit(7) | bit(8) | bit(11);  // ILL TRAP BUS FPE SEGV

/// Sends a signal again, to the calling thread: that may say of it whatever it likes, as nobody else may.
void send_to_self(int signal, const u8* info);

/// A thread may send itself what looks like a fault (a positive si_code). On its way through the kernel such a siginfo
/// is disguised, so that the engine does not take it for a fault of its own code.
void disguise(u8* info);
/// True when it was one, of a signal that the engine needs.
bool reveal(int signal, u8* info);

/// The signal is pending, for the thread or for its process, as its siginfo says. One of a kind is kept, as the kernel
/// does it. True when it is the process's: where this thread blocks it another one may want it, and route_pending()
/// must be called soon.
bool add_pending(Thread* t, int signal, const u8* info);

/// Signals of the thread and its process that are pending here and which its mask lets through.
u64 deliverable(const Thread* t);
/// What is pending here for the process of this thread.
u64 pending_for_process(const Thread* t);
/// The first of those in `which` that are pending here for the thread, or for its process. 0: none.
int take_own(Thread* t, u64 which, u8* info);
int take_of_process(Thread* t, u64 which, u8* info);
/// The first of those in `which` that are pending for this thread alone, and in the kernel, which blocks them. Slow.
int take_own_from_kernel(u64 which, u8* info);
/// All that is pending for any thread of the process and the process itself is discarded, as where it becomes ignored.
void discard_pending(Thread* t, int signal);

/// Signals of one timer that were pending here.
struct TimerSignals {
  u32 count = 0;
  u8 info[5][128];
};
/// A timer of the program's is to be deleted or set again: since Linux 6.13 its pending signals go with it.
void take_back(Thread* t, u64 timer, TimerSignals& taken);
/// They are pending again; `as_taken`: as taken back (timer_signals.hpp).
void put_back(Thread* t, const TimerSignals& taken, bool as_taken);

/// Passes signals of the process on to threads that want them. Wants no lock held.
void route_pending(Thread* t);
/// Whether a siginfo is what route_pending() sends. Then the signal is in the process's set, unless somebody else has
/// taken it.
bool is_routed(const u8* info);
/// The signal itself, in place of what announced it. False when it is gone.
bool take_routed(Thread* t, int signal, u8* info);

/// Before a system call, the kernel blocking what the program blocks: the kernel has what is pending here for the
/// thread, and what it may ask for of what is pending for its process.
void show_pending(Thread* t);
/// The kernel has all of it from now on.
void give_to_kernel(Thread* t);

/// The program sends a signal with a value to one of its threads (rt_tgsigqueueinfo). Where it comes nothing else says
/// that it was not sent to the process.
void note_queued_to_thread(u64 tid, int signal);
/// It has been taken in a way that ends here.
void forget_queued_to_thread(Thread* t, int signal);
/// The program reads these signals from a descriptor (signalfd): then whoever makes a system call may ask for them.
void note_descriptor(u64 signals);
u64 read_from_descriptors();
/// What read(2) of such a descriptor wrote to `buffer`: signals in place of what announced them. Returns how many bytes
/// are left; 0 where others have taken all of them.
s64 resolve_routed(Thread* t, u64 buffer, s64 bytes);

void pending_after_fork(Thread* t);

}  // namespace tally::engine::guest
