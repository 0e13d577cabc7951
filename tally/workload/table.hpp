// The programs of the architecture that is built for: x86_64.cpp or aarch64.cpp.
#pragma once

#include <span>

#include "tally/workload/workload.hpp"

namespace tally::workload {

std::span<const Workload> table();

/// The same on every architecture.
Counts countdown(const Parameters& p);

/// How often the random branch of branches.S is taken: its generator, xorshift with shifts of 13, 17 and 5 (Marsaglia,
/// 2003), by itself.
uint64_t random_taken(const Parameters& p);

constexpr uint64_t pages_of(uint64_t bytes) { return (bytes + 4095) / 4096; }

}  // namespace tally::workload
