// Returns the regions that marks in the program's own code separate: the parts that engines recorded in the channel.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tally/counting/backend/engine/regions/marked_events.hpp"
#include "tally/engine/channel/run_parts.hpp"

namespace tally::backend::engine {

/// What threads counted in parts, by process record, in the order of their first counts. Invalid records are left out.
using PartRecords = std::map<std::uint32_t, std::vector<channel::PartCounts>>;
PartRecords read_parts(const Channel& shared);

/// Returns why parts are missing, or an empty text.
std::string why_parts_are_missing(const Channel& shared);

/// Returns the name of a part in results.
std::string name_of(const channel::PartCounts& part);

/// Returns the regions of one process: parts with the same name are entries of one region. `tally`: its totals, whose
/// reliability is that of the regions.
std::vector<RegionResult> regions_of_parts(const Order& order, const Modelling& modelling, const Channel& shared,
                                           const std::vector<channel::PartCounts>& parts, const CollectedTotals& tally);

}  // namespace tally::backend::engine
