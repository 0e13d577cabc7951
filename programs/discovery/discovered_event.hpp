// How events that `tally discover` identified are called.
#pragma once

#include <cstdint>
#include <string>

#include "tally/output/result/discovery_result.hpp"

namespace tally::output {

/// perf's raw code: "r1c2" for event C2H, unit mask 01H.
std::string raw_code(std::uint64_t code);

/// What an event counts: "loads", "2 × stores + branches"; its class if it has no name.
std::string what_it_counts(const result::DiscoveredEvent& event);

}  // namespace tally::output
