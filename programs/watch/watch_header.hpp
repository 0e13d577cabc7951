// The header of `tally watch`: facts about the machine.
#pragma once

#include "programs/watch/watched_machine.hpp"

namespace tally::watch {

/// Returns the header in PCM's terms, with the reason for each missing fact. Pure.
result::WatchHeader header_of(const WatchedMachine& machine);

}  // namespace tally::watch
