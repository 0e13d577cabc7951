// Why counts are partial, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/engine/channel/channel.hpp"

namespace tally::backend::engine {

/// Words for the bits of channel::Partial; empty for none.
std::string reasons_of(std::uint32_t partial);

/// Those of a process, the program named that it executed natively.
std::string reasons_of_process(const channel::Process& process);

/// All bits that there are words for.
std::uint32_t known_reasons();

/// The words of every bit, and of what the records themselves show.
std::vector<std::string> all_reasons();

}  // namespace tally::backend::engine
