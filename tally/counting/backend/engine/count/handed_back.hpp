/// Describes how much of a run is missing because programs continued natively.
#pragma once
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::backend::engine {

/// Adds to the words when the native part began: in the processor time of each process that continued natively.
std::string with_moments(const std::string& words, const std::vector<Nanoseconds>& from);

/// Returns in words how much of all processor time was not counted. `natives`: programs without a record ran natively.
/// Empty if nothing ran natively, and if it is unknown, as after SIGKILL.
std::string native_share(const std::vector<const channel::Process*>& processes, bool natives, Nanoseconds all);

}  // namespace tally::backend::engine
