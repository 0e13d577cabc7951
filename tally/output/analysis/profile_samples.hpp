// Statistics of sampled profiles: confidence intervals, rates and skid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/count/run_noise.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// The confidence interval of a count's share of all samples of an event; 0 to 1 if nothing was sampled. If every
/// single event is a sample, the interval is the share itself.
ShareInterval share_of_samples(const result::Profile& profile, std::size_t event, std::int64_t count);

/// A count with its total and the effective number of samples.
SampledCount sampled_count(const result::Profile& profile, std::size_t event, std::int64_t count);

/// "40.21 – 43.87 %"; empty if the count is not estimated.
std::string interval_text(const result::Profile& profile, std::size_t event, std::int64_t count);

/// One line per event: sampling rate and skid. Then the share of incomplete call stacks.
std::vector<std::string> sampling_lines(const result::Profile& profile);

/// Replaces estimated counts with numbers of samples, if the profile was sampled: for columns of numbers.
result::Profile in_samples(result::Profile profile);

}  // namespace tally::output
