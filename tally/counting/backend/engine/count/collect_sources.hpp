// Reads from the channel what the programs of a run read that may make runs differ.
#pragma once

#include <string>
#include <vector>

#include "tally/counting/backend/engine/run.hpp"
#include "tally/output/result/read_source.hpp"

namespace tally::backend::engine {

/// Returns the name of a channel::Source in results.
std::string source_name(std::size_t source);

/// Returns the sources that were read, each with its count over all processes and the code that read it first. Reads
/// the names of that code from its files.
std::vector<result::ReadSource> read_sources(const Channel& shared, const Conditions& conditions);

}  // namespace tally::backend::engine
