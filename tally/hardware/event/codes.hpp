// Codes that are known: what they are called by their maker, and which event of the table they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/table.hpp"

namespace tally::event {

/// One code of one or more families.
struct KnownCode {
  std::uint32_t families;  ///< a bit for each Family
  std::uint8_t event;
  std::uint8_t umask;
  std::string_view name;    ///< the maker's: "BR_INST_RETIRED.ALL_BRANCHES"
  std::optional<Id> id;     ///< the event of the table that counts the same; nothing where none does
  std::string_view remark;  ///< what to know about it; may be empty
};

/// Those that have an event of the table, and some more.
std::span<const KnownCode> known_codes();

/// What the code of an encoding is, whatever its conditions: by the table, else by tally/hardware/pmu's list of Intel's
/// codes that documents use. Nothing where it is not known.
std::optional<KnownCode> known_code(const Encoding& encoding);

/// The event of the table that counts exactly what the encoding asks for: nothing where none does.
std::optional<Id> counterpart(const Encoding& encoding);

}  // namespace tally::event
