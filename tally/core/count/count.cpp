#include "tally/core/count/count.hpp"

#include <cmath>
#include <utility>

namespace tally {
namespace {

std::string both(const std::string& a, const std::string& b, const char* separator) {
  if (a.empty() || a == b) return b;
  if (b.empty()) return a;
  return a + separator + b;
}

// Computes everything of a sum or difference except the value.
Count combined(const Count& a, const Count& b, bool fits, std::int64_t value) {
  Count count;
  count.trust = worst(a.trust, b.trust);
  count.source = combined(a.source, b.source);
  count.model = both(a.model, b.model, ", ");
  if (count.trust == Trust::absent) {
    // Only the absent side's reason explains the missing number.
    count.reason = both(a.value ? "" : a.reason, b.value ? "" : b.reason, "; ");
    return count;
  }
  if (!fits) {
    count.trust = Trust::absent;
    count.reason = "the number does not fit into 64 bits";
    return count;
  }
  count.reason = both(a.reason, b.reason, "; ");
  count.value = value;
  return count;
}

}  // namespace

Reading operator+(const Reading& a, const Reading& b) {
  return {a.raw + b.raw, a.time_enabled + b.time_enabled, a.time_running + b.time_running};
}

Reading operator-(const Reading& later, const Reading& earlier) {
  return {later.raw - earlier.raw, later.time_enabled - earlier.time_enabled,
          later.time_running - earlier.time_running};
}

Count exact(std::int64_t value, CountSource source) {
  Count count;
  count.value = value;
  count.trust = Trust::exact;
  count.source = std::move(source);
  return count;
}

Count counted(std::int64_t value, CountSource source) {
  Count count = exact(value, std::move(source));
  count.trust = Trust::counted;
  return count;
}

Count partial(std::int64_t value, CountSource source, std::string reason) {
  Count count = exact(value, std::move(source));
  count.trust = Trust::partial;
  count.reason = std::move(reason);
  return count;
}

Count absent(std::string reason) {
  Count count;
  count.reason = std::move(reason);
  return count;
}

Count from_reading(const Reading& reading, CountSource source) {
  Count count;
  count.reading = reading;
  count.source = std::move(source);
  if (reading.time_enabled == reading.time_running) {
    // Both times are 0 if the counter was read before it was enabled: nothing happened, and nothing was missed.
    count.value = reading.raw;
    count.trust = Trust::counted;
    return count;
  }
  if (reading.time_running <= Nanoseconds{0}) {
    count.reason = "the counter never ran: all counters were taken";
    return count;
  }
  const long double whole = static_cast<long double>(reading.raw) *
                            static_cast<long double>(reading.time_enabled.count()) /
                            static_cast<long double>(reading.time_running.count());
  if (std::fabs(whole) >= 9.2e18L) {
    count.reason = "the scaled number does not fit into 64 bits";
    return count;
  }
  count.value = static_cast<std::int64_t>(std::llroundl(whole));
  count.trust = Trust::scaled;
  return count;
}

std::optional<double> running_percent(const Count& count) {
  if (!count.reading || count.reading->time_enabled <= Nanoseconds{0}) return std::nullopt;
  return 100.0 * static_cast<double>(count.reading->time_running.count()) /
         static_cast<double>(count.reading->time_enabled.count());
}

Count downgraded(Count count, Trust trust, const std::string& reason) {
  if (count.trust == Trust::absent) return count;
  count.trust = worst(count.trust, trust);
  count.reason = both(count.reason, reason, "; ");
  if (trust == Trust::absent) {
    count.value.reset();
    count.reason = reason;
  }
  return count;
}

Count operator+(const Count& a, const Count& b) {
  std::int64_t value = 0;
  const bool fits = !__builtin_add_overflow(a.value.value_or(0), b.value.value_or(0), &value);
  Count count = combined(a, b, fits, value);
  if (a.reading && b.reading) count.reading = *a.reading + *b.reading;
  return count;
}

Count operator-(const Count& later, const Count& earlier) {
  std::int64_t value = 0;
  const bool fits = !__builtin_sub_overflow(later.value.value_or(0), earlier.value.value_or(0), &value);
  Count count = combined(later, earlier, fits, value);
  if (count.value && later.reading && earlier.reading) count.reading = *later.reading - *earlier.reading;
  return count;
}

Ratio ratio(const Count& part, const Count& whole) {
  Ratio result;
  if (!part.value || !whole.value) {
    result.reason = both(part.value ? "" : part.reason, whole.value ? "" : whole.reason, "; ");
    return result;
  }
  if (*whole.value == 0) {
    result.reason = "division by 0: the whole is 0";
    return result;
  }
  result.value = static_cast<double>(*part.value) / static_cast<double>(*whole.value);
  result.trust = worst(part.trust, whole.trust);
  result.reason = both(part.reason, whole.reason, "; ");
  result.model = both(part.model, whole.model, ", ");
  return result;
}

}  // namespace tally
