// A count and its trust, and the arithmetic that carries the trust along. Pure: no clock, no kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/core/base/api.hpp"
#include "tally/core/base/units.hpp"
#include "tally/core/count/source.hpp"
#include "tally/core/count/trust.hpp"

namespace tally {

/// What a counter held when it was read, and for how long it had been asked for and had really run by then.
struct Reading {
  std::int64_t raw = 0;         ///< events, as the counter says
  Nanoseconds time_enabled{0};  ///< how long the event was asked for
  Nanoseconds time_running{0};  ///< how long a counter really counted it; less than enabled where it was multiplexed
  bool operator==(const Reading&) const = default;
};

/// What came between two readings of one counter. Signed: a correction can make it negative.
TALLY_API Reading operator-(const Reading& later, const Reading& earlier);

/// What two counters held, of the same event at two places.
TALLY_API Reading operator+(const Reading& a, const Reading& b);

/// What page faults and interrupts added to a count, taken off again. The returns from them to the program are counted
/// as its own by many processors: raw = what the program did + each · (page faults + interrupts).
struct Correction {
  std::int64_t corrected = 0;              ///< the count without them
  std::int64_t each = 0;                   ///< what one of them adds, as measured on this machine
  std::int64_t page_faults = 0;            ///< that the program took in user mode
  std::optional<std::int64_t> interrupts;  ///< in user mode; nothing where nobody counted them: they are still in it
  bool operator==(const Correction&) const = default;
};

/// A number of events (or nanoseconds, or bytes), never without its trust.
struct Count {
  std::optional<std::int64_t> value;          ///< nothing exactly when trust is absent
  Trust trust = Trust::absent;                ///< how far the value can be believed
  std::string reason;                         ///< why it is absent or partial; empty where there is nothing to say
  CountSource source;                         ///< who counted
  std::string model;                          ///< name of the model that computed it, for trust modelled
  std::optional<Reading> reading;             ///< the counter itself, where one was read
  std::optional<double> error_percent;        ///< bound of a scaled value's error; nothing where none is claimed
  std::optional<Correction> correction = {};  ///< where faults and interrupts add to it, and were counted
  bool operator==(const Count&) const = default;
};

/// A count that was proved by construction.
TALLY_API Count exact(std::int64_t value, CountSource source);

/// A count that a PMU or the kernel made.
TALLY_API Count counted(std::int64_t value, CountSource source);

/// A count in which something is missing or mixed in: `reason` says what.
TALLY_API Count partial(std::int64_t value, CountSource source, std::string reason);

/// No count, and why.
TALLY_API Count absent(std::string reason);

/// The count that a reading stands for: counted where it ran all the time, scaled by enabled/running where it did not
/// (rounded to the nearest integer), absent where it never ran or the scaled value does not fit.
TALLY_API Count from_reading(const Reading& reading, CountSource source);

/// How much of the time the counter ran, in percent: nothing where no reading was made or it was never enabled.
TALLY_API std::optional<double> running_percent(const Count& count);

/// The same count, believed no further than `trust`; the reasons of both are kept. Absent stays absent.
TALLY_API Count downgraded(Count count, Trust trust, const std::string& reason);

/// Both together. Absent where one is absent (a part that was not counted is not 0); the trust is the worse one's.
TALLY_API Count operator+(const Count& a, const Count& b);

/// What came between two counts, signed. Absent where one is absent; the trust is the worse one's.
TALLY_API Count operator-(const Count& later, const Count& earlier);

/// One count for each of another: as trustworthy as its worse part.
struct Ratio {
  std::optional<double> value;  ///< nothing exactly when trust is absent
  Trust trust = Trust::absent;
  std::string reason;
  std::string model;  ///< names of the models that computed its parts
  bool operator==(const Ratio&) const = default;
};

/// `part` for each of `whole`; absent where one is absent or `whole` is 0.
TALLY_API Ratio ratio(const Count& part, const Count& whole);

}  // namespace tally
