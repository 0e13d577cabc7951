// What a profile that was sampled says of itself: how far its shares may be off, and how it was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/count/run_noise.hpp"
#include "tally/output/result/profile.hpp"

namespace tally::report {

/// The interval of the share that a count has of all samples of an event; 0 to 1 where nothing was sampled. Of an event
/// of which every single one is a sample the share is what it is.
ShareInterval share_of_samples(const result::Profile& profile, std::size_t event, std::int64_t count);

/// A count with the whole that was sampled, and by how many samples.
SampledCount sampled_count(const result::Profile& profile, std::size_t event, std::int64_t count);

/// "40.21 – 43.87 %"; empty for what was not sampled, or is no estimate.
std::string interval_text(const result::Profile& profile, std::size_t event, std::int64_t count);

/// That it is sampled, how often, and how near the instruction is: a line for each event. Then where stacks of calls
/// are cut.
std::vector<std::string> sampling_lines(const result::Profile& profile);

/// The same with samples in place of what they stand for, where it was sampled: for columns of numbers.
result::Profile in_samples(result::Profile profile);

}  // namespace tally::report
