/// The signal frame of the kernel, and what both parts of signal handling share.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/guest/guest_signals.hpp"

namespace tally::engine::guest {

/// The frame that the kernel pushes for a handler.
struct Frame {
  u64 restorer;
  Context context;
  u8 info[128];
};
static_assert(sizeof(Frame) == 440);

enum : u64 {
  on_stack = 0x08000000,
  restart = 0x10000000,
  no_defer = 0x40000000,
  reset_hand = 0x80000000,
  sig_info = 4,
  has_restorer = 0x04000000,
  no_child_stop = 1,
  no_child_wait = 2,
  expose_tag_bits = 0x800,
  // The flags of an action that the kernel keeps, so that programs can find out which flags it supports.
  known_action_flags = on_stack | restart | no_defer | reset_hand | sig_info | has_restorer | no_child_stop |
                       no_child_wait | expose_tag_bits
};
constexpr u64 autodisarm = 1u << 31, alt_disabled = 2, alt_on = 1;

// Signals whose default action ends the process. The engine handles them, so that the counts at the end are exact.
inline constexpr u64 fatal_signals = bit(1) | bit(2) | bit(3) | bit(6) | bit(10) | bit(12) | bit(13) | bit(14) |
                                     bit(15) | bit(16) | bit(24) | bit(25) | bit(26) | bit(27) | bit(29) | bit(30) |
                                     bit(31) | ~(bit(32) - 1);  // and all real-time signals

inline s64 kernel_action(int signal, const Action* set, Action* old) {
  return kernel(SYS_rt_sigaction, static_cast<u64>(signal), reinterpret_cast<u64>(set), reinterpret_cast<u64>(old), 8);
}

/// Sets the kernel's action for a signal as the program's action requires: the program's own, or the engine's handler.
/// Writes the kernel's previous one to `old` unless that is null.
void apply_action(const Action& a, int signal, Action* old = nullptr);

/// Sets the kernel's actions to those of the program, for all signals.
void restore_actions(Thread* t);

/// The engine's handler for every signal that it owns.
extern "C" void signal_entry(int, u8*, Context*);

}  // namespace tally::engine::guest
