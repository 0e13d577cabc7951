// --native of a profile: divides the estimated cycles among functions by samples of another native run.
#pragma once

#include "tally/core/base/result.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::why {

/// Runs the command natively and samples its processor time (cpu-clock). Errors: this machine cannot sample it, or the
/// run failed.
Result<result::Profile> sampled_run(const measure::StatOptions& options, linux::Signals& signals);

/// Runs the command under the engine, and counts the instructions of functions and their calls. Errors: the same.
Result<result::Profile> run_with_calls(const measure::StatOptions& options, linux::Signals& signals);

/// Divides the event core-cycles-estimate, which the functions of `profile` have by the shares of a model. Functions
/// get the weighted mean of their share of the samples and of that of the model: the more samples, the less weighs the
/// model. The kernel gets a row. Lines and instructions of a function share its cycles as the model divides them.
/// `kernel_share`: by clock ticks, for samples without the kernel's. The reason of the count says so, with the
/// intervals of the largest functions. Pure.
void divide_by_samples(result::Profile& profile, const result::Profile& sampled, double kernel_share);

/// Both of them. Without samples, functions keep the model's shares, and the reason of the count says so.
void divide_estimate(result::Profile& profile, double kernel_share, const measure::StatOptions& options,
                     linux::Signals& signals);

}  // namespace tally::why
