/// Addresses are the program's: where it wants some at which the engine has memory, the engine's goes elsewhere.
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/arenas.hpp"

namespace tally::engine::guest {

/// The addresses at which the system call that the thread is about to make maps, unmaps or protects memory, as far as
/// they are known before: those that it names, and those that the break grows over. Empty: none.
AddressRange addresses_wanted(const Thread* t);

/// No arena lies at these addresses any more, and none will, until done_with_addresses() at least. False where one does
/// not go: a thread could not be stopped. Called outside, with the lock of mappings; false lets go of it meanwhile.
bool are_free(const AddressRange& s);
void done_with_addresses();

/// Moves what lies there out of the way for good, by throwing all code away. May not return: where that is not possible
/// the program goes on natively, from its system call on.
void give_way(Thread* t, const AddressRange& s);

/// Whether the engine has memory there that cannot go. The program goes on natively, from its system call on, where
/// that is all that runs; else true: the call is refused.
bool collides_with_own(Thread* t, const AddressRange& s);

/// Where mmap(2) looks for an address of 32 bits.
inline constexpr AddressRange low_addresses = {0x40000000, 0x80000000};

}  // namespace tally::engine::guest
