/// How much of a run is missing where programs went on natively.
#pragma once
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::backend::engine {

/// The words, and from when on that was: by the processor time of each process that was handed back to native code.
std::string with_moments(const std::string& words, const std::vector<Nanoseconds>& from);

/// How much of all processor time was not counted, in words. `natives`: programs ran natively that have no record.
/// Empty where nothing did, and where it is not known, as after SIGKILL.
std::string native_share(const std::vector<const channel::Process*>& processes, bool natives, Nanoseconds all);

}  // namespace tally::backend::engine
