// What of a result can be compared: its counts, times and metrics, for the whole program or for parts of it.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/comparison_result.hpp"
#include "tally/output/result/any.hpp"

namespace tally::output {

/// The quantities of a result of tally. Errors: bad_usage for a kind of result that cannot be compared.
Result<Comparable> comparable_of(result::AnyResult result);

/// Of the rows of an instruction mix: a row that one of two mixes lacks is 0 in it.
inline constexpr const char* mix_subjects[] = {"[mix]", "[mix by category]", "[mix by largest register]",
                                               "[mix of loads]", "[mix of stores]"};

/// The settings of a result of `tally stat`.
std::vector<Setting> settings_of(const result::Stat& stat);

/// A setting that has different values in two results.
struct ChangedSetting {
  std::string name, text;  ///< "--cpu-model", "--cpu-model (the real processor → haswell)"
  bool is_of_models = false;
};

/// The settings that differ, without those that one of the results does not know.
std::vector<ChangedSetting> changed_settings(const std::vector<Setting>& before, const std::vector<Setting>& after);

/// Whether a full name, "instructions:u", is that of an event with or without its mode.
bool is_event(const std::string& name, const std::string& event);

/// Sets the threads of a profile, and whether it is only one.
void set_threads(Comparable& comparable, std::vector<result::ProfileThread> threads);

/// Checks that whole numbers, and so their differences, are in the range of std::int64_t. Errors: bad_usage.
Result<void> check_values(const Comparable& comparable);

}  // namespace tally::output
