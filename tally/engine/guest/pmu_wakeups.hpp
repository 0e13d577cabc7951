/// Programs that wait for the samples of an event: by poll(2) and similar, and by a signal (O_ASYNC).
///
/// The descriptor of such an event is a datagram socket. A message to it makes it readable; the engine takes the
/// message after the call that reported it.
#pragma once
#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// Creates such a socket; `address` is to be kept with the event. Returns the descriptor, or an error.
s64 make_waited_socket(u64 close_on_exec, u32& address);

enum class Wakeup : u8 {
  data,  ///< the event has new records
  last,  ///< and it has switched itself off
  end    ///< nothing is left that it counts
};
/// The caller holds the lock of the table.
void wake(PmuOpenEvent& e, Wakeup why);
/// The signal that an overflow sends to the descriptor's owner; 0: none.
s32 signal_of(const PmuOpenEvent& e);
/// Sends the calling thread the SIGTRAP of an event that has overflowed.
void send_trap(const Thread* t, const PmuOpenEvent& e);

/// Makes poll(2), ppoll(2), or another call that waits.
s64 wait_for_events(Thread* t, s64 (*make)(Thread*));

/// Serves fcntl(2). Returns not_of_pmu if the kernel is to make the call as it is.
s64 control_waited(Thread* t);

}  // namespace tally::engine::guest
