// The reasons for partial counts, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/counting/backend/order.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::backend::engine {

/// Returns the words for the bits of channel::Partial; empty for none.
std::string reasons_of(std::uint32_t partial);

/// Returns the reasons of a process, with the name of the program that it executed natively, and whether it continued
/// natively after a 32-bit system call.
std::string reasons_of_process(const channel::Process& process);

/// Returns all bits that have words.
std::uint32_t known_reasons();

/// Returns the words of every bit, and those for contradictions in the records.
std::vector<std::string> all_reasons();

/// What programs wanted of the PMU (channel::PmuLack) and did not get; empty if they opened other events instead.
/// `has_model`: modelled events could be opened.
std::string describe_lacks(std::uint32_t lacks, const Conditions& conditions, bool has_model);

}  // namespace tally::backend::engine
