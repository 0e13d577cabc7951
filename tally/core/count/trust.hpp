// Trust: the grade of how reliable a count is.
#pragma once

#include <optional>
#include <string_view>

#include "tally/core/base/api.hpp"

namespace tally {

/// The reliability of a count, from best to worst; worst() uses this order.
enum class Trust {
  exact,      ///< proved by construction: an architectural event counted by the engine
  counted,    ///< counted by a PMU or by the kernel, not multiplexed
  scaled,     ///< multiplexed: extrapolated from the time the counter ran
  sampled,    ///< estimated from samples, with a confidence interval
  estimated,  ///< computed from measured quantities, with an interval: time × frequency
  modelled,   ///< computed by a named model
  partial,    ///< something is missing or mixed in; the reason says what
  absent,     ///< no number; the reason says why. Never the same as 0
};

/// The word for a Trust in tables and files.
TALLY_API std::string_view name(Trust trust);

/// Parses name(); nullopt for another word.
TALLY_API std::optional<Trust> trust_of(std::string_view name);

/// The less reliable of two: the trust of a value computed from both.
constexpr Trust worst(Trust a, Trust b) { return a > b ? a : b; }

}  // namespace tally
