// A count with its trust, and arithmetic that keeps the trust. Pure: no clock, no kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/core/base/api.hpp"
#include "tally/core/base/units.hpp"
#include "tally/core/count/source.hpp"
#include "tally/core/count/trust.hpp"

namespace tally {

/// The value of a counter, and the time that it was enabled and running.
struct Reading {
  std::int64_t raw = 0;         ///< events, as read from the counter
  Nanoseconds time_enabled{0};  ///< time that the event was enabled
  Nanoseconds time_running{0};  ///< time that a counter counted it; less than enabled if multiplexed
  bool operator==(const Reading&) const = default;
};

/// The difference of two readings of one counter. Signed: a correction can make it negative.
TALLY_API Reading operator-(const Reading& later, const Reading& earlier);

/// The sum of two readings of the same event, such as on two CPUs.
TALLY_API Reading operator+(const Reading& a, const Reading& b);

/// Subtracts what page faults and interrupts added to a count. Many processors count the return to the program as the
/// program's own: raw = the program's events + each · (page faults + interrupts).
struct Correction {
  std::int64_t corrected = 0;              ///< the count without them
  std::int64_t each = 0;                   ///< events that each of them adds, measured on this machine
  std::int64_t page_faults = 0;            ///< page faults that the program took in user mode
  std::optional<std::int64_t> interrupts;  ///< in user mode; nothing if not counted: the count still includes them
  bool operator==(const Correction&) const = default;
};

/// A number of events, nanoseconds or bytes, always with its trust.
struct Count {
  std::optional<std::int64_t> value;          ///< nothing exactly if trust is absent
  Trust trust = Trust::absent;                ///< how reliable the value is
  std::string reason;                         ///< why it is absent or partial; empty if there is nothing to report
  CountSource source;                         ///< what counted it
  std::string model;                          ///< name of the model that computed it, for trust modelled
  std::optional<Reading> reading;             ///< the raw counter, if one was read
  std::optional<double> error_percent;        ///< error bound of a scaled or estimated value; or nothing
  std::optional<Correction> correction = {};  ///< if faults and interrupts add to it and were counted
  bool operator==(const Count&) const = default;
};

/// A count that is proved by construction.
TALLY_API Count exact(std::int64_t value, CountSource source);

/// A count from a PMU or the kernel.
TALLY_API Count counted(std::int64_t value, CountSource source);

/// A count in which something is missing or mixed in; `reason` says what.
TALLY_API Count partial(std::int64_t value, CountSource source, std::string reason);

/// No count; `reason` says why.
TALLY_API Count absent(std::string reason);

/// Converts a reading to a count: counted if the counter ran all the time; scaled by enabled/running if it ran part of
/// it (rounded to the nearest integer); absent if it never ran or the scaled value does not fit.
TALLY_API Count from_reading(const Reading& reading, CountSource source);

/// The percentage of the time that the counter ran; nothing without a reading, or if it was never enabled.
TALLY_API std::optional<double> running_percent(const Count& count);

/// The same count with its trust lowered to at most `trust`; keeps both reasons. Absent stays absent.
TALLY_API Count downgraded(Count count, Trust trust, const std::string& reason);

/// The sum, with the worse trust. Absent if one is absent: a part that was not counted is not 0.
TALLY_API Count operator+(const Count& a, const Count& b);

/// The signed difference, with the worse trust. Absent if one is absent.
TALLY_API Count operator-(const Count& later, const Count& earlier);

/// A ratio of two counts, with the worse trust of the two.
struct Ratio {
  std::optional<double> value;  ///< nothing exactly if trust is absent
  Trust trust = Trust::absent;
  std::string reason;
  std::string model;  ///< the models that computed its counts
  bool operator==(const Ratio&) const = default;
};

/// `part` / `whole`; absent if one is absent or `whole` is 0.
TALLY_API Ratio ratio(const Count& part, const Count& whole);

}  // namespace tally
