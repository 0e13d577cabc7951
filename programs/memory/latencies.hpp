// Latencies for the model of this host, from the levels that were measured.
#pragma once

#include "tally/engine/machines/measured_memory.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Returns the latencies of the levels in cycles, without contended levels. The size of the last level is the measured
/// one, or the size from which on all loads take about as long as those from memory. Without a date.
machines::MeasuredMemory latencies_of(const result::Memory& result);

/// "LLC, memory": the levels that were contended.
std::string contended_levels(const result::Memory& result);

}  // namespace tally::memory
