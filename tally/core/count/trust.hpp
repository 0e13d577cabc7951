// How far a count can be believed: part of every count's type.
#pragma once

#include <optional>
#include <string_view>

#include "tally/core/base/api.hpp"

namespace tally {

/// How far a count can be believed, from best to worst; the order is what worst() goes by.
enum class Trust {
  exact,     ///< proved by construction: an architectural event counted by the engine
  counted,   ///< counted by a PMU or by the kernel, never multiplexed
  scaled,    ///< multiplexed: extrapolated from the time the counter ran
  sampled,   ///< estimated from samples: an interval says how far a share may be off
  modelled,  ///< computed by a named model
  partial,   ///< something is missing or mixed in; the reason says what
  absent,    ///< there is no number; the reason says why. Never the same as 0
};

/// The word for a Trust, as it stands in tables and files.
TALLY_API std::string_view name(Trust trust);

/// The Trust whose name() this is; nothing for another word.
TALLY_API std::optional<Trust> trust_of(std::string_view name);

/// The less believable of two: what a value computed from both deserves.
constexpr Trust worst(Trust a, Trust b) { return a > b ? a : b; }

}  // namespace tally
