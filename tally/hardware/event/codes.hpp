// Known event codes: their vendor names and their generic events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/generic_events.hpp"

namespace tally::event {

/// A code of one or more families.
struct KnownCode {
  std::uint32_t families;  ///< a bit for each Family
  std::uint8_t event;
  std::uint8_t umask;
  std::string_view name;    ///< the vendor's: "BR_INST_RETIRED.ALL_BRANCHES"
  std::optional<Id> id;     ///< the generic event that counts the same; nothing if there is none
  std::string_view remark;  ///< a note for the user; may be empty
};

/// The known codes: those with a generic event, and some more.
std::span<const KnownCode> known_codes();

/// Finds the code of an encoding, ignoring its conditions, in known_codes(), then in the list of documented Intel codes
/// in tally/hardware/pmu.
std::optional<KnownCode> known_code(const Encoding& encoding);

/// The generic event that counts exactly the same as the encoding, if any.
std::optional<Id> counterpart(const Encoding& encoding);

}  // namespace tally::event
