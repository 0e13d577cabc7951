/// With Settings::mix: counters of what is known only at run time, one for each field from first_mix_field on. One
/// execution of such a segment number adds 1 to the field.
///
/// Freestanding: included with channel.hpp.
#pragma once
#include "tally/engine/channel/channel.hpp"

namespace tally::channel {

/// No other number is between those of Dynamic and these: their counters would cause stalls (engine/records.hpp,
/// placed).
inline constexpr uint32_t first_run_time_field = 40;
static_assert(first_segment <= first_run_time_field);
inline constexpr uint32_t end_of_run_time_fields = first_run_time_field + field_count - first_mix_field;

constexpr uint32_t run_time_counter(uint32_t field) { return first_run_time_field + field - first_mix_field; }

/// Returns the first number of a segment of code.
inline uint32_t first_segment_of_code(const Settings& settings) {
  return settings.mix != 0 ? end_of_run_time_fields : uint32_t{first_segment};
}

}  // namespace tally::channel
