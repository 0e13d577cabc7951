/// Moves the engine's memory when the program wants the addresses where it is.
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/arenas.hpp"

namespace tally::engine::guest {

inline constexpr u16 sys_mseal = 462;

/// The whole pages of a range of bytes; empty if there are none or if it wraps around.
AddressRange page_range(u64 a, u64 bytes);

/// Returns the addresses that the thread's next system call maps, unmaps, protects, probes or locks, as far as they are
/// known in advance: those in its arguments, and those that the break grows over. Empty if there are none.
AddressRange addresses_wanted(const Thread* t);

/// Whether no arena is at these addresses. If so, none is placed there until done_with_addresses(). Returns false if an
/// arena could not move because a thread could not be stopped. Call it outside, with the mappings lock.
bool are_free(const AddressRange& s);
void done_with_addresses();

/// Moves the engine's memory away from these addresses permanently, by discarding all code. Does not return if that is
/// not possible: the program then continues natively from its system call.
void free_addresses(Thread* t, const AddressRange& s);

/// The same if an arena is there.
void free_arenas(Thread* t, const AddressRange& s);

/// Whether the range is, in part, where the engine has memory that cannot move.
bool meets_own_memory(const AddressRange& s);
/// Whether the first two arguments are an address range that is the engine's and unmapped natively.
bool names_own_memory(const Thread* t);
/// Makes the call for the second page of the address space instead, which is unmapped, too (vm.mmap_min_addr).
s64 run_for_unmapped(Thread* t);

/// Frees the arenas at addresses that mremap moves. Returns 0 if the engine has no memory there, nor at these
/// addresses, that cannot move. Otherwise, if this is the only running thread, the program continues natively from its
/// system call. With several, returns the error of the call, which must not be made.
s64 refuse_own_addresses(Thread* t, const AddressRange& s);

/// Whether the process has as many mappings as the kernel allows, including the engine's.
bool mappings_are_used_up();

/// The range in which mmap(2) searches for a 32-bit address.
inline constexpr AddressRange low_addresses = {0x40000000, 0x80000000};

}  // namespace tally::engine::guest
